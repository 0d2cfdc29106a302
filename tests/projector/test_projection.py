"""The laws of the projection: whatever the batches, whatever comes twice, a rebuild finds the same."""

import os
import re
import tempfile
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from projector.incoming import COLUMNS
from projector.sql import columns_of, selects
from projector.store import Store
from projector.tables import IDENTITY, KEYED
from remit.events.transitions import Recovery, TaskStatus, TransitionKind, WorkflowStatus
from remit.log.memory import MemoryLog
from remit.log.protocols import Message, Partition, Recorded
from remit.topics import Topic
from tests.projector.driving import ask, ask_one, differences, project, rebuilt
from tests.projector.histories import History, message, mixed_log, ticking

SEEDS = st.lists(st.integers(0, 10**6), min_size=1, max_size=3)
# Every database costs about a second; REMIT_TEST_EXAMPLES asks for more histories.
# A counterexample is small enough as drawn: shrinking would make hundreds of databases.
EXAMPLES = int(os.environ.get("REMIT_TEST_EXAMPLES", "2"))
OWN_WORDS = {"ended", "settlement", "minutes", "offer_"}
"""What the views add: an attempt's end, kinds of bookings, and what an outcome leaves out of its kind."""
FEW = settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])


@FEW
@given(SEEDS, st.sampled_from([2, 3, 7]))
def test_rebuild_equals_incremental(seeds: list[int], size: int) -> None:
    """Whatever the history and the batch size, a rebuild gives the identical database (law 9, DUCK-3)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = mixed_log(seeds)
        project(log, folder / "live.duckdb", size)
        assert differences(folder / "live.duckdb", rebuilt(log, folder)) == []


@FEW
@given(SEEDS)
def test_twice_is_once(seeds: list[int]) -> None:
    """The same transitions appended to the log again change no table but the counts of what was read (law 9)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = mixed_log(seeds)
        project(log, folder / "once.duckdb")
        again = [Message(each.topic, each.key or b"", each.value or b"") for each in everything(log, Topic.TRANSITIONS)]
        log.writer().append(again)
        project(log, folder / "twice.duckdb")
        changed = {each.table for each in differences(folder / "twice.duckdb", folder / "once.duckdb")}
        # The garbage and the misplaced record of the log are, of course, skipped once more.
        assert changed <= {"streams", "offsets", "meta", "skipped"}
        assert ask(folder / "twice.duckdb", "SELECT sum(conflicts) FROM streams") == [(0,)]


def everything(log: MemoryLog, topic: Topic) -> list[Recorded]:
    """All records of a topic that a workflow's key leads to."""
    reader = log.reader()
    reader.assign({Partition(topic, number): 0 for number in range(log.partitions)})
    return [each for each in reader.poll(10**6, 0.0) if not (each.key or b"").startswith(b"_shard")]


def test_every_row_is_whole(tmp_path: Path) -> None:
    """Each SELECT says every column of its table and no other: what one leaves out would be null without a word."""
    made = set()
    with Store(tmp_path / "db.duckdb") as store:
        for select in selects():
            made.add(select.table)
            place = {"place"} if select.table in KEYED else set()
            for topic in select.topics:
                with store._incoming(COLUMNS[topic].whole.empty_table()):
                    found = store._connection.execute(f"DESCRIBE {select.statement}").fetchall()
                assert {name for name, *_ in found} == {*columns_of(select.table)} | place
    assert made == IDENTITY.keys() - {"skipped", "streams", "gaps", "offsets", "meta"}


def test_words_of_the_log() -> None:
    """Every kind and status that rows.sql names is one that the log has."""
    known = {each.value for kind in (TransitionKind, TaskStatus, WorkflowStatus) for each in kind}
    texts = {text for select in selects() for text in re.findall(r"'([a-z_]+)'", select.statement)}
    assert texts - known == OWN_WORDS


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_one_batch_with_all_statuses(tmp_path: Path, size: int) -> None:
    """Queued, running, awaiting_review, completed of one task in one batch end as completed, all counted (DUCK-3)."""
    history = History()
    history.accept_contract("a")
    attempt = history.dispatch("a")
    history.claim("a", attempt)
    history.request("a", attempt)
    history.accept("a", attempt)
    log = MemoryLog(clock=ticking())
    log.writer().append([message(event) for event in history.events])
    project(log, tmp_path / "db.duckdb", size)
    assert ask(tmp_path / "db.duckdb", "SELECT status, sequence FROM tasks") == [("completed", 5)]
    assert ask(tmp_path / "db.duckdb", "SELECT count(*) FROM transitions") == [(5,)]
    assert ask(tmp_path / "db.duckdb", "SELECT sum(cost_gbp) FROM costs") == [(Decimal("0.100000"),)]
    assert ask_one(tmp_path / "db.duckdb", "FROM workflow_list")["spent_gbp"] == Decimal("0.100000")
    assert ask(tmp_path / "db.duckdb", "SELECT status FROM task_changes ORDER BY sequence") == [
        ("queued",),
        ("offered",),
        ("running",),
        ("awaiting_review",),
        ("completed",),
    ]


