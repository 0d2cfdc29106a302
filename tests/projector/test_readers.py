"""Readers of the published copy while the projector works, and what ends a projector."""

import subprocess
import sys
from collections.abc import Iterator
from threading import Event

import pytest

from projector.service import run
from remit.errors import TopologyError
from remit.log.memory import MemoryLog
from remit.log.memory.log import MemoryReader
from remit.log.protocols import Recorded
from remit.reading import ViewFiles
from tests.projector.histories import History, ticking
from tests.projector.test_service import append, running

ROUNDS, EACH = 5, 10
QUERIES = """
import sys
from pathlib import Path
from remit.reading import open_copy
query = "SELECT count(*), (SELECT sum(records) FROM offsets) FROM transitions"
for _ in sys.stdin:
    with open_copy(Path(sys.argv[1])) as copy:
        (rows, records), = copy.query(query).rows
        fresh = copy.freshness()
    print(rows, records, sum(fresh.positions.values()), flush=True)
"""


@pytest.fixture
def asked(files: ViewFiles) -> Iterator["subprocess.Popen[str]"]:
    """A process of its own that answers one query for each line it is sent, in the documented way."""
    words = [sys.executable, "-c", QUERIES, str(files.published)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def test_fifty_queries_from_another_process(files: ViewFiles, asked: "subprocess.Popen[str]") -> None:
    """DUCK-1: each answers while the projector writes, whole, with all that was published before it was asked."""
    log = MemoryLog(clock=ticking())
    assert asked.stdin is not None
    assert asked.stdout is not None
    count = 0
    with running(log, files) as wait_for:
        for number in range(ROUNDS):
            count += append(log, History(f"w{number}").run("a"))
            wait_for(count)
            more = append(log, History(f"v{number}").run("a", "b"))
            for _ in range(EACH):
                asked.stdin.write("\n")
                asked.stdin.flush()
                rows, records, read = map(int, asked.stdout.readline().split())
                assert count <= rows == records == read <= count + more
            count += more
        wait_for(count)


def test_a_projector_ends_once_a_partition_count_changed(files: ViewFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """KOPS-4: it isn't tried again: what it would read is no longer all there is."""

    def changed(_reader: MemoryReader, _limit: int, _timeout: float) -> list[Recorded]:
        raise TopologyError("results: 12 partitions found, agreed are 8")

    monkeypatch.setattr(MemoryReader, "poll", changed)
    with pytest.raises(TopologyError, match="12 partitions found, agreed are 8"):
        run(MemoryLog(), files, Event())
