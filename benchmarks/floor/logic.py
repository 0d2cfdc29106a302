"""The script's logic: a dict per workflow, one step per input. Nothing is checked. Pure but for fresh ids."""

import json
from typing import Any
from uuid import uuid4

from benchmarks.floor.events import WORKER, Event, new

Out = list[tuple[str, bytes, Event]]
"""Topic, key and event of each record that follows from one input."""


class Logic:
    """All workflows; `full` plays Remit's claims and the inspection of the last result too (29 events, not 19)."""

    def __init__(self, *, full: bool) -> None:
        """Start with nothing."""
        self.full = full
        self._states: dict[str, dict[str, Any]] = {}

    def take(self, topic: str, event: Event, place: tuple[int, int], now: int) -> Out:
        """What follows from one input; `place` is its partition and offset."""
        following = _Following(event, place, now)
        if topic == "contracts":
            self._begin(event, following)
        elif topic == "leases":
            state = self._states[event["workflow_id"]]
            if state["tasks"][event["task_id"]] == "offered":  # its result may have been read first
                state["tasks"][event["task_id"]] = "running"
            following.transition(state, "claimed", event)
        elif topic == "results":
            self._result(event, following)
        else:
            self._complete(self._states[event["workflow_id"]], event, following)
        return following.out

    def _begin(self, event: Event, following: "_Following") -> None:
        document = json.loads(event["document"])
        tasks = dict.fromkeys(document["tasks"], "waiting")
        state = {"sequence": 0, "tasks": tasks, "document": document, "outputs": {}}
        self._states[event["workflow_id"]] = state
        following.transition(state, "contract_accepted", event, document=event["document"])
        self._offer_ready(state, following)

    def _result(self, event: Event, following: "_Following") -> None:
        state = self._states[event["workflow_id"]]
        state["outputs"][event["task_id"]] = event["output"]
        if self.full and event["task_id"] == next(reversed(state["tasks"])):
            following.transition(state, "inspection_requested", event)
        else:
            self._complete(state, event, following)

    def _complete(self, state: dict[str, Any], event: Event, following: "_Following") -> None:
        state["tasks"][event["task_id"]] = "completed"
        following.transition(state, "result_accepted", event, output=state["outputs"][event["task_id"]])
        if all(status == "completed" for status in state["tasks"].values()):
            following.transition(state, "workflow_accepted", event)
        else:
            self._offer_ready(state, following)

    def _offer_ready(self, state: dict[str, Any], following: "_Following") -> None:
        for task_id, task in state["document"]["tasks"].items():
            needed = task.get("depends_on", ())
            if state["tasks"][task_id] == "waiting" and all(state["tasks"][each] == "completed" for each in needed):
                state["tasks"][task_id] = "offered"
                following.offer(state, task_id, {each: state["outputs"][each] for each in needed})


class _Following:
    """What follows from one input."""

    def __init__(self, cause: Event, place: tuple[int, int], now: int) -> None:
        self._cause, self._place, self._now = cause, place, now
        self._key = f"bench/{cause['workflow_id']}".encode()
        self.out: Out = []

    def transition(self, state: dict[str, Any], kind: str, about: Event, **said: Any) -> None:  # noqa: ANN401
        state["sequence"] += 1
        fields = {
            "sequence": state["sequence"],
            "version": state["sequence"],
            "cause_id": self._cause["event_id"],
            "cause_partition": self._place[0],
            "cause_offset": self._place[1],
            "status": state["tasks"].get(about.get("task_id")),
            **{name: about.get(name) for name in ("task_id", "worker_id", "attempt_id")},
        }
        event = new(kind, self._cause["workflow_id"], "supervisor/s1", self._now, **fields, **said)
        self.out.append(("transitions", self._key, event))

    def offer(self, state: dict[str, Any], task_id: str, inputs: dict[str, str]) -> None:
        about = {"task_id": task_id, "worker_id": WORKER, "attempt_id": str(uuid4())}
        self.transition(state, "dispatched", about)
        said = {
            "pool": "bench",
            "fencing_token": state["sequence"],
            "contract": json.dumps(state["document"]["tasks"][task_id]),
            "inputs": json.dumps(inputs),
        }
        event = new("offer", self._cause["workflow_id"], "supervisor/s1", self._now, **about, **said)
        self.out.append(("dispatches", WORKER.encode(), event))
