"""A time without a zone is refused by the name of the argument; every function that takes a time is found here."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import remit
from remit import grants
from remit.artefacts import ArtefactStore
from remit.cli import budgeting, clocks, explained, waiting
from remit.contract import amend, deadlines, gate, spawn
from remit.doctor import examine
from remit.doctor.checks import reading
from remit.doctor.probe_cluster import broker_time
from remit.errors import CodecError
from remit.events.envelope import new_event
from remit.events.inputs import Lease
from remit.events.service import Grant
from remit.instants import aware
from remit.log.kafka import probe
from remit.log.memory import MemoryLog
from remit.policy import load
from remit.result.subtasks import Subtask
from remit.settings import Settings
from supervisor.service import Supervisor
from tests.log.rig import message
from tests.supervisor.world import POLICY, two_tasks
from workers.config import WorkerConfig
from workers.service import Service

AWARE = datetime(2026, 7, 1, 12, tzinfo=UTC)
NAIVE = AWARE.replace(tzinfo=None)
ZONE = ZoneInfo("Asia/Karachi")
RULES = load.parse(POLICY)
MADE_FROM_RECORDS = frozenset({"remit.log.memory.store.Store.__init__"})
"""Reached through `MemoryLog` alone, which is called here."""


class Asked(probe.Probe):
    """A probe whose broker answers at once."""

    def __init__(self) -> None:
        self._settings = Settings(bootstrap="127.0.0.1:1")

    def topology(self) -> probe.Topology:
        """One broker that leads the clock's topic."""
        return probe.Topology({1: ("h", 1)}, {}, {f"remit.{probe.CLOCK_TOPIC}": {0: 1}})

    def _stamped(self, *_: object) -> datetime:
        return AWARE


def _draft(now: datetime) -> None:
    current = gate.normalise(two_tasks(), RULES, now=AWARE)
    amend.amend(current, {"schema_version": "workflow-v1"}, RULES, now=now)


def _append(clock: Callable[[], datetime]) -> None:
    MemoryLog(clock=clock).writer().append([message("results", "x")])


def _event(at: datetime) -> None:
    new_event(Lease, tenant_id="t", workflow_id="w", producer="p", clock_now=at)


def _amended(now: datetime) -> None:
    amend.amended(CURRENT, {"schema_version": "workflow-v1"}, RULES, now=now)


def _with_child(now: datetime) -> None:
    proposal = Subtask.model_validate({"id": "c", "task_type": "shell"})
    spawn.with_child(CURRENT, "a", proposal, RULES, now=now, among=3)


