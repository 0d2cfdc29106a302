"""What the product makes of the same inputs, as digests, on a machine in whatever zone: run in a process of its own.

Prints one JSON object: the bytes of events, contracts, transitions and their state, the views, and the metrics.
"""

import json
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from projector.compare import digest as view_digest
from remit import ids
from remit.cli.clocks import both
from remit.codec import TOPIC_RECORDS, encode
from remit.contract.gate import normalise
from remit.policy import load
from remit.reading import open_copy
from remit.settings import Settings
from remit.topics import Topic
from tests.codec.samples import of_every_kind
from tests.projector.driving import project
from tests.projector.histories import mixed_log
from tests.supervisor import bodies
from tests.supervisor.lab import Lab
from tests.supervisor.world import POLICY, two_tasks

DEADLINES = ("2026-07-19T12:00:00Z", "2026-07-19T17:00:00+05:00", "2026-07-19T08:30:00-03:30")


def report() -> dict[str, Any]:
    """Everything, under its name."""
    lab = history()
    return {
        "events": _digest(encode(topic, event) for topic in TOPIC_RECORDS for _, event in of_every_kind(topic)),
        "contracts": sorted({_contract(deadline) for deadline in DEADLINES}),
        "transitions": _digest(encode(Topic.TRANSITIONS, each) for each in lab.history),
        "state": ids.sha256(msgspec.json.encode(lab.workflow, order="deterministic")),
        "shown": both(datetime(2026, 7, 19, 12, tzinfo=UTC), Settings(display_zone="Europe/London").zone),
        **_views(),
    }


def _digest(parts: Iterable[bytes]) -> str:
    return ids.sha256(b"".join(parts))


def _contract(deadline: str) -> str:
    document = two_tasks(limits={"deadline": deadline})
    found = normalise(document, load.parse(POLICY), now=datetime(2026, 7, 19, tzinfo=UTC))
    return ids.sha256(msgspec.json.encode(found, order="deterministic"))


def history() -> Lab:
    """A line with a defect, a rework, an attempt that fell silent, and deadlines in between."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}.items():
        lab.register(worker_id, pool)
    lab.submit()
    lab.finish(lab.start("code"), bodies.good(lab.offer("code"), lab))
    test = lab.start("test")
    lab.finish(test, bodies.defect(test, lab))
    lab.finish(lab.start("code"), bodies.good(lab.offer("code"), lab))
    lab.start("test")
    lab.forward(31)
    lab.forward(7200)
    return lab


def _views() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "views.duckdb")
        project(mixed_log(range(4)), path)
        with open_copy(path) as copy:
            metrics = copy.query("FROM metrics ORDER BY ALL").rows
            return {"views": view_digest(copy), "metrics": ids.sha256(json.dumps(metrics, default=_text).encode())}


def _text(value: datetime | Decimal) -> str:
    """A time as its instant: the reader's session may show it in a zone of its own."""
    return str(value.astimezone(UTC)) if isinstance(value, datetime) else str(value)


if __name__ == "__main__":
    json.dump(report(), sys.stdout)
