"""Planted bugs: each takes one guard out of the supervisor, for as long as a test lasts. The simulator must notice."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from supervisor import fold, limits, service, shard, step, takeover
from supervisor.checks import evidence
from supervisor.decide import result
from supervisor.evolve import HANDLERS
from supervisor.state import Workflow

Patch = pytest.MonkeyPatch


def no_fencing(patch: Patch) -> None:
    """Token, worker and process of a result are not compared with the offer's."""
    patch.setattr(result, "foreign_parts", lambda *_: ())


def no_result_key(patch: Patch) -> None:
    """A submission that was read before is read again."""
    patch.setattr(result, "_repeated", lambda unit, event: result._late(unit, event, _attempt(unit, event)))


def _attempt(unit: Any, event: Any) -> Any:
    return unit.task(event.task_id).attempt(event.attempt_id)


def no_subject(patch: Patch) -> None:
    """Evidence may speak of anything."""
    patch.setattr(evidence, "_place_faults", evidence._binding_faults)


def no_binding(patch: Patch) -> None:
    """Evidence may come from any worker, task and attempt."""

    def unbound(case: Any, found: Any) -> list[str]:
        return [] if found.subject == case.subject else ["not this subject"]

    patch.setattr(evidence, "_place_faults", unbound)
    patch.setattr(evidence, "_binding_faults", lambda *_: [])


def no_reservation(patch: Patch) -> None:
    """What others have reserved is not kept from anybody."""
    patch.setattr(limits, "reserved_by", lambda _: limits.NOTHING)
    patch.setattr(limits, "blockers", lambda *_: ())


def no_counting(patch: Patch) -> None:
    """An attempt that begins is not counted."""
    kind = next(each for each in HANDLERS if each.value == "claimed")
    claimed = HANDLERS[kind]

    def uncounted(workflow: Workflow, transition: Any) -> Workflow:
        after = claimed(workflow, transition)
        task_id = transition.task_id or ""
        kept = replace(after.tasks[task_id], attempts_started=workflow.tasks[task_id].attempts_started)
        return replace(after, tasks=after.tasks | {task_id: kept})

    patch.setitem(HANDLERS, kind, uncounted)


def no_barrier(patch: Patch) -> None:
    """A timer fires although records that came in time lie unread."""

    def fire(self: Any, intake: Any, made: Any) -> None:
        self._fire_until(self._clock(), intake, made)

    patch.setattr(service.Supervisor, "_fire", fire)


def no_offsets(patch: Patch) -> None:
    """A step that only fires timers carries no offsets."""
    patch.setattr(step.Step, "fenced_offsets", lambda self, _: dict(self.offsets))


def no_generation(patch: Patch) -> None:
    """What an older owner wrote is folded like anything else."""

    def judge(sequence: int, _: int, transition: Any) -> fold.Verdict:
        return fold.Verdict.FOLDED if transition.sequence == sequence + 1 else fold.Verdict.CONFLICT

    patch.setattr(fold, "_judge", judge)


def no_redaction(patch: Patch) -> None:
    """Nobody looks whether a result holds a secret."""
    patch.setattr(result, "secret_rules", lambda _: ())


def no_memory(patch: Patch) -> None:
    """A record that was decided before is decided again when it is read again."""
    patch.setattr(shard.Shards, "is_decided", lambda *_: False)


def no_waiting(patch: Patch) -> None:
    """A successor does not read history up to its end."""
    found = takeover.take_over

    def early(source: Any, session: Any, *said: Any, **more: Any) -> Any:
        return found(source, _Short(session), *said, **more)

    patch.setattr(service, "take_over", early)


class _Short:
    """A session that says the log ended a little earlier."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def ends(self, partitions: Any) -> Any:
        found: Mapping[Any, int] | None = self._inner.ends(partitions)
        return None if found is None else {each: max(0, end - 2) for each, end in found.items()}


PLANTS: dict[str, tuple[Callable[[Patch], None], str]] = {
    "no_fencing": (no_fencing, "10"),
    "no_result_key": (no_result_key, "1"),
    "no_subject": (no_subject, "10"),
    "no_binding": (no_binding, "10"),
    "no_reservation": (no_reservation, "7"),
    "no_counting": (no_counting, "7"),
    "no_barrier": (no_barrier, "6"),
    "no_offsets": (no_offsets, "0"),
    "no_generation": (no_generation, "4"),
    "no_redaction": (no_redaction, ""),
    "no_memory": (no_memory, "1"),
    "no_waiting": (no_waiting, ""),
}
"""Each plant, and the law that it must be caught by; none: whichever is broken first."""
