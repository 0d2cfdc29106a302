"""Tasks that a worker proposes with an accepted result: each taken up by its plan, or refused with a reason. Pure."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from remit import ids
from remit.contract.normal import Input
from remit.contract.normal import Workflow as Contract
from remit.contract.spawn import Refusal, ordinary, ungranted, with_child
from remit.errors import ContractInvalidError
from remit.events.transitions import RefusedSubtask
from remit.result.subtasks import Subtask, read_subtasks

from .. import dataflow
from ..checks.evidence import Case
from ..evolve.parts import with_tasks
from ..state import Completed, Workflow
from .unit import Unit
from .versions import next_version, take_effect

BY_PLAN = "rule:spawn_plan"
FEW = 5  # faults that a refusal tells


class Spawned(NamedTuple):
    """What a result's proposals come to: the version with those taken up (None: none was), and both lists of ids."""

    contract: Contract | None
    digest: str  # of the proposals
    taken: tuple[str, ...]
    refused: tuple[RefusedSubtask, ...]


NOTHING = Spawned(None, "", (), ())


def judge_subtasks(unit: Unit, case: Case, drafted: list[tuple[Contract, str]]) -> Spawned:
    """Judge the proposals of a result that is about to be accepted, on top of the versions that it drafts."""
    if case.body.subtasks is None:
        return NOTHING
    proposals = read_subtasks(case.body.subtasks)
    workflow = _as_accepted(unit.workflow, case, drafted[-1][0] if drafted else unit.workflow.contract)
    among = len(ordinary(workflow.contract)) + len(proposals)
    taken: list[str] = []
    refused: list[RefusedSubtask] = []
    for proposal in _in_order(proposals):
        found = _judged(unit, workflow, case.task.task_id, proposal, beside=taken, among=among)
        if isinstance(found, Refusal):
            refused.append(RefusedSubtask(task_id=proposal.id, reason=found.reason, detail=found.detail))
        else:
            taken.append(proposal.id)
            workflow = replace(workflow, contract=found)
    digest = ids.sha256(case.body.subtasks.encode())
    return Spawned(workflow.contract if taken else None, digest, tuple(taken), tuple(refused))


def _as_accepted(workflow: Workflow, case: Case, contract: Contract) -> Workflow:
    """The workflow as it will be: what is proposed may take what the proposing task has made."""
    task = replace(case.task, phase=Completed(), outputs=case.outputs)
    return replace(with_tasks(workflow, task), contract=contract)


def _in_order(proposals: Iterable[Subtask]) -> list[Subtask]:
    """Each after those of them that it depends on, else as proposed; what goes in a circle comes last."""
    waiting, ordered = list(proposals), list[Subtask]()
    while waiting:
        open_ = {each.id for each in waiting}
        ready = [each for each in waiting if not open_ & set(each.depends_on)] or waiting
        ordered += ready
        waiting = [each for each in waiting if each not in ready]
    return ordered


def _judged(
    unit: Unit, workflow: Workflow, parent_id: str, proposal: Subtask, *, beside: list[str], among: int
) -> Contract | Refusal:
    policy = unit.facts.policy
    refused = ungranted(workflow.contract, parent_id, proposal, policy, among=among)
    refused = refused or _known(unit, workflow, proposal) or _loose(workflow, proposal, beside)
    if refused is not None:
        return refused
    try:
        return with_child(workflow.contract, parent_id, proposal, policy, now=unit.facts.now, among=among)
    except ContractInvalidError as error:
        return Refusal("invalid", "; ".join(error.faults[:FEW]))


def _known(unit: Unit, workflow: Workflow, proposal: Subtask) -> Refusal | None:
    """A task that is there already under whatever id, or another one under this id."""
    contract, task_type = workflow.contract, unit.facts.policy.task_types.get(proposal.task_type)
    objective = proposal.objective or (task_type and task_type.objective) or contract.objective
    inputs = {name: _input(contract, text) for name, text in proposal.inputs.items()}
    asked = _identity(workflow, proposal.task_type, objective, inputs)
    for task_id, task in contract.tasks.items():
        if _identity(workflow, task.task_type, task.objective, task.inputs) == asked:
            return Refusal("duplicate_task", task_id)
    return Refusal("id_taken", proposal.id) if proposal.id in contract.tasks else None


def _input(contract: Contract, text: str) -> Input:
    if text.startswith("input://") and (known := contract.inputs.get(text.removeprefix("input://"))) is not None:
        return known
    return Input(reference=text, kind="task" if text.startswith("task://") else "")


def _identity(workflow: Workflow, task_type: str, objective: str, inputs: dict[str, Input]) -> str:
    """Digest over type, resolved inputs and objective: white space, order of keys and ids make no other task."""
    used = {name: _resolved(workflow, name, each) for name, each in inputs.items()}
    return ids.digest({"task_type": task_type, "objective": " ".join(objective.split()), "inputs": used})


def _resolved(workflow: Workflow, name: str, each: Input) -> str:
    """What the input is as things stand: the same bytes under two names are one."""
    producer, output = dataflow.split_task_reference(each.reference)
    made = workflow.tasks[producer].outputs if each.kind == "task" and producer in workflow.tasks else ()
    if not any(one.name == output for one in made):
        return each.reference
    version = dataflow.version_of(workflow, name, each)
    if version.value is None:
        return version.reference
    return ids.sha256(json.dumps(json.loads(version.value), sort_keys=True).encode())  # its numbers may be any


def _loose(workflow: Workflow, proposal: Subtask, beside: list[str]) -> Refusal | None:
    """A dependency on what is neither accepted nor taken up along with it."""
    for number, needed in enumerate(proposal.depends_on):
        task = workflow.tasks.get(needed)
        if needed not in beside and not (task is not None and isinstance(task.phase, Completed)):
            where = f"depends_on[{number}]"
            return Refusal("invalid", f"{where} is neither an accepted task nor one that is proposed along with it")
    return None


def spawn(unit: Unit, spawned: Spawned, task_id: str, worker_id: str) -> None:
    """Let the version with the proposed tasks hold, where any was taken up."""
    if spawned.contract is None:
        return
    record = next_version(
        unit.workflow,
        spawned.contract,
        content_digest=spawned.digest,
        proposed_by=worker_id,
        approved_by=BY_PLAN,
    )
    take_effect(unit, spawned.contract, record, task_id=task_id)
