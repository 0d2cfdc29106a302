"""How fast the projector is, beside its floor: raw consume, decode, one Arrow table, one insert with offsets.

Floor and product take the same log in turn, in one process; the ratio of each pair is what counts, since rates on a
shared machine mean little by themselves. Run it as `python -m benchmarks.projection`.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import duckdb
import fastavro
import pyarrow as pa

from benchmarks.projection_log import messages
from projector import service
from projector.positions import all_partitions
from projector.publish import Publisher
from projector.store import Store
from remit.codec.catalogue import catalogue
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.log import KafkaLog
from remit.log.memory import MemoryLog
from remit.log.protocols import Log, Partition, Recorded
from remit.settings import load
from remit.topics import PARTITIONS_ONE_MACHINE, fixed_specs

HEADER_BYTES = 5
DURABILITY = "one DuckDB transaction per batch: write-ahead log fsynced at each commit"


class Took(NamedTuple):
    """Seconds of the clock and of this process's processor."""

    wall: float
    cpu: float


def measure(events: int = 50_000, rounds: int = 3, bootstrap: str | None = None) -> dict[str, Any]:
    """Floor and product in turn over a log of at least `events` records; events/s, ratios, load of the machine.

    `bootstrap` names a Kafka cluster on which topics of a prefix of their own are made; None is the log in memory.
    """
    log, count = _filled(events, bootstrap)
    # What the log holds in memory is the benchmark's, not the projector's: the collector shall not walk through it.
    gc.collect()
    gc.freeze()
    pairs = [(_timed(floor, log, count), _timed(product, log, count)) for _ in range(rounds)]
    log.close()
    return _report(count, pairs, "memory" if bootstrap is None else "kafka")


def _timed(run: Callable[[Log, int, Path], None], log: Log, count: int) -> Took:
    with tempfile.TemporaryDirectory() as folder:
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        run(log, count, Path(folder))
        return Took(time.perf_counter() - wall, time.process_time() - cpu)


def product(log: Log, count: int, folder: Path) -> None:
    """The projector's own loop, from an empty database to a published copy of all records."""
    reader = log.reader()
    with Store(folder / "remit.duckdb") as store:
        publisher = Publisher(store, folder / "published.duckdb")
        assigned = service.begin(reader, store, log.partitions)
        read = 0
        while read < count:
            read_some = service.step(reader, store, assigned, log.partitions, publisher)
            publisher.publish_when_due(idle=not read_some)
            read = sum(each.records for each in store.progress.values())
        publisher.publish_rest()
    reader.close()


def floor(log: Log, count: int, folder: Path) -> None:
    """The least that keeps a database in step with the log: nothing is checked, folded, joined or published."""
    reader = log.reader()
    reader.assign(dict.fromkeys(all_partitions(log.partitions), 0))
    with duckdb.connect(str(folder / "floor.duckdb")) as connection:
        connection.execute("SET threads = 1")
        connection.execute(f"CREATE TABLE events ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
        connection.execute("CREATE TABLE offsets (topic VARCHAR, partition BIGINT, next_offset BIGINT)")
        offsets: dict[Partition, int] = {}
        read = 0
        while read < count:
            if not (records := reader.poll(service.LIMIT, service.WAIT_S)):
                continue
            read += len(records)
            offsets |= {record.source: record.offset + 1 for record in records}
            _insert(connection, _table(records), offsets)
    reader.close()


COLUMNS = {
    "topic": "VARCHAR",
    "partition": "BIGINT",
    '"offset"': "BIGINT",
    "appended_at": "TIMESTAMPTZ",
    "event_id": "VARCHAR",
    "tenant_id": "VARCHAR",
    "workflow_id": "VARCHAR",
    "occurred_at": "TIMESTAMPTZ",
    "producer": "VARCHAR",
    "kind": "VARCHAR",
    "sequence": "BIGINT",
    "version": "BIGINT",
    "workflow_status": "VARCHAR",
    "task_id": "VARCHAR",
    "attempt_id": "VARCHAR",
    "worker_id": "VARCHAR",
    "fencing_token": "BIGINT",
    "attempt": "BIGINT",
    "round": "BIGINT",
    "reason": "VARCHAR",
}
"""The floor's one table: where a record lies, the envelope, and what a transition is about."""

_TYPES = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "TIMESTAMPTZ": pa.timestamp("us", "UTC")}
_ARROW = [_TYPES[kind] for kind in COLUMNS.values()]
_FIELDS = list(COLUMNS)[4:]


