"""Who gets what: deterministic, to one worker, the first rule against each other one recorded, tenants in turn."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import Mock
from uuid import uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.events import service
from remit.policy import load
from supervisor import routing
from supervisor.directory import narrowed
from supervisor.inputs import Assignment
from supervisor.load import Load
from supervisor.queued import QueuedTasks
from supervisor.routing import Alive, Registry, schedule
from supervisor.state import Workflow
from tests.supervisor.lab import NAMES, POLICY, START, Lab
from tests.supervisor.test_budget import side_by_side
from tests.supervisor.world import World, two_tasks

TEXT = POLICY.replace("testers: {", "testers: {max_parallel: 50, tools: [hammer, saw], risk_class: high, ").replace(
    "  entries:\n", '  entries:\n    dear: {per_tool_call: "9"}\n'
)


def worker(worker_id: str, pool: str = "testers", **said: Any) -> service.Worker:
    fields: dict[str, Any] = {
        "event_id": uuid5(NAMES, worker_id),
        "tenant_id": "",
        "workflow_id": "",
        "occurred_at": START,
        "producer": "test",
        "kind": service.WorkerKind.REGISTERED,
        "worker_id": worker_id,
        "incarnation": uuid5(NAMES, worker_id),
        "pool": pool,
        "capabilities": ("test",),
        "tools": ("hammer", "saw"),
        "risk_class": "high",
    }
    return service.Worker(**(fields | said))


@dataclass
class Bench:
    """Workflows that wait, and the workers there are."""

    workers: list[service.Worker]
    load: Load
    alive: dict[str, Alive]
    queued: QueuedTasks

    def schedule(self) -> list[tuple[Workflow, Assignment]]:
        policy = load.parse(TEXT)
        registry = Registry({each.worker_id: each for each in self.workers}, self.alive, 3)
        return schedule(self.queued, {load.sha256(TEXT): policy}, registry, self.load)


def workflow(tenant: str = "default", name: str = "w1", **said: Any) -> Workflow:
    lab = Lab(TEXT)
    found = lab.submit(side_by_side(3, **said))
    assert found[0].kind.value == "contract_accepted", found[0].rejection
    return replace_keys(lab.workflow, tenant, name)


def replace_keys(one: Workflow, tenant: str, name: str) -> Workflow:
    return replace(one, contract=replace(one.contract, tenant_id=tenant, workflow_id=name))


def bench(*workers: service.Worker, workflows: list[Workflow] | None = None) -> Bench:
    alive = {each.worker_id: Alive(each.slots, START) for each in workers}
    return Bench(list(workers), Load(), alive, QueuedTasks(workflows or [workflow()]))


def candidates(found: list[tuple[Workflow, Assignment]]) -> dict[str, str | None]:
    return {each.worker_id: each.excluded_by for each in found[0][1].candidates}


EXCLUDED = {
    "pool": worker("x", "coders", capabilities=("test",)),
    "capability": worker("x", capabilities=("other",)),
    "permission": worker("x", permissions={"repository": ("none",)}),
    "tools": worker("x", tools=("saw",)),
    "risk_class": worker("x", risk_class="low"),
    "not the cheapest, least loaded": worker("x", price_entry="dear"),
}


@pytest.mark.parametrize("reason", EXCLUDED)
def test_the_first_rule_that_excludes_a_worker_is_recorded(reason: str) -> None:
    """One worker is chosen; of each other one the first rule against it stands in the assignment."""
    wanted: dict[str, Any] = {"permissions": {"repository": "execute"}, "tools": ["hammer"], "risk_class": "medium"}
    made = bench(EXCLUDED[reason], worker("y"), workflows=[workflow(**wanted)])
    assert candidates(made.schedule()) == {"x": reason, "y": None}


def test_who_is_not_alive_or_has_no_slot_gets_nothing() -> None:
    """Availability is the last rule: silence, and slots that are taken."""
    made = bench(worker("a"), worker("b"), worker("c"))
    made.alive = {"b": Alive(0, START), "c": Alive(1, START)}
    assert candidates(made.schedule()) == {"a": "not_alive", "b": "no_free_slot", "c": None}


def test_a_narrowed_schema_list_excludes() -> None:
    """A worker that names the schemas that it writes gets none other."""
    schema = "{type: object, required: [report], properties: {report: {type: string}}}"
    lab = Lab(TEXT + f"output_schemas: {{s-v1: {schema}}}\n")
    lab.register("a", "testers", output_schemas=("other",))
    lab.register("b", "testers", output_schemas=("s-v1",))
    lab.submit(side_by_side(1, output_schema="s-v1"))
    lab.assign()
    assert lab.offers[0].worker_id == "b"


def test_cheapest_then_least_loaded_then_by_name() -> None:
    """The order of preference, each in turn decisive."""
    made = bench(worker("a", price_entry="dear"), worker("b", slots=9), worker("c", slots=9))
    assert made.schedule()[0][1].worker.worker_id == "b"
    made.load.give("b", "testers", START - timedelta(hours=1))
    assert made.schedule()[0][1].worker.worker_id == "c"


def test_one_task_without_a_worker_does_not_hold_up_another() -> None:
    """A task whose pool has nobody alive leaves the others of its workflow to theirs."""
    lab = Lab()
    lab.register("t1", "testers")
    wanted = side_by_side(2)
    coding = {"task_type": "code", "permissions": {"repository": "none"}}
    wanted["tasks"]["t0"] = wanted["tasks"]["t0"] | coding
    lab.submit(wanted)
    lab.assign()
    assert lab.statuses() == {"t0": "queued", "t1": "offered"}


def test_tenants_take_turns_also_from_one_free_slot_to_the_next() -> None:
    """A tenant with many workflows does not keep another's only one waiting, even where one slot frees at a time."""
    waiting = [workflow("busy", f"w{number}") for number in range(5)] + [workflow("small", "only")]
    made = bench(worker("a", slots=1), workflows=waiting)
    served = []
    for _ in range(2):
        ((chosen, _assignment),) = made.schedule()
        served.append(chosen.tenant_id)
        made.queued.serve(chosen.tenant_id)
    assert served == ["busy", "small"]


