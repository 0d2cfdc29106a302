"""What grows with the number of workflows: restart, memory, processor time and bytes per workflow. Figures, no ratios.

A restart is the real process: from its start to the first transition that follows from a contract submitted before it,
as a committed reader sees it. Histories are the logic's own, written again under other ids.
"""

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import histories, logic, sides, workload
from benchmarks.floor.connection import PARTITIONS
from benchmarks.processes import ROOT, Processes
from remit.artefacts import ArtefactStore
from remit.cli.embedded import furnish
from remit.log.kafka.log import KafkaLog
from remit.log.protocols import Message, Partition, Recorded
from remit.settings import Settings, load
from remit.topics import Topic

OPEN = 3  # transitions of a history after which the first of four tasks runs and the others wait
STUCK_S = 900.0


def measure(bootstrap: str, sizes: list[int]) -> dict[str, Any]:
    """Figures by the number of workflows: of open ones, of closed ones, of all."""
    every: list[Message] = []
    logic.product(_SAMPLE, every)
    found = {name: {size: _grown(bootstrap, size, upto) for size in sizes} for name, upto in _KINDS.items()}
    return {
        "events_per_workflow": len(every) / _SAMPLE,
        "bytes_per_workflow": sum(map(_size, every)) // _SAMPLE,
        "processor_ms_per_workflow": {size: round(logic.product(size) / size * 1000, 2) for size in sizes[:2]},
        **found,
    }


def _size(message: Message) -> int:
    return len(message.key) + len(message.value) + sum(len(name) + len(value) for name, value in message.headers)


_SAMPLE = 50
_KINDS = {"open": OPEN, "closed": None}


def _grown(bootstrap: str, workflows: int, upto: int | None) -> dict[str, Any]:
    """Restart and memory beside so many workflows, each with its first `upto` transitions."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load(bootstrap=bootstrap, topic_prefix=f"growth{uuid.uuid4().hex[:8]}.", home=Path(folder) / "home")
        furnish(settings, workload.PATIENT)
        with closing(KafkaLog(bootstrap, settings.topic_prefix, PARTITIONS)) as log:
            every = (each for one in islice(histories.renamed(workload.PATIENT), workflows) for each in one[:upto])
            written = histories.append(log, every)
            histories.append_inputs(log, workload.PATIENT)
            memory = _memory(settings)
            from_zero = _restart(settings, log, "from-zero", let_write=True)
            from_checkpoints = _restart(settings, log, "from-checkpoints", let_write=False)
    return {
        "transitions": written,
        "memory_bytes_per_workflow": memory,
        "restart_s": {"from_zero": from_zero, "from_checkpoints": from_checkpoints},
    }


def _memory(settings: Settings) -> int:
    """Bytes that a takeover adds to a process of its own, for each workflow."""
    words = [sys.executable, "-m", "benchmarks.takeover", settings.bootstrap or "", settings.topic_prefix]
    said = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    grown, states = map(int, said.split())
    return grown // max(states, 1)


def _restart(settings: Settings, log: KafkaLog, workflow_id: str, *, let_write: bool) -> float:
    """Seconds from a supervisor's start to its first decision; `let_write`: it lives until it wrote its checkpoints."""
    with closing(log.writer()) as writer:
        writer.append(workload.submissions([workflow_id], ArtefactStore(settings.artefact_url), workload.PATIENT))
    folder = settings.home / workflow_id
    folder.mkdir(parents=True)
    with Processes(folder) as processes:
        begun = time.perf_counter()
        processes.start("remit.cli", "supervisor", "run", "--name", "s0", env=sides.environment(settings))
        asked = f"/{workflow_id}".encode()
        _await(log, Topic.TRANSITIONS, lambda each: (each.key or b"").endswith(asked), processes.check)
        seconds = time.perf_counter() - begun
        if let_write:
            _await(log, Topic.CHECKPOINTS, lambda each: (each.key or b"").startswith(b"_shard/"), processes.check)
    return round(seconds, 2)


def _await(log: KafkaLog, topic: Topic, wanted: Callable[[Recorded], bool], alive: Callable[[], None]) -> None:
    """Wait for a record that was not there before."""
    places = [Partition(topic, number) for number in range(PARTITIONS)]
    with closing(log.reader()) as reader:
        reader.assign(reader.ends(places))
        until = time.monotonic() + STUCK_S
        while not any(wanted(each) for each in reader.poll(500, 0.05)):
            alive()
            if time.monotonic() > until:
                raise RuntimeError(f"nothing that was waited for came to {topic} in {STUCK_S:.0f} s")
