"""Where the supervisor's processor time goes: samples of the logic's run, by part. What stands in a ratio's way.

The sampler is a timer of this process's own processor time; a sample counts for the innermost part on the stack.
"""

import signal
from collections import Counter
from collections.abc import Sequence
from types import FrameType

from benchmarks import logic

EVERY_S = 0.001
PARTS = (  # (part, how the file ends, of these functions; none means all of the file)
    ("encode: fastavro", "remit/codec/codec.py", ("encode",)),
    ("encode: plain values, with checks", "remit/codec/plain.py", ()),
    ("encode: plain values, with checks", "remit/codec/money.py", ("to_bytes",)),
    ("decode, with checks", "remit/codec/codec.py", ()),
    ("decode, with checks", "remit/codec/typed.py", ()),
    ("headers, keys, ids", "remit/events/envelope.py", ()),
    ("headers, keys, ids", "remit/topics.py", ()),
    ("headers, keys, ids", "remit/log/outgoing.py", ()),
    ("decide: the contract gate", "supervisor/decide/contract.py", ()),
    ("decide: results", "supervisor/decide/result.py", ()),
    ("decide: results", "supervisor/decide/judging.py", ()),
    ("decide: results", "supervisor/decide/inspection.py", ()),
    ("assign", "supervisor/decide/assignment.py", ()),
    ("assign", "supervisor/routing.py", ()),
    ("assign", "supervisor/service.py", ("_assign",)),
    ("evolve", "supervisor/evolve/", ()),
    ("decide: the rest", "supervisor/decide/", ()),
    ("checkpoints", "supervisor/checkpointer.py", ()),
    ("indexes, waits", "supervisor/shard.py", ()),
    ("intake, secrets", "supervisor/intake.py", ()),
)
OUTER = (("the loop", "supervisor/service.py", ()), ("the worker's part", "benchmarks/", ()))


def shares(workflows: int) -> dict[str, float]:
    """Each part's share of the processor time of so many workflows, the largest first."""
    logic.product(10)
    found: Counter[str] = Counter()

    def sample(_signal: int, frame: FrameType | None) -> None:
        found[_part(frame)] += 1

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        logic.product(workflows)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return {part: round(count / found.total(), 3) for part, count in found.most_common()}


def _part(frame: FrameType | None) -> str:
    return _innermost(frame, PARTS) or _innermost(frame, OUTER) or "other"


def _innermost(frame: FrameType | None, parts: Sequence[tuple[str, str, tuple[str, ...]]]) -> str | None:
    while frame is not None:
        code = frame.f_code
        for part, file, functions in parts:
            if file in code.co_filename and (not functions or code.co_name in functions):
                return part
        frame = frame.f_back
    return None
