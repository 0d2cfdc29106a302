"""A simulated worker: it registers, shows that it is alive, meets its offers by its ways, dies and comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from msgspec.structs import replace

from remit.events.base import Usage
from remit.events.inputs import Lease, LeaseKind, Malformed, Result, ResultBody, ResultKind
from remit.events.service import Dispatch, DispatchKind, Liveness, LivenessKind, Worker, WorkerKind
from remit.topics import Topic

from .plan import Hand, dice
from .results import BODIES, LIES, USED, Work, harmless, work
from .ways import WAYS, Way

if TYPE_CHECKING:
    from remit.log.protocols import Message

    from .ground import Ground

BEAT_S = 9.0
RENEWAL_S = 3.0
CORRECTIONS = ("good", "good", "malformed", "another subject", "ignore")
STORY = Usage(tokens_in=1900, tokens_out=50, tool_calls=1)


@dataclass(eq=False)
class Job:
    """One attempt under way."""

    work: Work
    way: Way
    incarnation: UUID
    lost: bool = False
    progress: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def goes_on(self) -> bool:
        """Whether its worker still works on it."""
        return not self.lost or self.way.deaf


class WorkerHand:
    """One worker over all its processes."""

    def __init__(self, ground: Ground, hand: Hand) -> None:
        """Start its first process."""
        self.ground, self.hand = ground, hand
        self.alive = True
        self.paused_until = 0.0
        self.jobs: list[Job] = []
        self._met = 0
        self._processes = 0
        self._chance = dice("hand", ground.plan.seed, hand.worker_id)
        self._spool: list[Message] = []
        self._sent: dict[UUID, Job] = {}
        self._register()
        self._beat(self._processes)

    # its process

    def die(self, seconds: float) -> None:
        """Lose all that is under way; another process follows, which first sends what lay in the spool."""
        if self.alive:
            self.alive = False
            self.jobs.clear()
            self.ground.timeline.after(seconds, self.come_back)

    def come_back(self) -> None:
        """The next process."""
        if self.alive:
            return
        self.alive = True
        for each in self._spool[-2:]:
            self.ground.append(each)
        self._register()
        self._beat(self._processes)

    def pause(self, seconds: float) -> None:
        """Stand still, and then go on as if nothing had been."""
        self.paused_until = self.ground.timeline.now + seconds

    def leave(self, seconds: float) -> None:
        """Retire, and come back later."""
        if self.alive:
            self._write(Topic.WORKERS, Worker, kind=WorkerKind.RETIRED, slots=self.hand.slots)
            self.die(seconds)

    def _register(self) -> None:
        self._processes += 1
        self.incarnation = self.ground.new_id()
        self.since = self.ground.timeline.clock()
        self._write(Topic.WORKERS, Worker, kind=WorkerKind.REGISTERED, slots=self.hand.slots)

    def _beat(self, process: int) -> None:
        if not self.alive or process != self._processes:
            return
        if self.ground.timeline.now >= self.paused_until:
            free = max(0, self.hand.slots - len(self.jobs))
            self._write(Topic.LIVENESS, Liveness, kind=LivenessKind.ALIVE, free_slots=free)
        self.ground.timeline.after(BEAT_S, lambda: self._beat(process))

    def _write(self, topic: Topic, cls: type[Any], **said: Any) -> None:  # noqa: ANN401 - fields of the event
        me = {"worker_id": self.hand.worker_id, "incarnation": self.incarnation, "pool": self.hand.pool}
        self.ground.write(topic, cls, tenant_id="", workflow_id="", **me, **said)

    # what it is told

    def hear(self, dispatch: Dispatch) -> None:
        """Act on a message that names it."""
        if not self.alive or (dispatch.occurred_at < self.since and dispatch.kind is DispatchKind.OFFER):
            return
        if self.ground.timeline.now < self.paused_until:
            self.ground.timeline.at(self.paused_until, lambda: self.hear(dispatch))
        elif dispatch.kind is DispatchKind.OFFER:
            self._offered(dispatch)
        elif dispatch.kind in {DispatchKind.LEASE_LOST, DispatchKind.CANCEL}:
            for job in self.jobs:
                job.lost = job.lost or job.work.dispatch.attempt_id == dispatch.attempt_id
            self.jobs = [each for each in self.jobs if each.goes_on]
        elif dispatch.kind is DispatchKind.CORRECTION and dispatch.attempt_id in self._sent:
            self._correct(self._sent.pop(dispatch.attempt_id))

    def _offered(self, dispatch: Dispatch) -> None:
        made = work(dispatch, self.ground.facts, self.ground.timeline.clock())
        if made is None or any(each.work.dispatch.attempt_id == dispatch.attempt_id for each in self.jobs):
            return
        name = self._next_way()
        job = Job(made, WAYS[name], self.incarnation)
        self.ground.tell("way", self.hand.worker_id, f"{dispatch.task_id} #{dispatch.fencing_token}: {name}")
        if len(self.jobs) >= self.hand.slots or job.way.declines:
            self._lease(job, LeaseKind.DECLINE, reason="busy")
        elif job.way.claims:
            self.jobs.append(job)
            self._do(job, self._chance.uniform(0.1, 1.0) + job.way.late_s, self._claim)
        elif job.way.body is not None:
            self.jobs.append(job)
            self._do(job, self._chance.uniform(0.1, 4.0), self._send)

    def _next_way(self) -> str:
        self._met += 1
        ways = self.hand.ways
        return ways[self._met - 1] if self._met <= len(ways) and not self.ground.calm else "good"

    def _do(self, job: Job, seconds: float, action: Callable[[Job], None]) -> None:
        """Let it happen in so many seconds, if the process still lives then; later, if it stands still."""

        def act() -> None:
            if job.incarnation != self.incarnation or not self.alive or job not in self.jobs:
                return
            if self.ground.timeline.now < self.paused_until:
                self.ground.timeline.at(self.paused_until, act)
            elif job.goes_on:
                action(job)

        self.ground.timeline.after(seconds, act)

    # what it does

    def _claim(self, job: Job) -> None:
        for _ in range(job.way.times):
            self._lease(job, LeaseKind.CLAIM, usage=Usage())
        if job.way.renews:
            self._do(job, RENEWAL_S, self._renew)
        self._do(job, self._chance.uniform(*job.way.works_s), self._send)

    def _renew(self, job: Job) -> None:
        job.progress += job.way.moves
        job.usage = replace(USED, tokens_in=min(1000, 100 * (job.progress + 1)), tokens_out=0, tool_calls=1)
        for _ in range(job.way.times):
            self._lease(job, LeaseKind.RENEWED, usage=job.usage, progress=job.progress)
        self._do(job, RENEWAL_S, self._renew)

    def _lease(self, job: Job, kind: LeaseKind, **said: Any) -> None:  # noqa: ANN401 - fields of the event
        self.ground.write(Topic.LEASES, Lease, kind=kind, **self._of(job), **said)

    def _of(self, job: Job) -> dict[str, Any]:
        dispatch = job.work.dispatch
        return {
            "tenant_id": dispatch.tenant_id,
            "workflow_id": dispatch.workflow_id,
            "worker_id": self.hand.worker_id,
            "incarnation": job.incarnation,
            "task_id": dispatch.task_id,
            "attempt_id": dispatch.attempt_id,
            "fencing_token": dispatch.fencing_token,
        }

    def _send(self, job: Job) -> None:
        self.jobs.remove(job)
        if job.way.body is None:
            return
        now = self.ground.timeline.clock()
        body = BODIES[job.way.body](replace_now(job.work, now))
        result = self._result(job, body)
        if job.way.lie:
            result = LIES[job.way.lie](result)
        if job.way.true or (not job.way.lie and harmless(job.work, job.way.body)):
            self.ground.facts.true.add(result.event_id)
        sent = self.ground.send(Topic.RESULTS, result)
        self._spool.append(sent)
        self._sent[job.work.dispatch.attempt_id] = job
        for number in range(1, job.way.times):
            self.ground.timeline.after(number * self._chance.uniform(0.0, 2.0), lambda: self.ground.append(sent))
        if job.way.lie == "two stories" and isinstance(body, ResultBody):
            other = replace(result, event_id=self.ground.new_id(), result=replace(body, usage=STORY))
            self.ground.timeline.after(self._chance.uniform(0.0, 9.0), partial(self._tell_another, other))

    def _tell_another(self, other: Result) -> None:
        self.ground.send(Topic.RESULTS, other)

    def _correct(self, job: Job) -> None:
        """Mend the envelope, or send another that doesn't fit, or nothing at all."""
        name = "good" if self.ground.calm else self._chance.choice(CORRECTIONS)
        self.ground.tell("way", self.hand.worker_id, f"{job.work.dispatch.task_id} is to be mended: {name}")
        if name == "ignore":
            return
        body = BODIES[name](replace_now(job.work, self.ground.timeline.clock()))
        result = replace(self._result(job, body), submission=2)
        if name == "good" or harmless(job.work, name):
            self.ground.facts.true.add(result.event_id)
        self.ground.timeline.after(self._chance.uniform(0.1, 9.0), lambda: self._resend(job, result))

    def _resend(self, job: Job, result: Result) -> None:
        if self.alive and job.incarnation == self.incarnation:
            self._spool.append(self.ground.send(Topic.RESULTS, result))

    def _result(self, job: Job, body: ResultBody | Malformed | None) -> Result:
        return self.ground.event(
            Result,
            kind=ResultKind.SUBMITTED if isinstance(body, ResultBody) else ResultKind.MALFORMED,
            submission=1,
            state_version=job.work.dispatch.state_version,
            contract_sha256=job.work.offer.contract_sha256,
            result=body if isinstance(body, ResultBody) else None,
            malformed=body if isinstance(body, Malformed) else None,
            **self._of(job),
        )


def replace_now(made: Work, now: Any) -> Work:  # noqa: ANN401 - a time
    """The same attempt at a later time."""
    return Work(made.dispatch, made.offer, made.contract, made.facts, now)
