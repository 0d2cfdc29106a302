"""The policies on the log: which one is in force, and applying another. The command line imports it."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from remit.client.effects import TIMEOUT_S, unconfirmed
from remit.client.identity import who
from remit.client.within import within
from remit.codec import decode
from remit.documents import parse
from remit.errors import CodecError, LogError, PolicyInvalidError
from remit.events.envelope import message, new_event
from remit.events.service import Policy as PolicyEvent
from remit.events.service import PolicyKind
from remit.faults import lines
from remit.leaks import RULE, leaks, refuse_leaks
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Recorded
from remit.policy import load
from remit.policy.model import Policy
from remit.redaction import finds
from remit.topics import Topic, dispatches

PRODUCER = "client"
HERE = Partition(Topic.POLICIES, 0)
CreateTopics = Callable[[Sequence[str]], None]  # names without prefix; what exists is left as it is


@dataclass(frozen=True, slots=True)
class InForce:
    """The newest policy that holds: hash, who applied it and when, its exact text, and what it says."""

    sha256: str
    author: str
    applied_at: datetime
    text: str
    policy: Policy


def in_force(log: Log) -> InForce | None:
    """The newest valid policy on the log, as supervisors take it; None if there is none. LogError."""
    with closing(log.reader()) as reader:
        ends = reader.ends([HERE])
        batches = list(replay(reader, reader.starts([HERE]), ends, timeout=TIMEOUT_S))
    records = [record for batch in batches for record in batch]
    return next((found for record in reversed(records) if (found := _valid(record))), None)


def _valid(record: Recorded) -> InForce | None:
    try:
        event = decode(record.topic, record.value)
        if not isinstance(event, PolicyEvent) or load.sha256(event.document) != event.policy_sha256:
            return None
        policy = load.parse(event.document)
    except (CodecError, PolicyInvalidError):
        return None
    return InForce(event.policy_sha256, event.author, record.appended_at, event.document, policy)


def apply_policy(log: Log, text: str, create: CreateTopics, *, timeout: float = TIMEOUT_S) -> PolicyEvent:
    """Put a policy on the log, its pools' topics first; it holds for the workflows that begin from then on.

    Raises PolicyInvalidError with every fault, UnconfirmedError when the log did not acknowledge it in time.
    """
    policy = load.parse(text)
    _refuse_secrets(text)
    event = _applied(text)
    refuse_leaks(event, "document")

    def work() -> None:
        create([dispatches(pool) for pool in policy.pools])
        with closing(log.writer()) as writer:
            writer.append([message(event, Topic.POLICIES)], timeout)

    try:
        within(timeout, work)
    except (TimeoutError, LogError) as error:
        ask = f"Ask with: remit policy show (policy {event.policy_sha256})"
        raise unconfirmed(timeout, "whether the policy lies on the log is not known", error, ask) from error
    return event


def _refuse_secrets(text: str) -> None:
    """A policy is published as it stands, comments included, and hashed: nothing can be taken out of it."""
    document = parse(text, is_json=text.lstrip()[:1] == "{", error=PolicyInvalidError)
    if faults := leaks(document):
        raise PolicyInvalidError(lines(faults, document))
    if finds("\n".join(line.partition("#")[2] for line in text.splitlines())):
        raise PolicyInvalidError([f"a comment {RULE}"])


def _applied(text: str) -> PolicyEvent:
    return new_event(
        PolicyEvent,
        tenant_id="",
        workflow_id="",
        producer=PRODUCER,
        clock_now=datetime.now(UTC),
        kind=PolicyKind.APPLIED,
        document=text,
        policy_sha256=load.sha256(text),
        author=who(),
    )


def apply_first(log: Log, text: str, create: CreateTopics) -> bool:
    """Apply a policy if the log never had one; whether it did."""
    with closing(log.reader()) as reader:
        if reader.ends([HERE])[HERE] > 0:
            return False
    apply_policy(log, text, create)
    return True
