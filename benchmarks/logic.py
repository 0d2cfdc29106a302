"""How fast the logic is on one core, without a broker: the real supervisor's loop beside the floor script's logic.

Records go from one side to the other through plain queues. On both sides each event is encoded by its writer and
decoded by its reader, and the worker's part counts, since both sides have it. The inspector's answer is made without
looking.
"""

import gc
import statistics
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from benchmarks import workload
from benchmarks.floor import events as plain
from benchmarks.floor.logic import Logic
from remit.artefacts import ArtefactStore
from remit.codec import decode
from remit.events.envelope import message, new_event
from remit.events.inputs import Answer, Inspection, InspectionKind, Verdict
from remit.events.service import Dispatch, Policy, PolicyKind
from remit.log.memory import MemoryLog
from remit.log.memory.log import MemoryReader, MemoryWriter
from remit.log.memory.session import MemorySession
from remit.log.outgoing import placed
from remit.log.protocols import Message, Partition, Recorded
from remit.topics import Topic
from supervisor.service import Supervisor
from supervisor.state import AwaitingReview
from supervisor.step import inspection_id

IN_FLIGHT = 64


def measure(workflows: int = 300, rounds: int = 3) -> dict[str, Any]:
    """Workflows/s of floor (19 and 29 events) and product in turn, medians, and their ratios."""
    found: dict[str, list[float]] = {"floor": [], "floor_same_events": [], "product": []}
    product(10)
    for _ in range(rounds):
        found["floor"].append(workflows / floor(workflows, full=False))
        found["floor_same_events"].append(workflows / floor(workflows, full=True))
        found["product"].append(workflows / product(workflows))
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    return {
        **medians,
        "rounds": found,
        "ratio": medians["product"] / medians["floor"],
        "ratio_same_events": medians["product"] / medians["floor_same_events"],
        "unit": "workflows/s",
    }


def floor(workflows: int, *, full: bool) -> float:
    """Seconds of processor time for so many workflows."""
    text = plain.document()
    contracts = [plain.contract_of(f"f{number}", text) for number in range(workflows)]
    values = iter([("contracts", plain.encode("contracts", each)) for each in contracts])
    logic, arrived, begun, offset = Logic(full=full), deque(islice(values, IN_FLIGHT)), time.process_time(), 0
    gc.collect()
    accepted = 0
    while arrived:
        topic, value = arrived.popleft()
        offset += 1
        for out, _, event in logic.take(topic, plain.decode(topic, value), (0, offset), 0):
            written = plain.encode(out, event)
            arrived += _answers(out, event, written, full=full)
            if event["kind"] == "workflow_accepted":
                accepted += 1
                arrived += islice(values, 1)
    _insist(accepted, workflows)
    return time.process_time() - begun


def _answers(topic: str, event: plain.Event, written: bytes, *, full: bool) -> Iterable[tuple[str, bytes]]:
    if topic == "dispatches":
        offer = plain.decode(topic, written)
        if full:
            yield "leases", plain.encode("leases", plain.claim_of(offer, 0))
        yield "results", plain.encode("results", plain.result_of(offer, 0))
    elif event["kind"] == "inspection_requested":
        yield "inspections", plain.encode("inspections", plain.inspection_of(event, 0))


def product(workflows: int, every: list[Message] | None = None, policy: str = workload.POLICY) -> float:
    """Seconds of processor time for so many workflows; all that anyone wrote for them is added to `every`."""
    with tempfile.TemporaryDirectory() as folder:
        log = LoopLog()
        writer = log.writer()
        worker = workload.InstantWorker(ArtefactStore(folder).put(workload.REPORT))
        writer.append([_policy(policy), worker.registration(), worker.liveness()])
        names = [f"w{number:07d}" for number in range(workflows)]
        waiting = workload.submissions(names, ArtefactStore(folder), policy)
        # Time stands still: on a slow machine leases would end, and something else would be measured.
        supervisor = Supervisor(log, "s1", ArtefactStore(folder), lambda: log.loop.now)
        try:
            return _run(supervisor, log.loop, worker, waiting, every)
        finally:
            supervisor.close()


