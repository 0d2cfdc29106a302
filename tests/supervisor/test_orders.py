"""Law 8: in whatever order workflows take their turns, and whatever is delivered twice, their verdicts are the same."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st

from remit.events.transitions import Recovery
from supervisor.decide import ending, lease
from supervisor.decide.unit import Unit
from supervisor.recovery import Verdict, verdict
from supervisor.state import Offered, Task
from tests.supervisor.behaviours import BEHAVIOURS
from tests.supervisor.plays import SHAPES, Order, Script, played

ROOMY, TIGHT = 8, 1
"""Slots of a worker. With few, tasks that stand side by side in a workflow wait for others', and change their order."""


def _scripts(slots: int, behaviours: Sequence[str]) -> st.SearchStrategy[dict[str, Script]]:
    shapes = st.sampled_from([each for each in SHAPES if slots == ROOMY or each != "fork"])
    planned = st.lists(st.sampled_from(behaviours), max_size=3).map(tuple)
    script = st.builds(Script, shapes, st.fixed_dictionaries(dict.fromkeys("abc", planned)))
    return st.lists(script, min_size=2, max_size=4).map(lambda all_: {f"w{n}": each for n, each in enumerate(all_)})


def plans(behaviours: Sequence[str] = BEHAVIOURS) -> st.SearchStrategy[tuple[int, dict[str, Script]]]:
    """Slots, and up to four workflows whose workers behave like that."""
    slots = st.sampled_from([ROOMY, TIGHT])
    return slots.flatmap(lambda each: st.tuples(st.just(each), _scripts(each, behaviours)))


seeds = st.integers(0, 2**32)
shares = st.sampled_from([0.0, 0.3, 1.0])
orders = st.tuples(st.builds(Order, seeds, shares), st.builds(Order, seeds, shares))


def same(
    scripts: Mapping[str, Script], two: tuple[Order, Order], slots: int, plant: Callable[[], None] = lambda: None
) -> None:
    """Play it twice, each time with that fault, and compare."""
    found = []
    for order in two:
        plant()
        with TemporaryDirectory() as folder:
            found.append(played(Path(folder), scripts, order, slots))
    one, other = found
    for workflow_id in scripts:
        event(str(one[workflow_id]["workflow"][:2]))
        assert one[workflow_id] == other[workflow_id]


QUICK = settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],  # explaining takes minutes
    suppress_health_check=[HealthCheck.too_slow],
)


def _chain(a: tuple[str, ...] = (), b: tuple[str, ...] = ()) -> Script:
    return Script("chain", {"a": a, "b": b, "c": ()})


LOST_LAST = {
    "w0": _chain(),
    "w1": _chain(b=("malformed",)),
    "w2": _chain(("malformed",)),
    "w3": _chain(("incapable", "defect", "cut off")),
}
"""Found by a run: what the last lost attempt holds is let go only after all tasks are at rest."""
MET_WHILE_WAITING = {f"w{number}": _chain(b=("late" if number == 1 else "malformed",)) for number in range(4)}
"""Found by a run: with one slot, a worker that is late may only get its offer when the others' leases have ended."""
FAILING_TOGETHER = {f"w{number}": Script("fork", {"a": ("failed",), "b": ("failed",)}) for number in range(4)}
"""Found by a run: which of two back-offs ends first is drawn from the ids of what the workers sent."""


@QUICK
@given(plans(), orders)
@example((TIGHT, LOST_LAST), (Order(0, 0.0), Order(210566143, 0.0)))
@example((TIGHT, MET_WHILE_WAITING), (Order(0, 0.0), Order(8033, 0.0)))
@example((ROOMY, FAILING_TOGETHER), (Order(2337, 0.3), Order(353, 0.3)))
def test_order_and_redelivery_change_no_verdict(plan: tuple[int, dict[str, Script]], two: tuple[Order, Order]) -> None:
    """Law 8: status, stop reason, attempts, rounds, evidence, gate and costs of each workflow; its whole story, too."""
    slots, scripts = plan
    same(scripts, two, slots)


def _any_answer_to_an_offer(patch: pytest.MonkeyPatch) -> None:
    """A claim or a decline is not compared with the offer that is open."""

    def holds(task: Task, _attempt: object, _event: object, unit: Unit) -> bool:
        return unit.workflow.open and isinstance(task.phase, Offered)

    patch.setattr(lease, "_holds", holds)


def _counts_across_workflows(patch: pytest.MonkeyPatch) -> None:
    """Every third failure is a person's, whichever workflow it is in."""
    failures = count(1)

    def shared(*arguments: Any, **facts: Any) -> Verdict:
        found = verdict(*arguments, **facts)
        return Verdict(Recovery.ESCALATE, "attempts_exhausted") if next(failures) % 3 == 0 else found

    patch.setattr(ending, "verdict", shared)


@pytest.mark.parametrize("fault", [_any_answer_to_an_offer, _counts_across_workflows])
def test_the_property_finds_planted_faults(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A supervisor that lets a record's second coming, or another workflow, have an effect is found out."""
    faulty = partial(same, plant=partial(fault, monkeypatch))

    @settings(QUICK, max_examples=100, phases=[Phase.generate], derandomize=True, database=None)
    @given(plans(("failed", "failed", "decline", "good")), orders)
    def holds(plan: tuple[int, dict[str, Script]], two: tuple[Order, Order]) -> None:
        faulty(plan[1], two, plan[0])

    with pytest.raises(AssertionError):
        holds()
