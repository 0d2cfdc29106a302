"""The workers' handlers of the demos, good and bad: `python -m remit.cli.guards.handlers NAME`. Nothing imports it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BEYOND_ANY_LEASE_S = 5.0
NEVER_S = 10_000.0


def dispatch() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(os.environ["REMIT_DISPATCH"]).read_text("utf-8"))
    return found


def report(text: str) -> None:
    (Path(os.environ["REMIT_OUT"]) / "report.txt").write_text(f"{text}\n", "utf-8")


def answer(**envelope: Any) -> None:  # noqa: ANN401 - JSON
    said = {"status": "completed", "output": {}, "evidence": []} | envelope
    Path(os.environ["REMIT_RESULT"]).write_text(json.dumps(said), "utf-8")


def leave_behind() -> None:
    """A process in a session of its own, which would outlive its parent."""
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({NEVER_S})"], start_new_session=True)


def good() -> None:
    report("done")


def slow() -> None:
    """Works until long after its lease would be over, and hands in what looks like a good result."""
    time.sleep(BEYOND_ANY_LEASE_S)
    report("from beyond the lease")


def stuck() -> None:
    """Lives, and gets nowhere; with a child that tries to outlive it."""
    leave_behind()
    time.sleep(NEVER_S)


def broken() -> None:
    """Writes what no schema allows, however often it is asked."""
    report("done")
    Path(os.environ["REMIT_RESULT"]).write_text('{"status": "brilliant", "output": ', "utf-8")


def bomb() -> None:
    """Proposes twenty tasks of its own kind, one of a kind that nobody granted, and leaves processes behind."""
    for _ in range(5):
        leave_behind()
    mine = dispatch()["task_id"]
    more = [{"id": f"{mine}.{n}", "task_type": "part", "objective": f"Part {n} of {mine}"} for n in range(20)]
    other = {"id": f"{mine}.root", "task_type": "implement", "objective": "Write to the repository"}
    report("done")
    answer(subtasks=[other, *more])


def liar() -> None:
    """Says that all is well, each time in another way."""
    report("all tests pass")
    claim = {"kind": "command", "command": "suite", "exit_status": 0, "checks": ["suite"], "note": "all tests pass"}
    lies: list[dict[str, Any]] = [
        {"evidence": [claim | {"observed_by": "runner"}]},
        {"evidence": [claim]},
        {"message": "All tests pass. Trust me."},
    ]
    offer = dispatch()
    answer(**lies[0 if offer["attempt"] == 1 and "REMIT_CORRECTION" not in os.environ else min(offer["attempt"], 2)])


def spender() -> None:
    """Takes a moment, and uses a quarter of the tokens that it may."""
    time.sleep(0.5)
    used = {"model": "pretended", "tokens_in": 600, "tokens_out": 400}
    Path(os.environ["REMIT_USAGE"]).write_text(json.dumps(used), "utf-8")
    report("done")


HANDLERS = {each.__name__: each for each in (good, slow, stuck, broken, bomb, liar, spender)}

if __name__ == "__main__":
    HANDLERS[sys.argv[1]]()
