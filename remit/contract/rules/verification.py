"""Verification: ids that it reserves, and tasks that the verifiers of the policy could not take."""

from collections.abc import Iterator

from remit.contract.filled import Filled, Task
from remit.contract.requirements import WantedCheck, checks_of, on_revision_line, wanted
from remit.faults import Fault
from remit.policy.checks import RUNNER_KINDS
from remit.policy.model import Pool
from remit.policy.verification import SUFFIX, TASK_TYPE, wants_verification

_RISK = ("low", "medium", "high")
_LONGEST = 128 - len(SUFFIX)


def faults(filled: Filled) -> Iterator[Fault]:
    """Reserved names, and per task that may be verified what keeps it from being."""
    for task in filled.tasks.values():
        path = ("tasks", task.id)
        if task.id.endswith(SUFFIX):
            yield Fault(path, f"must not end with {SUFFIX}: verifications have such ids")
        if task.own.task_type == TASK_TYPE:
            yield Fault((*path, "task_type"), "is of the tasks that verification adds, and of no other")
    for text, checks in filled.file.checks.items():
        for number, check in enumerate(checks):
            if check.id.endswith(SUFFIX):
                place = ("checks", text, number, "id")
                yield Fault(place, f"must not end with {SUFFIX}: verifications have such ids")
    yield from _verified(filled)


def _verified(filled: Filled) -> Iterator[Fault]:
    task_type = filled.policy.task_types.get(TASK_TYPE)
    if filled.policy.verification.mode == "never" or task_type is None:
        return
    asked = filled.file.data_classification
    order = filled.policy.data_classifications
    pool = filled.policy.pools[task_type.pool]
    most = pool.data_classification
    checks = list(_commanded(filled))
    chosen = [task for task in filled.tasks.values() if task.id in {check.task for check in checks}]
    if chosen and most is not None and asked in order and order.index(asked) > order.index(most):
        yield Fault(("data_classification",), f"is more than pool {task_type.pool} may see, which verifies")
    for task in chosen:
        yield from _task(task, task_type.pool, pool)
    for check in checks:
        if len(check.model.id) > _LONGEST:
            yield Fault(check.path, f": its id must have at most {_LONGEST} characters, since it is to be verified")


def _commanded(filled: Filled) -> Iterator[WantedCheck]:
    """The checks that are to be run again, sampled or not: a file is as valid under one id as under another."""
    for requirement in wanted(filled):
        for check in checks_of(filled, requirement):
            task = filled.tasks.get(check.task or "")
            if task is None or check.model.kind not in RUNNER_KINDS:
                continue
            has_code = bool(filled.repositories(task.id)) or on_revision_line(filled, task.id)
            if wants_verification(filled.policy, task.own.task_type, task.risk_class, has_code=has_code):
                yield check


def _task(task: Task, name: str, pool: Pool) -> Iterator[Fault]:
    path = ("tasks", task.id)
    if len(task.id) > _LONGEST:
        yield Fault(path, f"must have at most {_LONGEST} characters, since it is to be verified")
    if _RISK.index(task.risk_class) > _RISK.index(pool.risk_class):
        yield Fault((*path, "risk_class"), f"must be at most {pool.risk_class} (pool {name}, which verifies it)")
