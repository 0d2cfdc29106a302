"""Random histories through the pure core: whatever comes, in whatever order, no law of the design is broken."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from remit.events import inputs as events
from remit.events.base import Evidence, ObservedBy, Usage
from remit.events.service import Dispatch
from remit.events.transitions import TransitionKind
from supervisor.limits import open_attempts
from tests.supervisor import bodies
from tests.supervisor.lab import Lab, document

WORKERS = {"c1": "coders", "c2": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}
Body = Callable[[Dispatch, Lab], events.ResultBody | None]
GOOD = "good"
BODIES: Mapping[str, Body] = {
    GOOD: bodies.good,
    "defect": bodies.defect,
    "exit 1": partial(bodies.with_evidence, exit_status=1),
    "no exit": partial(bodies.with_evidence, exit_status=None, subject=None),
    "no evidence": partial(bodies.good, evidence=()),
    "own words": partial(bodies.with_evidence, observed_by=ObservedBy.WORKER, subject=None, checks=()),
    "not its task": partial(bodies.with_evidence, task_id="other"),
    "undeclared": partial(bodies.good, output='{"other": 1}'),
    "deep": partial(bodies.good, output="[" * 5000),
    "greedy": partial(bodies.good, usage=Usage(tokens_in=50_000)),
    "silent on usage": partial(bodies.good, usage=None),
    "negative": partial(bodies.good, usage=Usage(tokens_in=-5000)),
    "stale inputs": partial(bodies.good, input_versions=()),
    "malformed": lambda *_: None,
    "failed": partial(bodies.failed, retry_after_seconds=5),
    "failed for good": partial(bodies.failed, error_class="PERMANENT_FAILED"),
    "blocked": partial(bodies.blocked, reason="capability"),
    "ambiguous": partial(bodies.blocked, reason="ambiguity"),
    "needs review": bodies.needs_review,
}
MEETS = {GOOD, "silent on usage"}
MEETS_UNRUN = {
    ("code", "defect"),
    ("code", "exit 1"),
    ("review", "defect"),
    ("review", "exit 1"),
    ("review", "no exit"),
}
"""No command stands behind a revision or a review, so its exit status says nothing."""
FORGED: tuple[dict[str, Any], ...] = (
    {"fencing_token": 1},
    {"worker_id": "stranger"},
    {"incarnation": bodies.STRANGER},
    {"contract_sha256": "0" * 64},
    {"attempt_id": bodies.STRANGER},
    {"task_id": "other"},
    {"submission": 2},
)

an_offer = st.integers(0, 2)
WORKING = {
    "assign": st.tuples(st.just("assign")),
    "claim": st.tuples(st.just("claim"), an_offer),
    "renew": st.tuples(st.just("renew"), an_offer, st.integers(0, 3000), st.integers(0, 3)),
    "work": st.tuples(st.just("work"), st.just(0), st.just(GOOD)),
    "defect": st.tuples(st.just("work"), st.just(0), st.just("defect")),
    "result": st.tuples(st.just("send"), st.just(0), st.sampled_from(sorted(BODIES))),
    "inspect": st.tuples(st.just("inspect"), st.just("match")),
    "forward": st.tuples(st.just("forward"), st.sampled_from([1, 1, 1, 5, 11, 31])),
}
FAILING = {
    "early": st.tuples(st.just("result"), an_offer, st.sampled_from(sorted(BODIES))),
    "decline": st.tuples(st.just("decline"), an_offer),
    "forged": st.tuples(st.just("forged"), an_offer, st.sampled_from(FORGED)),
    "unseen": st.tuples(st.just("inspect"), st.sampled_from(["missing", "unreachable"])),
    "wait": st.tuples(st.just("forward"), st.sampled_from([61, 301, 601, 3600])),
    "replace": st.tuples(st.just("replace"), st.sampled_from(sorted(WORKERS))),
    "approve": st.tuples(st.just("approve")),
    "receipt": st.tuples(st.just("receipt")),
    "resubmit": st.tuples(st.just("resubmit"), st.booleans()),
    "restart": st.tuples(st.just("restart")),
}
ENDING = {
    "doubt": st.tuples(st.just("doubt")),
    "cancel": st.tuples(st.just("cancel"), st.sampled_from(["lint", "review", "test", "code", "nothing"])),
    "stop": st.tuples(st.just("stop")),
}
NAMES = [*sorted(WORKING) * 12, *["work", "result"] * 20, *sorted(FAILING) * 3, *sorted(ENDING)]
moves = st.sampled_from(NAMES).flatmap((WORKING | FAILING | ENDING).__getitem__)
gentle = st.sampled_from(NAMES[: -len(ENDING)]).flatmap((WORKING | FAILING).__getitem__)


class History:
    """Plays moves on the bench, and remembers which results may be accepted."""

    def __init__(self) -> None:
        self.lab = Lab()
        self.meets: set[Any] = set()  # attempts whose only accepted result may be this
        for worker_id, pool in WORKERS.items():
            self.lab.register(worker_id, pool)
        self.lab.submit()

    def play(self, move: tuple[Any, ...]) -> None:
        name, *said = move
        if name in {"claim", "decline", "renew", "work", "send", "result", "forged"}:
            if not self.lab.offers:
                self.lab.assign()
            if self.lab.offers:
                getattr(self, name)(self.lab.offers[-1 - said[0] % len(self.lab.offers)], *said[1:])
        else:
            getattr(self, name)(*said)

    def assign(self) -> None:
        self.lab.assign()

    def claim(self, offer: Dispatch) -> None:
        self.lab.lease(offer, "claim")

    def decline(self, offer: Dispatch) -> None:
        self.lab.lease(offer, "decline", reason="busy")

    def renew(self, offer: Dispatch, tokens: int, progress: int) -> None:
        self.lab.renew(offer, Usage(tokens_in=tokens), progress)

    def work(self, offer: Dispatch, kind: str) -> None:
        """A worker as it should be: claims, works, sends, is inspected."""
        self.lab.lease(offer, "claim")
        self.result(offer, kind)
        while any(phase.attempt_id == offer.attempt_id for _, phase in self.lab.reviews()):
            self.lab.inspect(task_id=offer.task_id)
        self.lab.assign()

    def send(self, offer: Dispatch, kind: str) -> None:
        """Claim if it still can, and send a result."""
        self.lab.lease(offer, "claim")
        self.result(offer, kind)

    def result(self, offer: Dispatch, kind: str) -> None:
        if kind in MEETS or (offer.task_id, kind) in MEETS_UNRUN:
            self.meets.add(offer.attempt_id)
        self.lab.result(offer, BODIES[kind](offer, self.lab))

    def forged(self, offer: Dispatch, said: dict[str, Any]) -> None:
        if "submission" in said:
            self.meets.add(offer.attempt_id)
        self.lab.result(offer, bodies.good(offer, self.lab), **said)

    def inspect(self, verdict: str) -> None:
        if self.lab.reviews():
            self.lab.inspect(verdict)

    def doubt(self) -> None:
        if self.lab.reviews():
            self.lab.inspect("mismatch", only="secrets")

    def forward(self, seconds: int) -> None:
        self.lab.forward(seconds)

    def replace(self, worker_id: str) -> None:
        self.lab.register(worker_id, WORKERS[worker_id])
        self.lab.forward(0)

    def cancel(self, task_id: str) -> None:
        self.lab.cancel(task_id)

    def stop(self) -> None:
        self.lab.cancel()

    def approve(self) -> None:
        self.lab.receive(events.Decision, "decisions", kind=events.DecisionKind.APPROVE, person="user:sam")

    def receipt(self) -> None:
        said = {"effect_id": "merge", "effect_key": "k", "target": "main", "content_sha256": "0" * 64}
        numbers = {"authorised_sequence": 3, "effect_attempt": 1}
        self.lab.receive(events.Receipt, "receipts", kind=events.ReceiptKind.APPLIED, **said, **numbers)

    def resubmit(self, same: bool) -> None:
        self.lab.submit(document() if same else document(objective="Other"))

    def restart(self) -> None:
        self.lab.restart()


def check(history: History) -> None:
    """Law 10, and the state against its replay."""
    lab = history.lab
    lab.check_replay()
    accepted = [each for each in lab.history if each.kind is TransitionKind.RESULT_ACCEPTED]
    assert all(each.attempt_id in history.meets for each in accepted), "accepted on evidence that does not meet"
    if "workflow_accepted" in lab.kinds:
        revisions = {
            each.subject.revision
            for task in ("code", "test", "review")
            for each in _evidence(lab, task)
            if each.subject
        }
        assert len(revisions) == 1, "not all final checks speak of one revision"


def _evidence(lab: Lab, task_id: str) -> tuple[Evidence, ...]:
    return lab.workflow.tasks[task_id].evidence


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(moves, max_size=40))
def test_no_history_breaks_a_law(played: list[tuple[Any, ...]]) -> None:
    """Laws 1 to 7 and 10 hold under any interleaving of what clients, workers, inspectors, time and crashes do."""
    history = History()
    for move in played:
        history.play(move)
    note(" ".join(history.lab.kinds))
    check(history)


def to_its_end(history: History, way: Callable[[], str]) -> None:
    """Leave a history to workers that answer in one `way` after another, and to time."""
    lab = history.lab
    for _ in range(200):
        if not lab.workflow.open:
            break
        lab.assign()
        waiting = [each.attempt_id for each in open_attempts(lab.workflow) if each.number == 0]
        for offer in [each for each in lab.offers if each.attempt_id in waiting]:
            history.work(offer, way())
        lab.forward(30)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(gentle, max_size=15), st.data())
def test_every_history_comes_to_an_end_or_to_a_person(played: list[tuple[Any, ...]], data: st.DataObject) -> None:
    """Law 6, to the end: left to good workers and to time, a workflow ends or a named person has it."""
    history = History()
    for move in played:
        history.play(move)
    to_its_end(history, lambda: data.draw(st.sampled_from([GOOD, GOOD, "defect", "failed"])))
    check(history)
    assert not history.lab.workflow.open or history.lab.workflow.status.value == "escalated"
