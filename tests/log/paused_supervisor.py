"""A supervisor of its own process that stops itself inside a step and goes on when it is continued.

Arguments: bootstrap, prefix, partition count, and the producer's call before which it stops. Prints the outcome.
"""

import os
import signal
import sys
from typing import Any

from remit.errors import LogError
from remit.log.kafka.log import KafkaLog
from remit.topics import Topic
from tests.log.rig import message, serve, settle, take


class Stopping:
    """A producer before one of whose calls the process stops."""

    def __init__(self, producer: Any, call: str) -> None:
        """Pass everything on to `producer`."""
        self._producer = producer
        self._call = call

    def __getattr__(self, name: str) -> Any:
        """The producer's own; stops first if it is the call."""
        if name == self._call:
            os.kill(os.getpid(), signal.SIGSTOP)
        return getattr(self._producer, name)


def main(bootstrap: str, prefix: str, partitions: str, call: str) -> None:
    """Take one record and step over it, with a pause in between."""
    log = KafkaLog(bootstrap, prefix, int(partitions))
    session = log.session("s1")
    settle(log, session)
    serve(session)
    (record,) = take(session, 1)
    session._transactions._producer = Stopping(session._transactions._producer, call)  # type: ignore[assignment]
    try:
        session.step([message(Topic.TRANSITIONS, "zombie")], {record.source: record.offset + 1})
    except LogError as error:
        print(type(error).__name__)  # noqa: T201 - what the test reads
    else:
        print("committed")  # noqa: T201
    sys.stdout.flush()
    # Leaving in order would wait for a broker that fenced us.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
