"""One simulated world: supervisors, workers, clients and people on one ground, by a plan."""

from __future__ import annotations

from .clients import apply_policy, submit
from .ground import Ground
from .hands import WorkerHand
from .people import work_inbox
from .plan import TROUBLED_S, Plan, dice
from .policy import POLICY, VERIFYING
from .process import SupervisorProcess
from .watch import Watch

LONGEST_S = 700.0
LOOK_S = 15.0


class World:
    """One history under way. Implements `process.Keeper`."""

    def __init__(self, plan: Plan) -> None:
        """Set everything up; nothing has happened yet."""
        self.plan = plan
        self.ground = Ground(plan)
        self.hands: dict[str, WorkerHand] = {}
        self._processes: dict[str, SupervisorProcess] = {}
        self.watch = Watch(self.ground, self.hands, self.serving)
        apply_policy(self.ground, VERIFYING if plan.verifying else POLICY)
        for name in plan.supervisors:
            self.start(name)
        self.hands.update({each.worker_id: WorkerHand(self.ground, each) for each in plan.hands})
        for each in plan.submissions:
            self.ground.timeline.at(each.at, lambda each=each: submit(self.ground, each))  # type: ignore[misc]

    def run(self) -> None:
        """Trouble first, then calm until everything is at rest. LawBrokenError."""
        timeline = self.ground.timeline
        timeline.run_until(TROUBLED_S)
        self._calm_down()
        while not self.watch.at_rest():
            if timeline.now > LONGEST_S:
                self.watch.refuse_unrest()
            timeline.run_until(timeline.now + LOOK_S)
        self.watch.at_end()

    def _calm_down(self) -> None:
        """Let nothing more go wrong; what is gone comes back."""
        self.ground.calm_down()
        for name in self.plan.supervisors:
            self.newest(name).disarm()
        for hand in self.hands.values():
            hand.paused_until = 0.0
            hand.come_back()
        for seconds in (20.0, 60.0):
            self.ground.timeline.after(seconds, self._work_inbox)

    def _work_inbox(self) -> None:
        work_inbox(self.ground, self.watch.workflows(), dice("inbox", self.plan.seed, self.ground.timeline.now))

    # supervisors

    def start(self, name: str) -> None:
        """Start a process under that name, whoever else bears it."""
        known = self._processes.get(name)
        self._processes[name] = SupervisorProcess(self.ground, self, name, known.number + 1 if known else 0)

    def newest(self, name: str) -> SupervisorProcess:
        """The process that took the name last."""
        return self._processes[name]

    def restart_later(self, process: SupervisorProcess, seconds: float) -> None:
        """Start another under its name, unless one has come by then."""

        def start() -> None:
            if not self.newest(process.name).alive:
                self.ground.tell("starts", process.name, "")
                self.start(process.name)

        self.ground.timeline.after(seconds, start)

    def serving(self) -> list[SupervisorProcess]:
        """Those that hold shards and may go on."""
        return [each for each in self._processes.values() if each.serves]

    def committed(self, process: SupervisorProcess | None) -> None:
        """Look at what a process committed, or one that is gone by now."""
        self.watch.look(process)

    def turned(self, process: SupervisorProcess) -> None:
        """Look at what it holds."""
        self.watch.after_turn(process)
