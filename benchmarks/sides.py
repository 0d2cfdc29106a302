"""The two sides of the pipeline's comparison: each a context that runs its processes on a broker and drives them.

A fresh topic prefix each time, so that neither side meets what an earlier run left.
"""

import contextlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from confluent_kafka import Message as KafkaMessage
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks import workload
from benchmarks.driver import Driver, Run
from benchmarks.floor import events as plain
from benchmarks.floor.connection import PARTITIONS
from benchmarks.processes import Processes
from remit.artefacts import ArtefactStore
from remit.cli.embedded import furnish
from remit.log.protocols import Message
from remit.settings import Settings, load

WARM_UP = 20
Submissions = list[tuple[str, Message]]
Drive = Callable[[int, int], Run]  # workflows, in flight


@contextlib.contextmanager
def floor(bootstrap: str, folder: Path, *, full: bool) -> Iterator[Drive]:
    """The plain script, warmed up; `full` with claims and an inspection."""
    prefix = f"floor{uuid.uuid4().hex[:8]}."
    _create(bootstrap, [prefix + topic for topic in plain.TOPICS])
    words = (bootstrap, prefix, *(["--full"] if full else []))
    with Processes(folder) as processes:
        for module in ("benchmarks.floor.supervisor", "benchmarks.floor.worker"):
            processes.start(module, *words)
        with _driven(Driver(bootstrap, prefix, _floor_read, processes.check), _floor_submissions) as drive:
            yield drive


@contextlib.contextmanager
def product(bootstrap: str, folder: Path, *, supervisors: int = 1) -> Iterator[Drive]:
    """A real supervisor process (or more) with an instant worker, warmed up."""
    settings = load(bootstrap=bootstrap, topic_prefix=f"product{uuid.uuid4().hex[:8]}.", home=folder / "home")
    furnish(settings, workload.POLICY)
    env = environment(settings)
    store = ArtefactStore(settings.artefact_url)
    with Processes(folder) as processes:
        processes.start("benchmarks.worker", env=env)
        for number in range(supervisors):
            processes.start("remit.cli", "supervisor", "run", "--name", f"s{number}", env=env)
        driver = Driver(bootstrap, settings.topic_prefix, _product_read, processes.check)
        with _driven(driver, lambda ids: _product_submissions(ids, store)) as drive:
            yield drive


def environment(settings: Settings) -> dict[str, str]:
    """The settings as a child process reads them."""
    return {
        "KAFKA_BOOTSTRAP_SERVERS": settings.bootstrap or "",
        "REMIT_TOPIC_PREFIX": settings.topic_prefix,
        "REMIT_HOME": str(settings.home.absolute()),
    }


@contextlib.contextmanager
def _driven(driver: Driver, submissions: Callable[[Sequence[str]], Submissions]) -> Iterator[Drive]:
    numbers = iter(range(10**9))

    def drive(workflows: int, in_flight: int) -> Run:
        prepared = submissions([f"w{next(numbers):07d}" for _ in range(workflows)])
        return driver.run(prepared, in_flight)

    try:
        drive(WARM_UP, WARM_UP)
        yield drive
    finally:
        driver.close()


def _floor_submissions(workflow_ids: Sequence[str]) -> Submissions:
    text = plain.document()
    values = [plain.encode("contracts", plain.contract_of(each, text)) for each in workflow_ids]
    return [
        (each, Message("contracts", f"bench/{each}".encode(), value))
        for each, value in zip(workflow_ids, values, strict=True)
    ]


def _product_submissions(workflow_ids: Sequence[str], store: ArtefactStore) -> Submissions:
    return list(zip(workflow_ids, workload.submissions(list(workflow_ids), store), strict=True))


def _floor_read(message: KafkaMessage) -> tuple[str, str]:
    event = plain.decode("transitions", message.value() or b"")
    return event["kind"], event["workflow_id"]


def _product_read(message: KafkaMessage) -> tuple[str, str]:
    headers: dict[str, bytes] = dict(message.headers() or [])  # type: ignore[arg-type]
    return headers["ce_type"].decode().rpartition(".")[2], headers["ce_subject"].decode().partition("/")[2]


def _create(bootstrap: str, names: Sequence[str]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names]).values():
        future.result()
