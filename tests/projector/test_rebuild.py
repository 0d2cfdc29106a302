"""Rebuild and check: the log alone makes the database, and only reads are made."""

import shutil
from pathlib import Path
from threading import Event

import pytest

from projector.rebuild import build, check, rebuild
from projector.service import only_one, run
from projector.store import Store, StoreBusyError, StoreVersionError
from remit.errors import HistoryGapError, RefusedError
from remit.events.transitions import Recovery
from remit.log.memory import MemoryLog, MemorySession
from remit.log.protocols import Message, Partition
from remit.reading import ViewFiles
from remit.topics import INPUTS, Topic
from tests.projector.driving import ask, differences, project
from tests.projector.histories import History, message, mixed_log, ticking


def ends(log: MemoryLog) -> dict[Partition, int]:
    """End of every partition of every topic."""
    single = {Topic.WORKERS, Topic.LIVENESS, Topic.POLICIES}
    return log.reader().ends(
        Partition(topic, number) for topic in Topic for number in range(1 if topic in single else log.partitions)
    )


def test_check_finds_nothing(files: ViewFiles) -> None:
    """A live database and its rebuild are identical, and the digest is that of both."""
    log = mixed_log(range(5))
    project(log, files.database)
    verdict = check(log, files)
    assert verdict.differences == ()
    assert verdict.compared == str(files.database)
    assert len(verdict.digest) == 64


def test_check_stops_where_the_live_one_stands(files: ViewFiles) -> None:
    """Records that came after the live database's positions are no difference."""
    log = mixed_log(range(3))
    project(log, files.database)
    log.writer().append([message(event) for event in History("later").run("a").events])
    assert check(log, files).differences == ()


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[MemoryLog, Path]:
    """A log in which an attempt was refused, and its database."""
    history = History()
    history.accept_contract("a")
    attempt = history.dispatch("a")
    history.claim("a", attempt)
    history.refuse("a", attempt, Recovery.RETRY)
    log = MemoryLog(clock=ticking())
    log.writer().append([message(event) for event in history.events])
    path = tmp_path_factory.mktemp("refused") / "db.duckdb"
    project(log, path)
    return log, path


W1 = "tenant_id=default, workflow_id=w1"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE tasks SET status = 'completed'", f"tasks {W1}, task_id=a: differs in status"),
        ("DELETE FROM costs", f"costs {W1}, sequence=4: is missing"),
        ("INSERT INTO routes FROM routes LIMIT 1", f"routes {W1}, sequence=2, ordinal=1: is not what the log says"),
        ("UPDATE meta SET newest_event_at = NULL", "meta (its one row): differs in newest_event_at"),
        ("DROP TABLE evidence CASCADE", "evidence : the table is missing"),
    ],
)
def test_check_names_table_and_row(refused: tuple[MemoryLog, Path], files: ViewFiles, change: str, found: str) -> None:
    """One changed cell, a row too few, a row too many: each is named."""
    log, database = refused
    files.database.parent.mkdir(parents=True)
    shutil.copyfile(database, files.database)
    with Store(files.database) as store:
        store._connection.execute(change)
    assert [str(each) for each in check(log, files).differences] == [found]


def test_check_while_a_projector_runs(files: ViewFiles) -> None:
    """The published copy is compared while the live database is in use."""
    log = mixed_log(range(2))
    rebuild(log, files)
    with only_one(files.lock), Store(files.database):
        verdict = check(log, files)
    assert verdict.compared == str(files.published)
    assert verdict.differences == ()


def test_check_reads_what_a_kill_left_behind(files: ViewFiles, tmp_path: Path) -> None:
    """Committed rows that are still in the write-ahead file count as the live database's."""
    log = mixed_log(range(2))
    project(log, tmp_path / "killed.duckdb")
    with Store(tmp_path / "killed.duckdb") as store:
        store._connection.execute("UPDATE workflows SET owner = 'x' WHERE workflow_id = 'w0'")
        wal = tmp_path / "killed.duckdb.wal"
        files.database.parent.mkdir(parents=True)
        # A copy without the lock, as a killed process leaves it.
        files.database.write_bytes((tmp_path / "killed.duckdb").read_bytes())
        files.database.with_name("remit.duckdb.wal").write_bytes(wal.read_bytes())
    assert [each.table for each in check(log, files).differences] == ["workflows"]


def test_rebuild_replaces_and_writes_nothing(files: ViewFiles) -> None:
    """A rebuild mends a spoilt database, twice alike, and leaves no record on any topic (IDEM-5)."""
    log = mixed_log(range(5))
    project(log, files.database)
    with Store(files.database) as store:
        store._connection.execute("UPDATE workflows SET owner = 'somebody else'")
    before = ends(log)
    counts = {rebuild(log, files) for _ in range(2)}
    assert len(counts) == 1
    assert ends(log) == before
    assert check(log, files).differences == ()
    assert differences(files.published, files.database) == []
    log.writer().append([message(event) for event in History("later").run("a").events])
    project(log, files.database)
    assert ask(files.database, "SELECT status FROM workflows WHERE workflow_id = 'later'") == [("accepted",)]


