"""A worker writes envelopes that no schema allows, and again when it is asked to mend them."""

from .arena import Arena
from .guard import Fact, Guard
from .workflows import workflow


def run(arena: Arena) -> list[Fact]:
    arena.worker("a-broken", "broken")
    arena.worker("b-good", "good")
    arena.submit(workflow("malformed", {"work": {}}))
    arena.until(lambda folded: folded.ended, "acceptance")
    asked, failed = arena.transitions("correction_requested"), arena.transitions("attempt_failed")
    return [
        Fact("the worker was told the faults and asked to mend them, once", len(asked) == 1),
        Fact("its second envelope ended the attempt", [each.reason for each in failed] == ["malformed"]),
        Fact(
            "the task went to the other worker, and was accepted",
            [e.worker_id for e in arena.transitions("result_accepted")] == ["b-good"],
        ),
        Fact(
            "both attempts are counted",
            arena.folded.workflow.tasks["work"].attempts_started == len([*failed, "accepted"]),
        ),
    ]


GUARD = Guard(
    name="malformed",
    tries="a worker's result is broken JSON, and broken again after a correction was asked for",
    stopped_by="the result schema, one correction in the life of a task, then another worker",
    run=run,
)
