"""Decides again what was decided, from the log alone: laws 1, 3 and 8. Pure but for reading the log.

The same input on the same state gives the very same transitions, whatever else lay between in the log (3, 8); the
same message once more changes nothing and leaves at most one note (1).
"""

from collections.abc import Iterator, Mapping, Sequence

from remit.codec import decode
from remit.errors import UnknownSchemaError
from remit.events.base import Cause
from remit.events.service import DispatchKind
from remit.events.transitions import NOTES, Transition, Writer
from remit.ids import attempt_id, timer_id, transition_id
from remit.log.memory import MemoryLog
from remit.policy.model import Policy

from .laws import hold
from .parts import decide, fold, inputs, outbox, state
from .reading import record_at

DETERMINISTIC = "3 (deterministic)"
IDEMPOTENT = "1 (idempotent)"


def check(log: MemoryLog, policies: Mapping[str, Policy], before: state.State, group: Sequence[Transition]) -> None:
    """Hold the transitions of one decision, made on `before`, to the laws."""
    _ids(before, group)
    item = _item(log, before, group[0])
    policy = policies.get(group[0].policy_sha256 or "")
    if item is None or policy is None:
        return
    facts = _facts(policy, group)
    found = decide.decide(before, item, facts)
    told = [each.kind.value for each in found]
    hold(found == tuple(group), DETERMINISTIC, f"{[each.kind.value for each in group]} is now decided as {told}")
    if isinstance(item, inputs.Received):
        _again(before, group, item, facts)


def _ids(before: state.State, group: Sequence[Transition]) -> None:
    for each in group:
        right = each.cause is not None and each.event_id == transition_id(each.cause.event_id, each.sequence)
        hold(right, DETERMINISTIC, f"the id of {each.kind} does not derive from its cause")
        if each.dispatch is not None:
            key = (before.tenant_id, before.workflow_id, each.task_id or "", each.sequence)
            right = (each.attempt_id, each.fencing_token) == (attempt_id(*key), each.sequence)
            hold(right, DETERMINISTIC, "token and attempt of an offer do not derive from its sequence")


def _item(log: MemoryLog, before: state.State, first: Transition) -> inputs.Received | inputs.Timer | None:
    """The input that was decided on; None for an assignment, which the scheduler made of more than one workflow."""
    cause = first.cause
    if cause is None:
        return None
    if cause.topic is not None and cause.partition is not None and cause.offset is not None:
        recorded = record_at(log, cause.topic, cause.partition, cause.offset)
        try:
            event = decode(recorded.topic, recorded.value)
        except UnknownSchemaError:  # a newer build's: its workflow is quarantined unread
            return None
        place = (recorded.topic, recorded.partition, recorded.offset, recorded.appended_at)
        return inputs.Received(event, *place)  # type: ignore[arg-type]  # the supervisor took it for one
    return next(_timers(before, cause, first), None)


def _timers(before: state.State, cause: Cause, first: Transition) -> Iterator[inputs.Timer]:
    key = f"{before.tenant_id}/{before.workflow_id}"
    for name in inputs.TimerName:
        for task_id in (None, first.task_id):
            told = f"{name.value}/{task_id}" if task_id else name.value
            if timer_id(key, before.sequence, told) == cause.event_id:
                yield inputs.Timer(name, first.decided_at, task_id, first.attempt_id)


def _facts(policy: Policy, group: Sequence[Transition]) -> inputs.Facts:
    """What was known then; of the soft state only what was used, which the transitions tell."""
    reported = {
        each.attempt_id: each.settlement.usage
        for each in group
        if each.attempt_id is not None and each.settlement is not None and not each.settlement.usage.estimated
    }
    saved = {
        each.attempt_id: each.ending.checkpoint
        for each in group
        if each.attempt_id is not None and each.ending is not None and each.ending.checkpoint is not None
    }
    first = group[0]
    writer = Writer(instance=first.writer.instance, generation=first.writer.generation)
    return inputs.Facts(first.decided_at, writer, policy, first.policy_sha256 or "", reported, saved)


def _again(before: state.State, group: Sequence[Transition], item: inputs.Received, facts: inputs.Facts) -> None:
    after = before
    for each in group:
        after = fold.fold(after, each).state
    found = decide.decide(after, item, facts)
    quiet = len(found) <= 1 and all(each.kind in NOTES for each in found)
    hold(quiet, IDEMPOTENT, f"{item.topic} once more leads to {[each.kind.value for each in found]}")
    for each in found:
        then = fold.fold(after, each).state
        sent = outbox.outbox(then, each, facts.policy)
        told = all(one.kind is DispatchKind.LEASE_LOST for one in sent)
        hold(told and then.version == after.version, IDEMPOTENT, f"{item.topic} once more changes the version or sends")
