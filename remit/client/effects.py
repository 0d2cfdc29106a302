"""Writes an event and waits for the transition that it caused. `remit.client` imports it.

A record is acted upon only once the supervisor says so in `transitions`; nothing short of that is a confirmation.
"""

import time
from collections.abc import Collection
from contextlib import closing
from uuid import UUID

from remit.client.within import within
from remit.codec import decode
from remit.errors import CodecError, LogError, UnconfirmedError
from remit.events.base import Event
from remit.events.envelope import key_of, message
from remit.events.transitions import Transition, TransitionKind
from remit.leaks import refuse_leaks
from remit.log.protocols import Log, Partition, Recorded
from remit.topics import Topic, partition_of

TIMEOUT_S = 30.0
POLL = 500
POLL_S = 0.2
MARGIN_S = 1.0
"""What is left to tell precisely how far it got, before the caller stops listening."""


class Ear:
    """Listens to the transitions of one key's shard, from the end they had when it was made."""

    def __init__(self, log: Log, key: bytes) -> None:
        """Pin the end; make it before the event is written."""
        here = Partition(Topic.TRANSITIONS, partition_of(key, log.partitions))
        self._reader = log.reader()
        try:
            self._reader.assign({here: self._reader.ends([here])[here]})
        except BaseException:
            self._reader.close()
            raise

    def effect(
        self, event_id: UUID, sent: Recorded, deadline: float, *, but: Collection[TransitionKind] = ()
    ) -> Transition:
        """The first transition caused by that event, or by the record as it lies; TimeoutError at `deadline`.

        Those of the kinds `but` are passed over: they come before what answers the event, in the same step.

        A dead letter's note knows the record by its coordinates alone.
        """
        while time.monotonic() < deadline:
            for recorded in self._reader.poll(POLL, POLL_S):
                found = read_transition(recorded)
                if found is not None and found.kind not in but and _caused(found, event_id, sent):
                    return found
        raise TimeoutError

    def close(self) -> None:
        """Stop listening."""
        self._reader.close()


def read_transition(recorded: Recorded) -> Transition | None:
    """The transition in a record; None if it holds none that this build can read."""
    try:
        event = decode(recorded.topic, recorded.value)
    except CodecError:
        return None
    return event if isinstance(event, Transition) else None


def _caused(transition: Transition, event_id: UUID, sent: Recorded) -> bool:
    cause = transition.cause
    if cause is None:
        return False
    place = (cause.topic, cause.partition, cause.offset)
    return cause.event_id == event_id or place == (sent.topic, sent.partition, sent.offset)


def carry_out(
    log: Log,
    event: Event,
    topic: Topic,
    *,
    timeout: float = TIMEOUT_S,
    ask: str,
    but: Collection[TransitionKind] = (),
) -> Transition:
    """Write the event and return the first transition that it caused.

    Raises UnconfirmedError after `timeout` seconds, or as soon as the log fails: `ask` tells how to find out.
    RefusedError for an event with a secret in it; a contract's document was cleaned when it was made.
    """
    refuse_leaks(event, "document")
    stage = ["nothing was sent"]
    deadline = time.monotonic() + timeout

    def work() -> Transition:
        with closing(Ear(log, key_of(event))) as ear, closing(log.writer()) as writer:
            stage[0] = "it was sent, and whether it arrived is not known"
            sent = writer.append([message(event, topic)], max(deadline - MARGIN_S - time.monotonic(), MARGIN_S))[0]
            stage[0] = "it lies on the log, and no supervisor has answered it"
            return ear.effect(event.event_id, sent, deadline, but=but)

    try:
        return within(timeout, work)
    except (TimeoutError, LogError) as error:
        raise unconfirmed(timeout, stage[0], error, f"{ask} (event {event.event_id})") from error


def unconfirmed(timeout: float, stage: str, error: Exception, ask: str) -> UnconfirmedError:
    """The error of an outcome that was not read, in the words of every command."""
    why = f"not confirmed, {error}" if isinstance(error, LogError) else f"not confirmed within {timeout:g} s"
    return UnconfirmedError(f"{why}: {stage}.\n{ask}")
