"""`remit worker run` whose command is a function of this process, so that hundreds of workflows fit.

Everything else is the product's worker: inbox, claim, leases, inputs, artefacts, evidence, spool.
Run as `python -m chaos.worker --pool POOL --id ID`.
"""

import hashlib
import json
import random
import sys
from typing import Any

from remit.cli import main
from workers import attempt
from workers.channel import Channel
from workers.job import Bench, Job
from workers.meter import Meter
from workers.process import Ended, Stop

from .schedule import LEASE_S

POOL, VERIFIERS = "shell", "verifiers"
SLOTS = 4


WAYS = ("work", "fail", "ask", "spoil", "spoil again")


def content(workflow_id: str, task_id: str) -> bytes:
    """What a task's report says, whoever writes it."""
    return f"{task_id} of {workflow_id} is done\n".encode()


def how(workflow_id: str, task_id: str, number: int) -> tuple[str, float]:
    """What the nth attempt at a task does, and how long it takes, in seconds.

    It works, fails, asks a person, or spoils its envelope, whether or not it is asked to mend it.
    """
    dice = random.Random(f"{workflow_id}/{task_id}/{number}")  # noqa: S311 - variety, not a secret
    ends = dice.choices(WAYS, (90, 4, 2, 2, 2))[0] if number == 1 else "work"
    return ends, dice.choices((0.0, dice.uniform(0.2, 1.5), LEASE_S + 1.5), (85, 13, 2))[0]


def handle(job: Job, bench: Bench, meter: Meter, stop: Stop, channel: Channel) -> Ended:  # noqa: ARG001 - the signature
    """In place of the product's: the same files as a command would leave, without starting one."""
    ends, seconds = how(job.dispatch.workflow_id, job.dispatch.task_id, job.offer.attempt)
    if stop.wait(seconds):
        return Ended(-9, b"", stop.cause)
    meter.advance()
    job.ground.usage.write_text(json.dumps(usage(job.dispatch.workflow_id, job.dispatch.task_id)))
    if ends == "fail":
        return Ended(1, b"failed\n")
    envelope = _envelope(job, ends)
    if envelope is not None:
        job.ground.result.write_text(json.dumps(envelope))
    (job.ground.out / "report.txt").write_bytes(content(job.dispatch.workflow_id, job.dispatch.task_id))
    return Ended(0, b"done\n")


def _envelope(job: Job, ends: str) -> dict[str, Any] | None:
    """What the handler writes itself; None where its exit status says enough."""
    if ends == "ask":
        return {"status": "needs_review", "output": {}, "evidence": [], "message": "which one?"}
    if ends == "spoil again" or (ends == "spoil" and not job.ground.correction.exists()):
        return {"status": "perhaps"}
    if job.handout.task.spawn is not None:
        more = [{"id": f"{job.dispatch.task_id}.{n}", "task_type": "part", "objective": f"Part {n}"} for n in range(3)]
        return {"status": "completed", "output": {}, "evidence": [], "subtasks": more}
    return None


def usage(workflow_id: str, task_id: str) -> dict[str, Any]:
    """What it says it used: little, and not the same for every task."""
    some = hashlib.sha256(f"{workflow_id}/{task_id}".encode()).digest()
    return {"model": "none", "tokens_in": some[0], "tokens_out": some[1] % 16, "tool_calls": some[2] % 3}


if __name__ == "__main__":
    attempt.handle = handle  # type: ignore[attr-defined]
    main(["worker", "run", "--sandbox", "off", "--slots", str(SLOTS), "--exec", sys.executable, *sys.argv[1:]])
