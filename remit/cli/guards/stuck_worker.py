"""A worker renews its lease for ever and gets nowhere."""

from .arena import Arena, gone
from .guard import Fact, Guard
from .workflows import workflow

ALONE = 2  # processes: what watches over the handler, and the handler


def run(arena: Arena) -> list[Fact]:
    arena.worker("a-stuck", "stuck")
    arena.submit(workflow("stuck-worker", {"work": {}}))
    arena.until(lambda _: arena.transitions("claimed"), "claim")
    arena.until(lambda _: len(arena.family("a-stuck")) > ALONE, "handler with a child of its own")
    family = arena.family("a-stuck")
    arena.worker("b-good", "good")
    arena.until(lambda folded: folded.ended, "acceptance")
    arena.until(lambda _: gone(family), "end of the stuck handler's processes")
    return [
        Fact(
            "renewals alone kept no lease: it ended for want of progress",
            [e.reason for e in arena.transitions("lease_expired")] == ["no_progress"],
        ),
        Fact("the handler and what it had started are gone", gone(family)),
        Fact(
            "the other worker's result was accepted",
            [e.worker_id for e in arena.transitions("result_accepted")] == ["b-good"],
        ),
    ]


GUARD = Guard(
    name="stuck-worker",
    tries="a handler hangs while its runner goes on renewing, with a child process in a session of its own",
    stopped_by="the no-progress limit, and the runner, which kills all that the handler started",
    run=run,
)
