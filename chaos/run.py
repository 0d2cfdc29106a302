"""One run: everything is started, faults are done to it, it comes to rest, and what must hold is checked."""

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from remit.cli.embedded import furnish
from remit.client.policies import in_force
from remit.errors import LogError
from remit.log.kafka.log import KafkaLog
from remit.settings import BOOTSTRAP_VARIABLE, load

from . import plants, restarts, talk, views
from .actors import Actor
from .clients import Clients
from .ground import Ground
from .history import History, Key, read
from .invariants import CHECKS
from .invariants.inputs import undecided
from .invariants.outcomes import reasons
from .people import People
from .plants import PLANTS
from .schedule import Fault, schedule
from .watcher import Watcher
from .worker import POOL, VERIFIERS
from .workload import policy

TICK_S = 0.1
KILLS, WORKFLOWS = 100, 500
"""What a run of five minutes on two cores is to reach at least."""
TELL_S = 10.0
BELOW = frozenset({"broker", "store"})
Say = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """What to run: all of it decided by these."""

    seed: int
    seconds: float
    supervisors: int = 3
    workers: int = 3
    rate: float = 8.0
    open_at_once: int = 150
    settle_seconds: float = 150.0
    plant: str | None = None


@dataclass
class Outcome:
    """What a run came to: counts of what was done, and the violations of each invariant."""

    counts: Counter[str] = field(default_factory=Counter)
    violations: dict[str, list[str]] = field(default_factory=dict)
    workflows: Counter[str] = field(default_factory=Counter)
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def kills(self) -> int:
        """How many processes were killed, those that killed themselves at a point among them."""
        return sum(count for what, count in self.counts.items() if what.startswith("kill "))

    @property
    def stops(self) -> int:
        """How many processes were stopped and resumed."""
        return sum(count for what, count in self.counts.items() if what.startswith("stop "))

    @property
    def reached(self) -> bool:
        """Whether it killed as much, over as many workflows, as a long run is to."""
        return self.kills >= KILLS and self.workflows.total() >= WORKFLOWS

    @property
    def held(self) -> bool:
        """Whether every invariant holds."""
        return not any(self.violations.values())


