"""A worker is suspended, loses its lease, wakes up when another has finished, and hands in a good result."""

from remit.cli.folded import Folded

from .arena import Arena
from .guard import Fact, Guard
from .workflows import workflow


def run(arena: Arena) -> list[Fact]:
    arena.worker("sleeper", "slow")
    arena.submit(workflow("zombie-worker", {"work": {}}))
    arena.until(lambda _: arena.transitions("claimed"), "claim")
    arena.freeze("sleeper")
    lost = arena.transitions("claimed")[0].attempt_id
    arena.worker("stand-in", "good")
    arena.until(lambda folded: folded.ended, "acceptance of the other worker's result")
    version = arena.folded.workflow.version
    arena.thaw("sleeper")
    arena.until(lambda folded: _noted(folded, lost), "note of the sleeper's result")
    accepted = arena.transitions("result_accepted")
    return [
        Fact(
            "the sleeper's lease ended once, for its silence",
            [e.reason for e in arena.transitions("lease_expired")] == ["silence"],
        ),
        Fact("one result was accepted, the other worker's", [each.worker_id for each in accepted] == ["stand-in"]),
        Fact(
            "the sleeper's result is on record as late, and changed no version",
            arena.folded.workflow.version == version,
        ),
    ]


def _noted(folded: Folded, attempt_id: object) -> bool:
    kinds = {"stale", "late_usage"}
    return any(e.transition.kind.value in kinds and e.transition.attempt_id == attempt_id for e in folded.entries)


GUARD = Guard(
    name="zombie-worker",
    tries="a worker that was suspended beyond its lease wakes up and hands in its result after another finished",
    stopped_by="the fencing token: its attempt is no longer the current one",
    run=run,
)