def _run(
    supervisor: Supervisor,
    loop: "Loop",
    worker: workload.InstantWorker,
    waiting: Sequence[Message],
    every: list[Message] | None,
) -> float:
    workflows = len(waiting)
    while not loop.serving:
        supervisor.turn(0.0)
    supervisor._inspector = InstantInspector(loop)  # type: ignore[assignment]  # noqa: SLF001 - looking is no logic
    submitted = iter(waiting)
    loop.laid = every
    loop.arrive(islice(submitted, IN_FLIGHT))
    gc.collect()
    begun, accepted = time.process_time(), 0
    while accepted < workflows:
        supervisor.turn(0.0)
        written, loop.written = loop.written, []
        if every is not None:
            every += written
        if not written and not loop.arrived:
            raise RuntimeError(f"the loop came to rest with {accepted} of {workflows} workflows accepted")
        for each in written:
            if each.topic == Topic.TRANSITIONS:
                accepted += _is_accepted(each)
                loop.arrive(islice(submitted, _is_accepted(each)))
            elif isinstance(offer := decode(each.topic, each.value), Dispatch):
                loop.arrive((worker.claim(offer), worker.result(offer)))
    return time.process_time() - begun


def _is_accepted(written: Message) -> bool:
    return ("ce_type", b"remit.transitions.workflow_accepted") in written.headers


def _insist(accepted: int, workflows: int) -> None:
    if accepted != workflows:
        raise RuntimeError(f"{accepted} of {workflows} workflows were accepted")


def _policy(policy: str) -> Message:
    found = workload.in_force(policy)
    event = new_event(
        Policy,
        tenant_id="",
        workflow_id="",
        producer="bench",
        clock_now=found.applied_at,
        kind=PolicyKind.APPLIED,
        document=found.text,
        policy_sha256=found.sha256,
        author=found.author,
    )
    return message(event, Topic.POLICIES)


class Loop:
    """Implements `Session`: joins in memory, then takes records from a queue and leaves what is written in a list."""

    def __init__(self, inner: MemorySession, partitions: int) -> None:
        self._inner, self._partitions = inner, partitions
        self._offsets: Counter[Partition] = Counter()
        self.serving = False
        self.now = datetime.now(UTC)
        self.arrived: deque[Recorded] = deque()
        self.written: list[Message] = []
        self.laid: list[Message] | None = None

    @property
    def epoch(self) -> int:
        return self._inner.epoch

    @property
    def shards(self) -> frozenset[int]:
        return self._inner.shards

    def arrive(self, messages: Iterable[Message]) -> None:
        """Queue records as if they were read from the log."""
        for each in messages:
            if self.laid is not None:
                self.laid.append(each)
            place = placed(each, self._partitions)
            offset = self._offsets[place]
            self._offsets[place] += 1
            self.arrived.append(Recorded(*place, offset, self.now, each.key, each.value, each.headers))

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        if not self.serving:
            return self._inner.poll(limit, timeout)
        return [self.arrived.popleft() for _ in range(min(limit, len(self.arrived)))]

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        return self._inner.committed(partitions)

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        return {each: self._offsets[each] for each in partitions}

    def resume(self, positions: Mapping[Partition, int]) -> None:
        self._inner.resume(positions)
        self.serving = True

    def position(self, partition: Partition) -> int:
        return self._offsets[partition]

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        if not offsets:
            raise ValueError("a step needs offsets")
        self.written += messages

    def close(self) -> None:
        self._inner.close()


class LoopLog:
    """Implements `Log`: policies and workers lie in memory, the session is the loop."""

    def __init__(self) -> None:
        self._memory = MemoryLog()
        self.partitions = self._memory.partitions
        self.loop = Loop(self._memory.session("s1"), self.partitions)

    def reader(self) -> MemoryReader:
        return self._memory.reader()

    def writer(self) -> MemoryWriter:
        return self._memory.writer()

    def session(self, _name: str) -> Loop:
        return self.loop

    def close(self) -> None:
        self._memory.close()


class InstantInspector:
    """Answers each request at once: all is as it should be."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def ask(self, tenant_id: str, workflow_id: str, task_id: str, phase: AwaitingReview) -> None:
        """Queue the answer."""
        answers = tuple(
            Answer(question_id=each.id, kind=each.kind, verdict=Verdict.MATCH, expected=each.expected)
            for each in phase.questions
        )
        event = new_event(
            Inspection,
            tenant_id=tenant_id,
            workflow_id=workflow_id,
            producer="inspector/s1",
            clock_now=self._loop.now,
            event_id=inspection_id(phase.request_id, phase.tries, answers),
            kind=InspectionKind.INSPECTED,
            request_id=phase.request_id,
            task_id=task_id,
            attempt_id=phase.attempt_id,
            answers=answers,
        )
        self._loop.arrive([message(event, Topic.INSPECTIONS)])

    def close(self) -> None:
        """Nothing to close."""