class Run:
    """The actors of one run in one home folder."""

    def __init__(self, wanted: Wanted, home: Path, say: Say) -> None:
        """Start the broker, make topics and policy; nothing else runs yet."""
        self._wanted, self._home, self._say = wanted, home, say
        self.outcome = Outcome()
        self.history, self.submitted = History(), list[Key]()
        (home / "logs").mkdir(parents=True, exist_ok=True)
        self._ground = Ground(home, self.outcome.counts)
        settings = load(bootstrap=self._ground.bootstrap, home=home)
        furnish(settings, policy())
        self._log = KafkaLog.from_settings(settings)
        self._env = {
            **os.environ,
            BOOTSTRAP_VARIABLE: self._ground.bootstrap,
            "REMIT_HOME": str(home),
            "PYTHONUNBUFFERED": "1",
            **({plants.VARIABLE: wanted.plant} if wanted.plant else {}),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
        }
        self._actors = {each.target: each for each in self._cast()}
        rules = in_force(self._log)
        if rules is None:
            raise LogError("the policy that was applied is not there")
        self._watcher = Watcher(self._log)
        self._people = People(self._log, self._watcher, wanted.seed)
        self._clients = Clients(
            self._log, rules, self._watcher, seed=wanted.seed, rate=wanted.rate, open_at_once=wanted.open_at_once
        )

    def _cast(self) -> list[Actor]:
        def actor(target: str, *argv: str) -> Actor:
            return Actor(target, ["-m", *argv], self._home, self._env, self.outcome.counts)

        wanted = self._wanted
        supervisors = [
            actor(f"supervisor-{number}", "chaos.supervisor", "--name", "{name}")
            for number in range(1, wanted.supervisors + 1)
        ]
        for each in supervisors:
            each.seed = wanted.seed
            each.orders = PLANTS[wanted.plant].orders if wanted.plant else each.orders
        workers = [
            actor(f"worker-{n}", "chaos.worker", "--pool", POOL, "--id", f"worker-{n}")
            for n in range(1, wanted.workers + 1)
        ]
        verifier = actor("verifier", "chaos.worker", "--pool", VERIFIERS, "--id", "verifier", "--no-model")
        return [*supervisors, *workers, verifier, actor("projector", "remit.cli", "projector", "run")]

    def go(self) -> Outcome:
        """All of it."""
        began = time.monotonic()
        self._watcher.start()
        self._clients.start()
        self._people.start()
        self._faults(began)
        self.outcome.figures["seconds of faults"] = time.monotonic() - began
        history = self._rest()
        self.outcome.figures["seconds to come to rest"] = (
            time.monotonic() - began - self.outcome.figures["seconds of faults"]
        )
        self._check(history)
        self.history, self.submitted = history, self._clients.submitted
        return self.outcome

    def close(self) -> None:
        """Stop all that was started."""
        self._people.stop()
        self._watcher.stop()
        for each in self._actors.values():
            each.close()
        self._log.close()
        self._ground.close()

    def _faults(self, began: float) -> None:
        wanted = self._wanted
        coming = list(schedule(wanted.seed, wanted.seconds, wanted.supervisors, wanted.workers))
        if wanted.plant and PLANTS[wanted.plant].alone:
            coming = []
        told = began
        while (now := time.monotonic()) < began + wanted.seconds:
            while coming and coming[0].at <= now - began:
                self._do(coming.pop(0), now)
            self._watch(now)
            if now - told > TELL_S:
                told = now
                self._tell(now - began)
            time.sleep(TICK_S)

    def _do(self, fault: Fault, now: float) -> None:
        if fault.target in BELOW:
            self._ground.take(fault, now)
        else:
            self._actors[fault.target].take(fault, now)

    def _watch(self, now: float) -> None:
        self._ground.watch(now)
        for each in self._actors.values():
            each.watch(now)

    def _tell(self, at: float) -> None:
        out = self.outcome
        sent, ended = len(self._clients.submitted), self._watcher.ended()
        self._say(f"{at:5.0f} s: {sent} submitted, {ended} ended, {out.kills} kills, {out.stops} stops")

    def _rest(self) -> History:
        """No more faults: everything comes back, and what is open comes to its end, if it can."""
        self._ground.calm()
        for each in self._actors.values():
            each.calm()
        deadline = time.monotonic() + self._wanted.settle_seconds
        while not self._clients.stop(TICK_S) and time.monotonic() < deadline:
            self._watch(time.monotonic())
        while (self._watcher.open(self._clients.submitted) or self._watcher.waiting()) and time.monotonic() < deadline:
            self._watch(time.monotonic())
            time.sleep(TICK_S)
        self._people.stop()
        history = read(self._log)
        while (undecided(history) or self._watcher.open(self._clients.submitted)) and time.monotonic() < deadline:
            self._watch(time.monotonic())
            time.sleep(1.0)  # between two reads of everything
            history = read(self._log)
        for name, each in self._actors.items():
            if name != "projector":
                each.close()
        return read(self._log)

    def _check(self, history: History) -> None:
        found = self.outcome.violations
        for name, check in CHECKS.items():
            found[name] = check(history, self._clients.submitted)
        found["restart from checkpoints = from zero"] = restarts.agree(self._log, self.outcome.figures)
        found["views hold all transitions"] = views.catch_up(self._home, history)
        self._actors["projector"].close()
        found["views = rebuild"] = views.rebuilt(self._home, self._env)
        found["views = log, to the penny"] = views.agree(self._home, history)
        found["accepted reports are in the store"] = views.stored(self._ground.store, history)
        found["no alarm, no trace"] = talk.alarms(self._home / "logs")
        self.outcome.workflows = reasons(history)
        self.outcome.figures |= {
            "workflows submitted": len(self._clients.submitted),
            "resent": self._clients.resent,
            "cancelled": len(self._clients.cancelled),
            "amended": self._clients.amended,
            "resolved by people": self._people.decided,
            **history.counts,
            "inputs": len(history.inputs),
            "transitions": len(history.transitions),
            "takeovers of a shard": sum(self._watcher.takeovers.values()),
        }