def _table(records: Sequence[Recorded]) -> pa.Table:
    # Event by event into rows: held all at once, the decoded events would cost the floor more than their decoding.
    columns = zip(*map(_row, records), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _ARROW, strict=True)]
    return pa.Table.from_arrays(arrays, names=[name.strip('"') for name in COLUMNS])


def _row(record: Recorded) -> tuple[Any, ...]:
    event = _decoded(record)
    where = (record.topic, record.partition, record.offset, record.appended_at)
    return where + tuple(_text(event.get(name)) for name in _FIELDS)


def _text(value: Any) -> Any:  # noqa: ANN401 - whatever the decoder gives
    return str(value) if type(value) is UUID else value


def _decoded(record: Recorded) -> dict[str, Any]:
    value = record.value or b""
    source = BytesIO(value)
    source.seek(HEADER_BYTES)
    fields: Any = fastavro.schemaless_reader(source, _schema(int.from_bytes(value[1:HEADER_BYTES], "big")), None)
    return fields  # type: ignore[no-any-return]


_PARSED: dict[int, Any] = {}


def _schema(schema_id: int) -> Any:  # noqa: ANN401 - fastavro's own form
    if schema_id not in _PARSED:
        _PARSED[schema_id] = fastavro.parse_schema(catalogue().schema(catalogue().entry(schema_id)))
    return _PARSED[schema_id]


def _insert(connection: duckdb.DuckDBPyConnection, incoming: pa.Table, offsets: dict[Partition, int]) -> None:
    connection.register("incoming", incoming)
    connection.register("positions", pa.Table.from_pylist([
        {"topic": at.topic, "partition": at.number, "next_offset": offset} for at, offset in offsets.items()
    ]))  # fmt: skip
    connection.execute("BEGIN")
    connection.execute("INSERT INTO events SELECT * FROM incoming")
    connection.execute("DELETE FROM offsets")
    connection.execute("INSERT INTO offsets SELECT * FROM positions")
    connection.execute("COMMIT")
    connection.unregister("incoming")
    connection.unregister("positions")


def _filled(events: int, bootstrap: str | None) -> tuple[Log, int]:
    log: Log = MemoryLog() if bootstrap is None else _kafka(bootstrap)
    writer = log.writer()
    count = sum(len(writer.append(batch)) for batch in messages(events))
    writer.close()
    return log, count


def _kafka(bootstrap: str) -> Log:
    prefix = f"projection{uuid4().hex[:8]}."
    TopicAdmin(load(bootstrap=bootstrap, topic_prefix=prefix)).create(fixed_specs(prefix))
    return KafkaLog(bootstrap, prefix, PARTITIONS_ONE_MACHINE)


def _report(count: int, pairs: Sequence[tuple[Took, Took]], log: str) -> dict[str, Any]:
    return {
        "log": log,
        "events": count,
        "durability": DURABILITY,
        "load": os.getloadavg()[0],
        "floor": _spread(count / low.wall for low, _ in pairs),
        "product": _spread(count / high.wall for _, high in pairs),
        "ratio": _spread(low.wall / high.wall for low, high in pairs),
        "ratio_cpu": _spread(low.cpu / high.cpu for low, high in pairs),
    }


def _spread(values: Iterable[float]) -> dict[str, float]:
    found = list(values)
    return {"min": min(found), "median": statistics.median(found), "max": max(found)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kafka", metavar="BOOTSTRAP")
    given = parser.parse_args()
    sys.stdout.write(json.dumps(measure(given.events, given.rounds, given.kafka), indent=2) + "\n")


if __name__ == "__main__":
    main()
