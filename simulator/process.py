"""One simulated supervisor process: started, killed, stopped and resumed, on a clock of its own, in one thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from remit.errors import FencedError

from .broker import FaultySession, ProcessLog
from .errors import KilledError, LawBrokenError
from .parts import inspector, service
from .plan import Fault, Point, dice

if TYPE_CHECKING:
    from remit.log.memory import PreparedStep
    from remit.log.protocols import Partition

    from .ground import Ground

SESSION_S = 6.0
TRANSACTION_S = 10.0
RESTART_S = 1.0
MOST_IDLE_S = 5.0


class Later(Executor):
    """Runs what it is given in the world's own order: after a while, or never if its process is gone by then."""

    def __init__(self, process: SupervisorProcess) -> None:
        """Of that process."""
        self._process = process

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - Executor's
        """Let it run soon."""
        process = self._process
        process.timeline.after(process.chance.uniform(0.0, 2.0), lambda: process.runs(lambda: fn(*args, **kwargs)))
        return Future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing runs by itself."""


class Keeper(Protocol):
    """Who looks on as processes commit and turn, and starts them anew."""

    def committed(self, process: SupervisorProcess | None) -> None:
        """A step was committed, by this process if it still lives."""

    def turned(self, process: SupervisorProcess) -> None:
        """One round of its loop is over."""

    def restart_later(self, process: SupervisorProcess, seconds: float) -> None:
        """Start another under its name, unless one has come by then."""

    def newest(self, name: str) -> SupervisorProcess:
        """The process that took the name last."""


class SupervisorProcess:
    """A supervisor under a stable name. Implements `broker.Process`."""

    def __init__(self, ground: Ground, keeper: Keeper, name: str, number: int) -> None:
        """Start; `number` tells processes of one name apart."""
        self.ground, self.keeper, self.name, self.number = ground, keeper, name, number
        self.timeline = ground.timeline
        self.chance: Random = dice("process", ground.plan.seed, name, number)
        self.alive, self.stopped = True, False
        self.ahead_s = 0.0
        self.held: dict[Partition, float] = {}
        self.crawls_until = 0.0
        self._turned = (-1, 0.0)  # the world's changes when it last turned, and when that was
        self._armed: list[Fault] = []
        self._due: list[Callable[[], Any]] = []
        log = ProcessLog(ground.log, self)
        clock = lambda: self.timeline.clock(self.ahead_s)  # noqa: E731 - a clock is a call
        look = inspector.Inspector(log.writer(), ground.facts.look, clock, name, Later(self))
        self.supervisor = service.Supervisor(log, name, ground.facts.shelf, clock, inspector=look)
        self._turn_later()

    @property
    def session(self) -> FaultySession:
        """Its session, as the simulation made it."""
        session = self.supervisor._session  # noqa: SLF001 - what was fetched and not read is nobody else's business
        assert isinstance(session, FaultySession)  # noqa: S101 - it was given no other
        return session

    @property
    def serves(self) -> bool:
        """Whether it holds shards and may go on."""
        return self.alive and not self.stopped and self.supervisor.shards is not None

    def arm(self, fault: Fault) -> None:
        """Let it happen at the next point where it can."""
        self._armed.append(fault)

    def turn(self) -> None:
        """One round of its loop."""
        if not self.alive:
            return
        if self._has_nothing_to_do():
            self._turn_later()
            return
        self._turned = (self.ground.changes, self.timeline.now)
        try:
            self.supervisor.turn(0.0)
        except KilledError:
            return
        except LawBrokenError:
            raise
        except FencedError as error:  # three times within a minute: it says so and ends
            self.ground.tell("ends", self.name, str(error))
            self.die()
            self.keeper.restart_later(self, RESTART_S)
            return
        except Exception as error:
            broke = f"{self.name} broke: {type(error).__name__}: {error}"
            raise LawBrokenError("0 (no fault of ours)", broke) from error
        self.keeper.turned(self)
        self._turn_later()

    def _has_nothing_to_do(self) -> bool:
        """Whether a turn would do nothing: a real process turns all the time, and most turns find nothing."""
        shards, (changes, at) = self.supervisor.shards, self._turned
        if shards is None or self._armed or changes != self.ground.changes or self.timeline.now - at > MOST_IDLE_S:
            return False
        due = shards.next_due()
        waits = due is None or due > self.timeline.clock(self.ahead_s)
        return waits and not shards.queued and not self.session.unread()

    def _turn_later(self) -> None:
        if self.alive:
            self.timeline.after(self.chance.uniform(0.2, self.ground.pace), self.turn)

    def runs(self, call: Callable[[], Any]) -> None:
        """Run what was put off, unless the process is gone; while it is stopped, once it goes on."""
        if self.stopped:
            self._due.append(call)
        elif self.alive:
            call()

    def reach(self, point: Point, prepared: PreparedStep | None = None) -> None:
        """Come to a point of the step; see the protocol."""
        fault = next((each for each in self._armed if each.point is point and each.kind != "abort"), None)
        if fault is None:
            return
        self._armed.remove(fault)
        self.ground.tell(fault.kind, self.name, point.value)
        if fault.kind == "kill":
            self._killed(fault, point, prepared)
        self._freeze(fault.seconds)

    def _killed(self, fault: Fault, point: Point, prepared: PreparedStep | None) -> None:
        if point is Point.ON_ITS_WAY and prepared is not None:
            self.timeline.by_broker(self.chance.uniform(0.1, 2.0), lambda: self._arrive(prepared))
        self.die()
        self.keeper.restart_later(self, fault.seconds)
        raise KilledError

    def _arrive(self, prepared: PreparedStep) -> None:
        """The commit of a process that is gone reaches the broker, if nobody ended its transaction before."""
        with suppress(FencedError):
            prepared.commit()
            self.keeper.committed(None)

    def die(self) -> None:
        """Be gone; the broker finds out later."""
        self.alive = False
        self._absent()

    def _absent(self) -> None:
        self.timeline.by_broker(SESSION_S, lambda: self._missed(self.ground.log.expire_session))
        self.timeline.by_broker(TRANSACTION_S, lambda: self._missed(self.ground.log.expire_transaction))

    def _missed(self, expire: Callable[[str], None]) -> None:
        """The broker waited long enough for it, and no other process took its name."""
        if (self.stopped or not self.alive) and self.keeper.newest(self.name) is self:
            expire(self.name)
            self.ground.changes += 1

    def _freeze(self, seconds: float) -> None:
        """Stand still where it is: the others go on, and it knows nothing of it."""
        if self.ground.depth >= 2:  # noqa: PLR2004 - as many as there are supervisors
            return
        self.stopped = True
        self._absent()
        self.ground.depth += 1
        try:
            self.timeline.run_until(self.timeline.now + seconds)
        finally:
            self.ground.depth -= 1
            self.stopped = False
        due, self._due = self._due, []
        for call in due:
            self.timeline.after(0.0, partial(self.runs, call))

    def aborts(self) -> bool:
        """Whether the next step is to be aborted."""
        fault = next((each for each in self._armed if each.kind == "abort"), None)
        if fault is None:
            return False
        self._armed.remove(fault)
        self.ground.tell("abort", self.name)
        return True

    def committed(self) -> None:
        """A step of it was committed."""
        self.keeper.committed(self)

    def disarm(self) -> None:
        """Let nothing more happen to it."""
        self._armed.clear()
        self.held.clear()
        self.ahead_s, self.crawls_until = 0.0, 0.0
