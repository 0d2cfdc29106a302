"""Runs the worker's own command on an attempt, in its workspace and a scrubbed environment.

Only this role imports it.
"""

import os
from dataclasses import dataclass, replace

from remit.errors import EnvelopeInvalidError
from remit.result import Envelope, read_envelope
from remit.result.envelope import ADVICE, MAX_ENVELOPE_BYTES

from . import tool_socket
from .channel import Channel
from .config import WorkerConfig
from .environment import scrubbed
from .gateway import Gateway
from .job import Bench, Job
from .left import opened
from .meter import Meter
from .process import MARKER, Ended, Stop, run, run_marker
from .views import confined, of_handler

WORKER_MARKER = "REMIT_ATTEMPT_OF"


@dataclass(frozen=True)
class Answer:
    """What the command left: its envelope, or the text and faults of one that breaks its schema, or nothing."""

    envelope: Envelope | None = None
    text: bytes = b""
    faults: tuple[str, ...] = ()


def worker_marker(config: WorkerConfig) -> str:
    """What marks all processes that a worker's handlers start; a worker of that id in another home is another one."""
    return f"{config.home.resolve()}/{config.worker_id}"


def handler_environment(job: Job, bench: Bench) -> dict[str, str]:
    """What the command sees."""
    ground = job.ground
    given = {
        "REMIT_DISPATCH": str(ground.dispatch),
        "REMIT_WORKSPACE": str(ground.workspace),
        "REMIT_RESULT": str(ground.result),
        "REMIT_USAGE": str(ground.usage),
        "REMIT_OUT": str(ground.out),
        "REMIT_CHECKPOINT": str(ground.checkpoint),
        WORKER_MARKER: worker_marker(bench.config),
        MARKER: run_marker(job.dispatch.attempt_id),
    }
    if ground.correction.exists():
        given["REMIT_CORRECTION"] = str(ground.correction)
    secrets = bench.secrets if bench.config.secrets_to != "tools" else {}
    seen = scrubbed(ground.home, ground.scratch, bench.config.env_allow, {**secrets, **given})
    return seen | {"PATH": os.pathsep.join((str(ground.bin), seen["PATH"]))}


def handle(job: Job, bench: Bench, meter: Meter, stop: Stop, channel: Channel) -> Ended:
    """Run the command to its end; raises OSError when it can't be started."""
    environment = handler_environment(job, bench)
    gateway = Gateway(job, bench, meter, channel.asked)
    with (
        channel.served(environment, meter, gateway) as descriptors,
        tool_socket.served(gateway) as line,
    ):
        ended = run(
            confined(bench.config.argv, of_handler(job, bench), bench),
            folder=job.ground.workspace,
            environment=environment | channel.variables | line,
            until=job.until,
            stop=stop,
            printed=meter.advance,
            keep_open=descriptors,
        )
    return replace(ended, output=ended.output + gateway.told())


def read_answer(job: Job) -> Answer:
    """The envelope that the command wrote."""
    try:
        with opened(job.ground.result) as (file, about):
            data, size = file.read(MAX_ENVELOPE_BYTES), about.st_size
    except OSError:
        return Answer()
    if size > MAX_ENVELOPE_BYTES:
        return Answer(text=data, faults=(f"size: {size} bytes, at most {MAX_ENVELOPE_BYTES}; {ADVICE}",))
    try:
        return Answer(envelope=read_envelope(data))
    except EnvelopeInvalidError as error:
        return Answer(text=data, faults=error.faults)
