"""A worker says that the tests pass: as the runner's own evidence, as its own, and in plain words."""

from .arena import Arena
from .guard import Fact, Guard
from .workflows import workflow

ATTEMPTS = 3
FAILS = ["python", "-c", "raise SystemExit('1 failed: test_token_expires')"]


def run(arena: Arena) -> list[Fact]:
    arena.worker("liar", "liar")
    document = workflow("liar", {"work": {"limits": {"max_attempts": ATTEMPTS}}})
    document["definition_of_done"] = ["tests pass"]
    document["commands"] = {"suite": {"argv": FAILS}}
    document["checks"] = {"tests pass": [{"id": "suite", "kind": "command", "task": "work", "command": "suite"}]}
    arena.submit(document)
    arena.until(lambda folded: folded.at_rest, "end of the attempts")
    refused = arena.transitions("result_refused")
    said = [fault for each in refused if each.ending for fault in each.ending.faults]
    return [
        Fact(
            "evidence in the runner's name does not fit the schema", len(arena.transitions("correction_requested")) == 1
        ),
        Fact(
            "what the worker writes itself is no evidence; the runner saw the command fail",
            any("exit status 1" in each for each in said),
        ),
        Fact(
            f"{len(refused)} results were refused, none accepted",
            len(refused) == ATTEMPTS and not arena.transitions("result_accepted"),
        ),
        Fact("a named person has it now", arena.folded.workflow.status.value == "escalated"),
    ]


GUARD = Guard(
    name="liar",
    tries="a worker whose tests fail says that they pass: in the runner's name, as evidence of its own, in plain words",
    stopped_by="independent evidence: the runner runs the contract's command itself, and only what it saw counts",
    run=run,
)
