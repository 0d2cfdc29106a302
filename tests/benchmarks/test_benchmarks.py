"""The benchmarks run, count what they say they count, and leave nothing behind. No figure is judged here."""

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import logic, replay, sides, table
from benchmarks.floor import events
from benchmarks.floor.logic import Logic
from remit.log.protocols import Message


def test_the_product_accepts_every_workflow_by_its_own_rules() -> None:
    """What the logic is measured on are whole workflows: 29 events each, 15 transitions, none of them a note."""
    written: list[Message] = []
    assert logic.product(3, written) > 0
    kinds = Counter(dict(each.headers)["ce_type"].decode().rpartition(".")[2] for each in written)
    of_one = {"contract_accepted": 1, "dispatched": 4, "claimed": 4, "inspection_requested": 1}
    of_one |= {"result_accepted": 4, "workflow_accepted": 1}
    of_one |= {"submitted": 5, "offer": 4, "claim": 4, "inspected": 1}  # a contract and four results, what they lead to
    assert kinds == {kind: count * 3 for kind, count in of_one.items()}


@pytest.mark.parametrize(("full", "expected"), [(False, 19), (True, 29)])
def test_the_floor_has_as_many_events_as_it_says(full: bool, expected: int) -> None:
    """19 events per workflow: no claims, no inspection; 29 with them."""
    state, count = Logic(full=full), 0
    waiting = [("contracts", events.contract_of("w1", events.document()))]
    while waiting:
        topic, event = waiting.pop(0)
        count += 1
        event = events.decode(topic, events.encode(topic, event))
        if topic == "dispatches":
            waiting += [("leases", events.claim_of(event, 0))] if full else []
            waiting.append(("results", events.result_of(event, 0)))
        elif topic == "transitions":
            asked = event["kind"] == "inspection_requested"
            waiting += [("inspections", events.inspection_of(event, 0))] if asked else []
        else:
            waiting += [(out, following) for out, _, following in state.take(topic, event, (0, count), 0)]
    assert count == expected


def test_the_table_says_what_is_reached(tmp_path: Path) -> None:
    """Each ratio stands under its key, with its reach judged, in the table and in the file."""
    one = {"ratio": 0.59, "product": 59.0, "floor": 100.0, "unit": "workflows/s"}
    found = {"logic": one, "replay": one | {"ratio": 0.6}}
    table.write(found, {}, tmp_path / "latest.json")
    document = json.loads((tmp_path / "latest.json").read_text("utf-8"))
    assert document["ratios"] == {"logic": 0.59, "replay": 0.6}
    assert document["reached"] == {"logic": False, "replay": True}
    assert [line.split()[-1] for line in table.lines(found)[1:]] == ["no", "yes"]
    assert document["durability"]["acks"] == "all"


@pytest.mark.kafka
def test_a_history_is_replayed_whole(kafka: str) -> None:
    """Floor and product read the same history; renamed workflows fold without a conflict."""
    found = replay.measure(kafka, transitions=950, rounds=1)
    assert found["transitions"] == 950
    assert found["ratio"] > 0


@pytest.mark.kafka
def test_the_script_carries_workflows_to_their_end(kafka: str, tmp_path: Path) -> None:
    """The floor's two processes accept what the driver submits, and end with it."""
    with sides.floor(kafka, tmp_path, full=True) as drive:
        run = drive(5, 5)
    assert run.workflows == len(run.latencies) == 5
