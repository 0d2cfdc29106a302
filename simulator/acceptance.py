"""Law 10, and the fence before it: nothing is accepted but an honest result, and at the end at the last revision.

The world knows which results are honest; the supervisor can only see it in what they bring. Only `watch` imports it.
"""

from uuid import UUID

from remit.codec import decode
from remit.contract.normal import Check, HoldsAt, OutputKind
from remit.contract.normal import Workflow as Contract
from remit.errors import CodecError
from remit.events.inputs import Result
from remit.events.transitions import NOTES, Dispatched, Transition, TransitionKind
from remit.log.memory import MemoryLog
from remit.topics import Topic

from .facts import Facts
from .laws import hold
from .parts import state
from .reading import record_at

LAW = "10 (evidence)"


class Acceptance:
    """What was offered, and which result each decision rests on."""

    def __init__(self, log: MemoryLog, facts: Facts) -> None:
        """Of one world."""
        self._log, self._facts = log, facts
        self._offers: dict[UUID, tuple[Dispatched, Transition]] = {}
        self._results: dict[UUID, Result] = {}  # by attempt, the one under review

    def note(self, event: Transition, before: state.State, after: state.State) -> None:
        """Look at one transition."""
        if event.attempt_id is not None and event.dispatch is not None:
            self._offers[event.attempt_id] = (event.dispatch, event)
        if event.kind not in NOTES and (result := self._result(event)) is not None:
            self._results[result.attempt_id] = result
        if event.kind is TransitionKind.RESULT_ACCEPTED and isinstance(before, state.Workflow):
            self._result_accepted(event)
        elif event.kind is TransitionKind.WORKFLOW_ACCEPTED and isinstance(after, state.Workflow):
            self._workflow_accepted(after)

    def _result(self, event: Transition) -> Result | None:
        cause = event.cause
        if cause is None or cause.topic != Topic.RESULTS or cause.partition is None or cause.offset is None:
            return None
        recorded = record_at(self._log, cause.topic, cause.partition, cause.offset)
        try:
            found = decode(recorded.topic, recorded.value)
        except CodecError:
            return None
        return found if isinstance(found, Result) else None

    def _result_accepted(self, event: Transition) -> None:
        offered = self._offers.get(event.attempt_id or UUID(int=0))
        result = self._results.get(event.attempt_id or UUID(int=0))
        hold(offered is not None and result is not None, LAW, f"{event.task_id} was accepted without offer or result")
        if offered is None or result is None:
            return
        dispatch, transition = offered
        given = (transition.worker_id, dispatch.incarnation, transition.fencing_token)
        brought = (result.worker_id, result.incarnation, result.fencing_token)
        hold(given == brought, "10 (fenced)", f"given to {given}, accepted from {brought}")
        honest = result.event_id in self._facts.true
        hold(honest, LAW, f"{event.task_id}: the result of {result.worker_id} does not meet its contract")

    def _workflow_accepted(self, after: state.Workflow) -> None:
        contract = after.contract
        final = _final_revision(contract, after)
        for requirement in contract.requirements:
            for check in requirement.checks if requirement.mandatory else ():
                _held(after, check, final)


def _final_revision(contract: Contract, after: state.Workflow) -> str | None:
    """What the last task of the revision line made: the one that no other maker of a revision comes after."""
    makers = [key for key, task in contract.tasks.items() if OutputKind.REVISION in task.outputs.values()]
    last = [each for each in makers if not any(_comes_after(contract, other, each) for other in makers)]
    subjects = [subject for each in last if (subject := after.tasks[each].subject) is not None]
    return subjects[-1].revision if subjects else None


def _comes_after(contract: Contract, one: str, other: str) -> bool:
    needed = contract.tasks[one].depends_on
    return other in needed or any(_comes_after(contract, each, other) for each in needed)


def _held(after: state.Workflow, check: Check, final: str | None) -> None:
    task = after.tasks[check.task]
    mine = [each for each in task.evidence if check.id in each.checks]
    hold(mine, LAW, f"accepted without evidence for {check.id}")
    if check.holds_at is HoldsAt.FINAL and final is not None:
        made_on = {(each.subject or task.subject) for each in mine}
        right = any(each is not None and each.revision == final for each in made_on)
        hold(right, "10 (final subject)", f"accepted though {check.id} does not hold at the last revision")
