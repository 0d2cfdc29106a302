"""Named points in a supervisor's step and takeover, at which the process kills or stops itself as it was ordered.

The product knows nothing of it: its producer and session are replaced by ones that count their calls.
"""

import os
import signal
from collections import Counter
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Producer

from remit.log.kafka import session, transactions
from remit.log.protocols import Partition

from .schedule import SESSION_S

VARIABLE = "CHAOS_ORDER"
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
_passed: Counter[str] = Counter()


def passage(point: str) -> None:
    """Pass a point; the ordered passage is the last thing that this process does, or does for a while."""
    wanted, _, rest = os.environ.get(VARIABLE, "").partition(":")
    _passed[point] += 1
    if point == wanted:
        number, _, act = rest.partition(":")
        if _passed[point] == int(number):
            os.kill(os.getpid(), SIGNALS[act])


class PointedProducer(Producer):
    """A producer that passes the points of a step."""

    def flush(self, *arguments: Any) -> Any:  # noqa: ANN401 - the library's own
        """Records are written, not flushed."""
        passage("before_flush")
        return super().flush(*arguments)

    def send_offsets_to_transaction(self, *arguments: Any) -> Any:  # noqa: ANN401 - the library's own
        """Records are flushed, offsets not sent; then sent, not committed."""
        passage("before_offsets")
        sent = super().send_offsets_to_transaction(*arguments)
        passage("before_commit")
        return sent

    def commit_transaction(self, *arguments: Any) -> Any:  # noqa: ANN401 - the library's own
        """The transaction is committed, and nobody was told."""
        committed = super().commit_transaction(*arguments)
        passage("after_commit")
        return committed


def install() -> None:
    """Put the points in, and the shortest session that the broker allows."""
    transactions.Producer = PointedProducer  # type: ignore[attr-defined] # planting a fault
    session.MEMBER["session.timeout.ms"] = SESSION_S * 1000
    session.MEMBER["heartbeat.interval.ms"] = 1_000
    resume = session.KafkaSession.resume

    def pointed(self: session.KafkaSession, positions: Mapping[Partition, int]) -> None:
        passage("before_serving")
        resume(self, positions)

    session.KafkaSession.resume = pointed  # type: ignore[method-assign] # planting a fault
