"""The running projector: what it publishes, who may read it meanwhile, and what it does with what it can't use."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from projector import publish
from projector.rebuild import check, rebuild
from projector.service import run
from projector.store import Store
from remit.errors import InvalidInputError, LogError, RefusedError
from remit.log.memory import MemoryLog
from remit.log.memory.log import MemoryReader
from remit.log.protocols import Log, Message, Partition, Recorded
from remit.reading import ViewFiles, open_copy
from remit.topics import Topic, shard_key
from tests.projector.driving import ask
from tests.projector.histories import History, cancel, dead_letter, message, mixed_log, policy, ticking

PATIENCE_S = 60


@contextmanager
def running(log: Log, files: ViewFiles) -> Iterator[Callable[[int], None]]:
    """A projector in a thread; gives a wait for so many records in the published copy."""
    stop, ready, published = Event(), Event(), Event()
    real = publish.Publisher.publish

    def told(publisher: publish.Publisher) -> bool:
        done = real(publisher)
        published.set()
        return done

    def wait_for(records: int) -> None:
        while True:
            published.clear()
            if files.published.exists() and ask(files.published, "SELECT sum(records) FROM offsets")[0][0] == records:
                return
            assert published.wait(PATIENCE_S)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish.Publisher, "publish", told)
        patch.setattr(publish, "EVERY_S", 0.0)
        thread = Thread(target=run, args=(log, files, stop), kwargs={"ready": ready.set})
        thread.start()
        try:
            assert ready.wait(PATIENCE_S)
            yield wait_for
        finally:
            stop.set()
            thread.join(PATIENCE_S)
    assert not thread.is_alive()


def append(log: MemoryLog, history: History) -> int:
    """Write a history; how many records it has."""
    return len(log.writer().append([message(event) for event in history.events]))


def test_what_is_published(files: ViewFiles) -> None:
    """What comes in is in the copy soon, with its freshness; a restart goes on where it stood (DUCK-1)."""
    log = MemoryLog(clock=ticking())
    with running(log, files) as wait_for:
        first = append(log, History("w1").run("a"))
        wait_for(first)
        with open_copy(files.published) as copy:
            fresh = copy.freshness()
        last = max(record.appended_at for record in everything(log))
        assert (fresh.newest_event_at, fresh.records, fresh.skipped) == (last, first, 0)
        assert sum(fresh.positions.values()) == first
    with running(log, files) as wait_for:
        wait_for(first + append(log, History("w2").run("a")))
    assert check(log, files).differences == ()


def everything(log: MemoryLog) -> list[Recorded]:
    """All transitions."""
    reader = log.reader()
    reader.assign({Partition(Topic.TRANSITIONS, number): 0 for number in range(log.partitions)})
    return [*reader.poll(10**6, 0.0)]


def test_a_reader_blocks_nobody(files: ViewFiles) -> None:
    """A process that holds the published file open stops neither the projector's writes nor its restart (DUCK-1)."""
    log = MemoryLog(clock=ticking())
    with running(log, files) as wait_for:
        wait_for(count := append(log, History("w1").run("a")))
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); input()"
    argv = [sys.executable, "-c", hold, str(files.published)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with running(log, files) as wait_for:
            wait_for(count + append(log, History("w2").run("a")))
        holder.communicate("\n")


def test_the_database_stays_locked(files: ViewFiles) -> None:
    """However often it was published, no other process can open the projector's own file (DUCK-1)."""
    log = MemoryLog(clock=ticking())
    with running(log, files) as wait_for:
        count = 0
        for number in range(3):
            count += append(log, History(f"w{number}").run("a"))
            wait_for(count)
        attempt = "import duckdb, sys; duckdb.connect(sys.argv[1])"
        refused = subprocess.run(
            [sys.executable, "-c", attempt, str(files.database)], capture_output=True, text=True, check=False
        )
        assert refused.returncode != 0
        assert "lock" in refused.stderr.lower()


def test_parallel_queries(files: ViewFiles) -> None:
    """Eight callers, each with a connection of its own, get right answers while the projector writes (DUCK-6)."""
    log = MemoryLog(clock=ticking())
    with running(log, files) as wait_for:
        count = append(log, History("w0").run("a", "b"))
        wait_for(count)

        def answers(_: int) -> set[tuple[int, int]]:
            # Twenty copies in turn: each is whole, so transitions always reconcile with positions.
            query = "SELECT count(*), (SELECT sum(records) FROM offsets) FROM transitions"
            return {ask(files.published, query)[0] for _ in range(20)}

        with ThreadPoolExecutor(8) as pool:
            found = pool.map(answers, range(8))
            for number in range(1, 10):
                count += append(log, History(f"w{number}").run("a", "b"))
            assert all(rows == records > 0 for answer in found for rows, records in answer)
        wait_for(count)


def test_a_second_projector_is_refused(files: ViewFiles) -> None:
    """Two projectors never share a database (DUCK-6)."""
    log = MemoryLog()
    with running(log, files), pytest.raises(RefusedError, match="at work already"):
        run(log, files, Event())


def test_what_cannot_be_used(files: ViewFiles) -> None:
    """Garbage of every form on every topic is counted once by its coordinates; the rest is projected (RETRY-4)."""
    log = MemoryLog(clock=ticking())
    good = message(History().run("a").events[0]).value
    garbage = [b"\x00garbage", good[: len(good) // 2], b"", good + b"x"]
    topics = [Topic.CONTRACTS, Topic.RESULTS, Topic.DECISIONS, Topic.TRANSITIONS, Topic.DEAD_LETTERS, Topic.POLICIES]
    log.writer().append([Message(topic, b"default/w1", value) for topic in topics for value in garbage])
    log.writer().append([message(cancel("w1")), message(dead_letter(1)), message(policy())])
    log.writer().append([Message(Topic.TRANSITIONS, shard_key(2), good, 2)])
    count = len(topics) * len(garbage) + 4 + append(log, History().run("a"))
    with running(log, files) as wait_for:
        wait_for(count)
    query = 'SELECT topic, count(*), count(DISTINCT (partition, "offset")) FROM skipped GROUP BY ALL ORDER BY 1'
    assert ask(files.published, query) == [
        *((topic.value, 4, 4) for topic in sorted(topics) if topic is not Topic.TRANSITIONS),
        ("transitions", 5, 5),
    ]
    assert ask(files.published, "SELECT status FROM workflows") == [("accepted",)]
    assert ask(files.published, "SELECT count(*) FROM decisions") == [(1,)]
    assert check(log, files).differences == ()


def test_a_log_that_is_away_for_a_while(files: ViewFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that can't be read is tried again from the stored position; nothing is lost or doubled."""
    monkeypatch.setattr("projector.service.RETRY_S", 0.0)
    log = MemoryLog(clock=ticking())
    count = append(log, History().run("a"))
    real, failures = MemoryReader.poll, iter([True, False, True])

    def flaky(reader: MemoryReader, _limit: int, timeout: float) -> list[Recorded]:
        if next(failures, False):
            raise LogError("all brokers are down")
        return real(reader, 3, timeout)

    monkeypatch.setattr(MemoryReader, "poll", flaky)
    with running(log, files) as wait_for:
        wait_for(count)
    monkeypatch.undo()
    assert check(log, files).differences == ()


def test_a_copy_that_cannot_be_written(files: ViewFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """When publishing fails the last copy stays whole, and the next attempt brings it up to date."""
    log = MemoryLog(clock=ticking())
    with running(log, files) as wait_for:
        wait_for(count := append(log, History("w1").run("a")))
        failed = Event()
        real = publish.copy_by_child

        def full(*_: object) -> None:
            failed.set()
            raise OSError("no space left on device")

        monkeypatch.setattr(publish, "copy_by_child", full)
        count += append(log, History("w2").run("a"))
        assert failed.wait(PATIENCE_S)
        assert ask(files.published, "SELECT workflow_id FROM workflows") == [("w1",)]
        monkeypatch.setattr(publish, "copy_by_child", real)
        wait_for(count)


def test_publishing_keeps_its_distance(files: ViewFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is new is published at most once a second, less often while records keep coming, and always at the end."""
    now = [100.0]
    monkeypatch.setattr("projector.publish.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(publish, "copy_whole", lambda *_: now.__setitem__(0, now[0] + 0.5))
    with Store(files.database) as store:
        publisher = publish.Publisher(store, files.published)
        assert publisher.publish_when_due(idle=False)
        publisher.note(changed=True)
        assert not publisher.publish_when_due(idle=True)
        now[0] += publish.EVERY_S
        assert not publisher.publish_when_due(idle=False)
        assert publisher.publish_when_due(idle=True)
        assert not publisher.publish_rest()
        publisher.note(changed=True)
        now[0] += publish.SHARE * 0.5
        assert publisher.publish_when_due(idle=False)
        publisher.note(changed=True)
        assert publisher.publish_rest()


def test_the_copy_is_read_only(files: ViewFiles) -> None:
    """Nobody can change what is published through the read edge, and a query's fault is told as the caller's."""
    rebuild(mixed_log([1]), files)
    with open_copy(files.published) as copy:
        for text in ("DELETE FROM workflows", "SELECT no_such_column FROM workflows"):
            with pytest.raises(InvalidInputError):
                copy.query(text)