CURRENT = gate.normalise(two_tasks(), RULES, now=AWARE)
NOTHING: Any = None
CALLS: Mapping[tuple[str, str], Callable[[datetime], object]] = {
    ("remit.cli.budgeting.document", "now"): lambda at: budgeting.document(NOTHING, at),
    ("remit.cli.explained.queue_of", "now"): lambda at: explained.queue_of(NOTHING, NOTHING, at),
    ("remit.cli.explained.room", "now"): lambda at: explained.room(NOTHING, NOTHING, at),
    ("remit.cli.waiting.item_in_full", "now"): lambda at: waiting.item_in_full(NOTHING, NOTHING, NOTHING, at),
    ("remit.cli.waiting.open_items", "now"): lambda at: waiting.open_items(NOTHING, at),
    ("remit.contract.amend.amended", "now"): _amended,
    ("remit.contract.amend.regated", "now"): lambda at: amend.regated(CURRENT, two_tasks(), RULES, now=at),
    ("remit.contract.spawn.with_child", "now"): _with_child,
    ("remit.cli.clocks.both", "at"): lambda at: clocks.both(at, ZONE),
    ("remit.cli.clocks.clock", "at"): lambda at: clocks.clock(at, ZONE),
    ("remit.contract.amend.amend", "now"): _draft,
    ("remit.contract.deadlines.deadline_rule", "now"): lambda at: deadlines.deadline_rule("x", at, None),
    ("remit.contract.deadlines.seconds_until", "now"): lambda at: deadlines.seconds_until("2026-07-19T12:00:00Z", at),
    ("remit.contract.gate.normalise", "now"): lambda at: gate.normalise(two_tasks(), RULES, now=at),
    ("remit.doctor.checks.reading.hung_transactions", "now"): lambda at: reading.hung_transactions([], at, "b"),
    ("remit.doctor.checks.reading.lag", "now"): lambda at: reading.lag([], at),
    ("remit.doctor.examine.examine", "clock"): lambda at: examine(Settings(), Settings, lambda: at, ()),
    ("remit.doctor.probe_cluster.broker_time", "local"): lambda at: broker_time(at, {}),
    ("remit.events.envelope.new_event", "clock_now"): _event,
    ("remit.grants.expiry_fault", "now"): lambda at: grants.expiry_fault(Grant(expires_at=AWARE), at),
    ("remit.instants.aware", "at"): lambda at: aware(at, "at"),
    ("remit.log.kafka.probe.Probe.ahead", "clock"): lambda at: Asked().ahead(lambda: at),
    ("remit.log.kafka.probe.outside", "stamp"): lambda at: probe.outside(at, AWARE, AWARE),
    ("remit.log.kafka.probe.outside", "before"): lambda at: probe.outside(AWARE, at, AWARE),
    ("remit.log.kafka.probe.outside", "after"): lambda at: probe.outside(AWARE, AWARE, at),
    ("remit.log.memory.log.MemoryLog.__init__", "clock"): lambda at: _append(lambda: at),
}


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not each.name.endswith("__main__"):
            yield importlib.import_module(each.name)


def _functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, found in vars(module).items():
        if name.startswith("_") or getattr(found, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(found):
            yield f"{module.__name__}.{name}", found
        elif inspect.isclass(found):
            yield from _methods(f"{module.__name__}.{name}", found)


def _methods(path: str, cls: type) -> Iterator[tuple[str, FunctionType]]:
    """Of what is mere data, which the codec checks where it is written, not the constructor."""
    is_data = hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__struct_fields__") or issubclass(cls, tuple)
    for name, found in vars(cls).items():
        if inspect.isfunction(found) and (not name.startswith("_") or (name == "__init__" and not is_data)):
            yield f"{path}.{name}", found


def _takes_time(parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return "datetime.datetime" in text or text == "datetime"


def test_every_public_function_that_takes_a_time_is_known_here() -> None:
    """TIME-1: whoever adds one decides what it does with a time that has no zone."""
    found = {
        (path, parameter.name)
        for module in _modules(remit)
        for path, function in _functions(module)
        for parameter in inspect.signature(function).parameters.values()
        if _takes_time(parameter) and path not in MADE_FROM_RECORDS
    }
    assert found == set(CALLS)


@pytest.mark.parametrize(("path", "argument"), CALLS, ids=".".join)
def test_a_naive_time_is_refused_by_the_arguments_name(
    path: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TIME-1: it is never guessed, whatever zone the machine is in."""
    monkeypatch.setattr(probe, "TopicAdmin", lambda _: _Nothing())
    with pytest.raises((ValueError, CodecError), match=rf"^{argument}\b.*(aware|without a zone)"):
        CALLS[path, argument](NAIVE)


class _Nothing:
    def create(self, _: object) -> None:
        pass


def worker(home: Path) -> WorkerConfig:
    return WorkerConfig(pool="shell", worker_id="w", argv=("true",), home=home)


def test_a_role_s_clock_must_know_its_zone(tmp_path: Path) -> None:
    """TIME-1: supervisor and worker refuse one that doesn't as they are made: all their times come from it."""
    store = ArtefactStore(str(tmp_path))
    with pytest.raises(ValueError, match="clock must be an aware datetime"):
        Supervisor(MemoryLog(), "s1", store, lambda: NAIVE)
    with pytest.raises(ValueError, match="clock must be an aware datetime"):
        Service(MemoryLog(), worker(tmp_path), store, lambda: NAIVE)