def test_a_group_is_replaced_whole(tmp_path: Path) -> None:
    """A task that left its escalation waits for nobody and keeps no old reason, in one batch or in many."""
    history = History()
    history.accept_contract("a")
    attempt = history.dispatch("a")
    history.claim("a", attempt)
    history.refuse("a", attempt, Recovery.ESCALATE, reason="ladder_spent")
    history.add(TransitionKind.BACKOFF_ENDED, {"a": TaskStatus.QUEUED}, task_id="a")
    log = MemoryLog(clock=ticking())
    log.writer().append([message(event) for event in history.events])
    for size in (1, 1000):
        project(log, tmp_path / f"{size}.duckdb", size)
        query = "SELECT status, waits_for, reason FROM tasks"
        assert ask(tmp_path / f"{size}.duckdb", query) == [("queued", None, None)]


def test_an_amended_contract_clears_what_it_lacks(tmp_path: Path) -> None:
    """A task and a requirement that the new version lacks keep the old version's number; what it has moves on."""
    history = History()
    history.accept_contract("a", "b")
    history.accept_contract("a", version=2)
    log = MemoryLog(clock=ticking())
    log.writer().append([message(event) for event in history.events])
    project(log, tmp_path / "db.duckdb")
    assert ask(tmp_path / "db.duckdb", "SELECT task_id, contract_version FROM tasks ORDER BY ALL") == [
        ("a", 2),
        ("b", 1),
    ]
    assert ask(tmp_path / "db.duckdb", "SELECT tasks_total FROM workflow_list") == [(1,)]


def test_a_proposed_contract_holds_nowhere(tmp_path: Path) -> None:
    """What waits for a person changes no column: tasks, version and limits are those in force."""
    history = History()
    history.accept_contract("a")
    amended = history.accept_contract("a", "b", version=2)
    history.events[-1] = replace(amended, kind=TransitionKind.AMENDMENT_PROPOSED)
    log = MemoryLog(clock=ticking())
    log.writer().append([message(event) for event in history.events])
    project(log, tmp_path / "db.duckdb")
    assert ask(tmp_path / "db.duckdb", "SELECT task_id, contract_version FROM tasks") == [("a", 1)]
    assert ask(tmp_path / "db.duckdb", "SELECT contract_version FROM workflows") == [(1,)]


class TestGuard:
    """Which transitions are let in."""

    def project(self, tmp_path: Path, history: History) -> dict[str, object]:
        """The guard's row after the history."""
        log = MemoryLog(clock=ticking())
        log.writer().append([message(event) for event in history.events])
        project(log, tmp_path / "whole.duckdb")
        project(log, tmp_path / "parts.duckdb", 1)
        assert differences(tmp_path / "parts.duckdb", tmp_path / "whole.duckdb") == []
        return dict(ask_one(tmp_path / "whole.duckdb", "FROM streams"))

    def test_outdated(self, tmp_path: Path) -> None:
        """A transition of an older generation behind a newer one is ignored and counted."""
        history = History()
        history.accept_contract("a")
        history.generation = 3
        history.dispatch("a")
        history.generation, history.sequence = 2, 1
        history.dispatch("a", worker="zombie")
        row = self.project(tmp_path, history)
        assert (row["sequence"], row["outdated"], row["conflicts"]) == (2, 1, 0)
        assert ask(tmp_path / "whole.duckdb", "SELECT worker_id FROM attempts") == [("w-7",)]

    def test_repeat(self, tmp_path: Path) -> None:
        """The very same transition again is ignored and counted."""
        history = History()
        history.accept_contract("a")
        history.events.append(history.events[0])
        row = self.project(tmp_path, history)
        assert (row["sequence"], row["repeats"], row["conflict_sequence"]) == (1, 1, None)

    def test_fork(self, tmp_path: Path) -> None:
        """Another transition under a sequence that is taken freezes the workflow: nothing after it is let in."""
        history = History()
        history.accept_contract("a")
        history.dispatch("a")
        history.sequence, history.generation = 1, 2
        history.add(TransitionKind.BACKOFF_ENDED, {"a": TaskStatus.QUEUED}, task_id="a", cause=UUID(int=7))
        history.add(TransitionKind.BACKOFF_ENDED, {"a": TaskStatus.STOPPED}, task_id="a")
        row = self.project(tmp_path, history)
        assert (row["sequence"], row["conflict_sequence"], row["conflicts"]) == (2, 2, 2)
        assert ask(tmp_path / "whole.duckdb", "SELECT status FROM tasks") == [("offered",)]

    def test_gap(self, tmp_path: Path) -> None:
        """A sequence that is missing freezes the workflow."""
        history = History()
        history.accept_contract("a")
        history.sequence += 1
        history.dispatch("a")
        row = self.project(tmp_path, history)
        assert (row["sequence"], row["conflict_sequence"]) == (1, 3)
