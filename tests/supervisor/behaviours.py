"""How a worker meets an offer, by name, and the result that goes with it."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from remit.events.base import Evidence, EvidenceForm, Usage
from remit.events.inputs import BlockedReason, ErrorClass, ResultBody, ResultStatus
from remit.events.service import Dispatch
from tests.supervisor.world import World, completed

CASE = "tests.test_it::test_expired"
USED = Usage(tokens_in=100, tokens_out=50, tool_calls=1)
BEHAVIOURS = (
    *("good", "slow", "defect", "defect", "failed", "malformed", "unproven", "late", "cut off"),
    *("decline", "ignore", "incapable", "untold", "cancel", "cancel task", "fail for good", "ambiguous"),
)
FAILED = {"evidence": (), "output": None, "status": ResultStatus.FAILED}
BLOCKED = FAILED | {"status": ResultStatus.BLOCKED}
CHANGED: Mapping[str, dict[str, Any]] = {
    "failed": FAILED | {"error_class": ErrorClass.RETRYABLE_FAILED},
    "fail for good": FAILED | {"error_class": ErrorClass.PERMANENT_FAILED},
    "incapable": BLOCKED | {"error_class": ErrorClass.PERMANENT_FAILED, "blocked_reason": BlockedReason.CAPABILITY},
    "ambiguous": BLOCKED | {"error_class": ErrorClass.NEEDS_REVIEW, "blocked_reason": BlockedReason.AMBIGUITY},
    "unproven": {"output": '{"other": 1}'},
}


def body(offer: Dispatch, world: World, behaviour: str) -> ResultBody:
    """The result that goes with a behaviour: a good one, and what is wrong with it."""
    proved = completed(offer, world, usage=USED)
    if behaviour == "defect":
        wrong = {"exit_status": 1, "failed_cases": (CASE,), "passed_cases": ()}
        return replace(proved, evidence=tuple(replace(each, **wrong) for each in proved.evidence))
    retested = {"evidence": tuple(_with_retests(offer, proved.evidence))}
    return replace(proved, **(retested | CHANGED.get(behaviour, {})))


def _with_retests(offer: Dispatch, full: tuple[Evidence, ...]) -> Iterator[Evidence]:
    """What failed in the round before is run alone first."""
    failed = {each.command: each.failed_cases for each in offer.offer.rework} if offer.offer else {}
    for each in full:
        if failed.get(each.command):
            yield replace(each, form=EvidenceForm.RETEST, passed_cases=failed[each.command])
    yield from full