def test_rebuild_refuses_beside_a_projector(files: ViewFiles) -> None:
    """The projector must not run while its database is replaced."""
    with only_one(files.lock), pytest.raises(StoreBusyError):
        rebuild(mixed_log([1]), files)


def test_another_version_is_refused(files: ViewFiles) -> None:
    """A database of another projection version says what to do, and a rebuild does it."""
    log = mixed_log([1])
    project(log, files.database)
    with Store(files.database) as store:
        store._connection.execute("UPDATE meta SET projection_version = 0")
    with pytest.raises(StoreVersionError, match="remit rebuild"):
        Store(files.database)
    rebuild(log, files)
    Store(files.database).close()


def serving(log: MemoryLog) -> MemorySession:
    """A session that may step."""
    session = log.session("s-0")
    while not session.shards:
        session.poll(1, 0.0)
    session.resume({Partition(topic, number): 0 for topic in INPUTS for number in range(log.partitions)})
    return session


class TestTails:
    """Catch-ups end by themselves on whatever a topic ends with."""

    @pytest.fixture
    def log(self) -> MemoryLog:
        """Tails: a commit marker, an aborted transaction behind records, only aborted records, nothing."""
        log = MemoryLog(clock=ticking())
        history = History().run("a")
        log.writer().append([message(event) for event in history.events[:-1]])
        home = message(history.events[0])
        (garbage,) = log.writer().append([Message(Topic.RESULTS, home.key, b"")])
        offsets = {Partition(Topic.CONTRACTS, number): 0 for number in range(log.partitions)}
        serving(log).step([message(history.events[-1])], offsets)
        elsewhere = (garbage.partition + 1) % log.partitions
        for partition in (garbage.partition, elsewhere):
            aborted = [Message(Topic.TRANSITIONS, home.key, b"aborted", partition)] * 5
            serving(log).prepare(aborted, offsets).abort()
        return log

    def test_rebuild_ends(self, log: MemoryLog, tmp_path: Path) -> None:
        """A rebuild ends, with no lag, and shows nothing that was aborted (KTXN-5)."""
        build(log, tmp_path / "db.duckdb")
        positions = dict(ask(tmp_path / "db.duckdb", "SELECT (topic, partition)::VARCHAR, next_offset FROM offsets"))
        behind = {p: end for p, end in ends(log).items() if positions.get(f"({p.topic}, {p.number})", end) != end}
        assert behind == {}
        assert ask(tmp_path / "db.duckdb", "SELECT status FROM workflows") == [("accepted",)]
        assert ask(tmp_path / "db.duckdb", "SELECT topic FROM skipped") == [("results",)]

    def test_the_projector_reaches_the_end(self, log: MemoryLog, files: ViewFiles) -> None:
        """The running projector stores positions behind markers and aborted records, and a check agrees (KTXN-5)."""
        project(log, files.database)
        assert check(log, files).differences == ()


class TestGaps:
    """History that the log no longer holds."""

    @pytest.fixture
    def gapped(self) -> MemoryLog:
        """A log that lost the first records of one partition."""
        log = mixed_log(range(3))
        full = max((p for p in ends(log) if p.topic == Topic.TRANSITIONS), key=ends(log).__getitem__)
        log.delete_before(full, 3)
        return log

    def test_a_fresh_start_is_refused(self, gapped: MemoryLog, files: ViewFiles) -> None:
        """Projector and rebuild name topic, partition, expected and earliest offset, and write no file (KOPS-1)."""
        words = r"transitions\[\d\]: expected offset 0, the earliest available is 3"
        with pytest.raises(HistoryGapError, match=words) as refused:
            run(gapped, files, Event())
        assert refused.value.exit_code != 0
        with pytest.raises(HistoryGapError, match=words):
            rebuild(gapped, files)
        assert not files.database.exists()
        assert not files.published.exists()

    def test_a_stored_position_below_is_refused(self, files: ViewFiles) -> None:
        """A projector that fell behind the earliest offset refuses and changes nothing (KOPS-1)."""
        log = mixed_log(range(3))
        project(log, files.database)
        partition = max((p for p in ends(log) if p.topic == Topic.TRANSITIONS), key=ends(log).__getitem__)
        log.writer().append([Message(partition.topic, b"x", b"", partition.number)] * 3)
        log.delete_before(partition, ends(log)[partition])
        before = ask(files.database, "FROM offsets ORDER BY ALL")
        with pytest.raises(HistoryGapError, match="expected offset"):
            run(log, files, Event())
        assert ask(files.database, "FROM offsets ORDER BY ALL") == before

    def test_an_accepted_gap_is_recorded(self, gapped: MemoryLog, tmp_path: Path) -> None:
        """An operator may go on without; the gap stays on record (KOPS-1)."""
        build(gapped, tmp_path / "db.duckdb", accept_gaps=True)
        assert ask(tmp_path / "db.duckdb", "SELECT topic, expected_offset, earliest_offset FROM gaps") == [
            ("transitions", 0, 3)
        ]

    def test_another_log_is_refused(self, files: ViewFiles) -> None:
        """A log that ends before the stored positions is not the one that the database was made from."""
        project(mixed_log(range(3)), files.database)
        with pytest.raises(RefusedError, match="not its log"):
            run(MemoryLog(), files, Event())
