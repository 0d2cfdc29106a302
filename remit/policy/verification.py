"""Verification as a policy asks for it: which tasks it takes, and what the type of the verifying tasks must be.

Pure; the policy's rules and the contract gate import it.
"""

from collections.abc import Iterator

from remit.faults import Fault, Path, unknown_key
from remit.policy.model import Policy, Pool, TaskType
from remit.policy.permissions import covers

TASK_TYPE = "verify"
"""The type of every verifying task, and of no other."""
SUFFIX = ".verify"
"""Ends the ids of verifying tasks and of their checks, and no id that anybody chooses."""


def wants_verification(policy: Policy, task_type: str, risk_class: str, *, has_code: bool) -> bool:
    """Whether tasks of that type and risk class are to be verified, all or some; a verification never is.

    Without `types` only tasks about code are: what others leave in their workspace no checkout brings back.
    """
    plan = policy.verification
    return (
        plan.mode != "never"
        and task_type != TASK_TYPE
        and (has_code if plan.types is None else task_type in plan.types)
        and (plan.risk_classes is None or risk_class in plan.risk_classes)
    )


def verification_faults(policy: Policy) -> Iterator[Fault]:
    """What keeps verification from working as the policy says; and reserved ids that stand in its checks."""
    yield from _reserved(policy)
    plan, path = policy.verification, ("verification",)
    if plan.mode == "sample" and plan.percent is None:
        yield Fault((*path, "percent"), "is required with mode sample")
    if plan.mode != "sample" and plan.percent is not None:
        yield Fault((*path, "percent"), "stands only with mode sample")
    for number, name in enumerate(plan.types or ()):
        if name not in policy.task_types or name == TASK_TYPE:
            others = [each for each in policy.task_types if each != TASK_TYPE]
            yield unknown_key((*path, "types", number), others, "a task type of this policy that does work", name)
    if plan.mode != "never":
        yield from _type(policy)


def _reserved(policy: Policy) -> Iterator[Fault]:
    for text, checks in policy.checks.items():
        for number, check in enumerate(checks):
            if check.id.endswith(SUFFIX):
                yield Fault(("checks", text, number, "id"), f"must not end with {SUFFIX}: verifications have such ids")


def _type(policy: Policy) -> Iterator[Fault]:
    task_type, path = policy.task_types.get(TASK_TYPE), ("task_types", TASK_TYPE)
    if task_type is None:
        yield Fault(path, f"is required with verification.mode {policy.verification.mode}")
        return
    yield from _does_nothing_else(task_type, path)
    pool = policy.pools.get(task_type.pool)
    if pool is not None:
        yield from _pool(task_type.pool, pool)
    most = policy.limits.max.max_attempts
    if most is not None and most < 2:  # noqa: PLR2004  (one verifier, and one more where they disagree)
        yield Fault(("limits", "max", "max_attempts"), "must be at least 2: a disagreement needs a second verifier")


def _does_nothing_else(task_type: TaskType, path: Path) -> Iterator[Fault]:
    """A verifier yields evidence and nothing else."""
    for field in ("outputs", "output_schema", "definition_of_done", "permissions", "spawn"):
        if getattr(task_type, field):
            yield Fault((*path, field), "must be left out: a verification only runs commands again")


def _pool(name: str, pool: Pool) -> Iterator[Fault]:
    if not covers(pool.permissions.get("repository", []), "execute"):
        place = ("pools", name, "permissions", "repository")
        yield Fault(place, "must grant execute: the verifiers of this pool run commands")