def test_ten_thousand_queued_tasks_of_one_tenant_do_not_starve_another_s_one() -> None:
    """However many wait before it, a tenant's only task is among the first two that one free slot is given to."""
    one = workflow("busy", "w0")
    waiting = [one, *(replace_keys(one, "busy", f"w{number}") for number in range(1, 3334))]
    made = bench(
        worker("a", slots=1), workflows=[*waiting, workflow("small", "only", permissions={"repository": "none"})]
    )
    assert sum(len(line) for line in made.queued.lines["busy"].values()) > 10_000
    served = []
    for _ in range(4):
        ((chosen, _assignment),) = made.schedule()
        served.append(chosen.tenant_id)
        made.queued.serve(chosen.tenant_id)
        if chosen.tenant_id == "small":
            made.queued.put(("small", "only"), None)
    assert served.index("small") <= 1
    assert served.count("busy") == 3


def test_offers_never_pass_the_free_slots_that_a_worker_last_told() -> None:
    """What it was given since it spoke is subtracted; what it counts itself by now is not counted twice."""
    made = bench(worker("a", slots=8), workflows=[workflow(name=f"w{n}") for n in range(5)])
    made.alive = {"a": Alive(3, START)}
    assert len(made.schedule()) == 3
    made.load.give("a", "testers", START + timedelta(seconds=1))
    made.load.give("a", "testers", START - timedelta(seconds=1))
    assert len(made.schedule()) == 2


def test_a_pool_s_max_parallel_and_a_workflow_s_workers_bound_what_is_out() -> None:
    """Offers stay within the pool's max_parallel; a workflow's within its own max_workers."""
    workers = {f"t{number}": "testers" for number in range(9)}
    narrow = POLICY.replace("testers: {", "testers: {max_parallel: 1, ")
    for text, whole, most in ((POLICY, {"max_workers": 2}, 2), (narrow, {}, 1)):
        lab = Lab(text)
        for worker_id, pool in workers.items():
            lab.register(worker_id, pool)
        lab.submit(side_by_side(5, whole=whole))
        lab.assign()
        assert len(lab.offers) == most


def test_a_registration_only_narrows_its_pool() -> None:
    """What a worker claims beyond its pool is cut off; what it leaves out is the pool's."""
    pool = load.parse(TEXT).pools["coders"]
    found = narrowed(worker("x", "coders", capabilities=("code", "root"), tools=("rm",), risk_class="high"), pool)
    assert (found.capabilities, found.tools, found.risk_class) == (("code",), (), "low")
    assert narrowed(worker("x", "coders", capabilities=(), tools=()), pool).capabilities == ("code",)


def test_who_waits_behind_a_full_worker_costs_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that want the same stand in one line: with a hundred behind a full worker the rules are asked once."""
    rules = Mock(wraps=routing.exclusion)
    monkeypatch.setattr(routing, "exclusion", rules)
    waiting = [replace_keys(BASE_WORKFLOW, f"t{number % 7}", f"w{number}") for number in range(100)]
    made = bench(worker("a", slots=1), workflows=waiting)
    made.alive = {"a": Alive(0, START)}
    assert made.schedule() == []
    assert rules.call_count == 1


slots = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@given(slots, st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_schedule_is_a_function_of_what_is_there(free: list[int], tenants: list[str], random: Any) -> None:
    """Deterministic whatever the order in which workers and workflows are listed; never beyond a worker's slots."""
    waiting = [replace_keys(BASE_WORKFLOW, tenant, f"w{number}") for number, tenant in enumerate(tenants)]
    workers = [worker(f"x{number}", slots=max(count, 1)) for number, count in enumerate(free)]
    made = bench(*workers, workflows=waiting)
    made.alive = {f"x{number}": Alive(count, START) for number, count in enumerate(free)}
    found = made.schedule()
    random.shuffle(made.workers)
    random.shuffle(waiting)
    made.queued = QueuedTasks(waiting)
    assert made.schedule() == found
    given_out = Counter(assignment.worker.worker_id for _, assignment in found)
    assert all(count <= free[int(worker_id[1:])] for worker_id, count in given_out.items())
    assert len(found) == min(len(waiting), sum(free))


BASE_WORKFLOW = workflow()


def test_the_dispatched_transition_carries_what_routing_saw(world: World) -> None:
    """Registry offset, worker, price values and reasons stand in the transition; settlement reads nothing else."""
    world.worker("w1")
    world.worker("w2", "review")
    world.submit(two_tasks())
    world.settle()
    dispatched = world.history()[-1].dispatch
    assert dispatched is not None
    assert (dispatched.registry_offset, dispatched.price.per_1k_tokens_in) == (2, Decimal(1))
    assert {each.worker_id: each.excluded_by for each in dispatched.candidates} == {"w1": None, "w2": "pool"}
