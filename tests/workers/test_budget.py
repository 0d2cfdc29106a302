"""A handler that tells of more than is reserved for it is ended, as far as the runner can know."""

from pathlib import Path

import pytest

from remit.events.base import Amounts, Usage
from remit.events.inputs import ResultStatus
from tests.workers.rig import Rig, handout, offer_of, script
from workers.budget import beyond

FULL = Amounts(tokens=10, tool_calls=2, turns=3)


@pytest.mark.parametrize(
    ("usage", "reserved", "passed"),
    [
        (Usage(tokens_in=6, tokens_out=4, tool_calls=2, turns=3), FULL, None),
        (Usage(tokens_in=6, tokens_out=5), FULL, "tokens"),
        (Usage(tool_calls=3), FULL, "tool_calls"),
        (Usage(turns=4), FULL, "turns"),
        (Usage(tokens_in=10**9, tool_calls=10**9, turns=10**9), Amounts(), None),
        (Usage(turns=1), Amounts(turns=0), "turns"),
    ],
)
def test_what_is_beyond_is_named(usage: Usage, reserved: Amounts, passed: str | None) -> None:
    """All of it may be used, and no more; what has no limit has none."""
    assert beyond(usage, reserved) == passed


def test_a_handler_beyond_its_turns_is_ended(rig: Rig, tmp_path: Path) -> None:
    """BUDGET: with the next renewal; what it used is told, and charged."""
    handler = """
import json, os, pathlib, time
pathlib.Path(os.environ["REMIT_USAGE"]).write_text(json.dumps({"turns": 4, "tokens_in": 7}))
time.sleep(600)
"""
    with rig.working(script(tmp_path, handler), renewal_seconds=0.1):
        body = rig.result(rig.send(offer_of(handout(), remaining=FULL))).result
    assert body is not None
    assert (body.status, body.message) == (ResultStatus.FAILED, "ended by the runner: budget: turns")
    assert body.usage is not None
    assert (body.usage.turns, body.usage.tokens_in) == (4, 7)
