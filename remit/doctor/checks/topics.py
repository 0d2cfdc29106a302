"""Topics: settings, partition counts, replication. Pure."""

from collections.abc import Iterable

from remit.doctor.facts import Layout
from remit.doctor.finding import Finding
from remit.log.kafka.topology import PARTITIONS, PRESENCE, Deviation

CREATE = "remit topics create"
MEND = "remit topics create --mend"
NO_MEND = (
    "no command mends it: keys lie where the count put them. "
    "Set REMIT_PARTITIONS to the count the log was made with, or start a new topic prefix"
)
FEWEST = 2
_CHECKS = {
    PRESENCE: "missing-topic",
    PARTITIONS: "partitions",
    "cleanup.policy": "compaction",
    "retention.ms": "retention",
    "retention.bytes": "retention",
    "message.timestamp.type": "timestamps",
    "max.message.bytes": "message-size",
}


def settings(found: Iterable[Deviation]) -> tuple[Finding, ...]:
    """Every setting that is not as agreed."""
    return tuple(_deviating(each) for each in found)


def replication(layouts: Iterable[Layout], brokers: int, bootstrap: str) -> tuple[Finding, ...]:
    """On several brokers: topics whose records one broker's loss can take; one broker has nothing to replicate to."""
    if brokers < FEWEST:
        return ()
    lone = (_lone(each, bootstrap) for each in layouts if each.replicas < FEWEST)
    trusting = (_trusting(each, bootstrap) for each in layouts if each.replicas >= FEWEST > each.min_in_sync)
    return (*lone, *trusting)


def _deviating(each: Deviation) -> Finding:
    says = f"{each.setting} is {each.found}, required is {each.required}"
    details = {"setting": each.setting, "found": each.found, "required": each.required}
    return Finding(_CHECKS.get(each.setting, "topic-setting"), each.topic, says, _mending(each), details)


def _mending(deviation: Deviation) -> str:
    if deviation.setting == PRESENCE:
        return CREATE
    return NO_MEND if deviation.setting == PARTITIONS else MEND


def _lone(each: Layout, bootstrap: str) -> Finding:
    says = f"replication factor is {each.replicas}, required is at least {FEWEST}: a broker's loss takes its records"
    mend = (
        f"kafka-reassign-partitions.sh --bootstrap-server {bootstrap} --execute --reassignment-json-file FILE, "
        f"with three replicas for every partition of {each.topic} in FILE"
    )
    return Finding("replication", each.topic, says, mend, {"replicas": each.replicas})


def _trusting(each: Layout, bootstrap: str) -> Finding:
    says = f"min.insync.replicas is {each.min_in_sync}, required is at least {FEWEST}: one copy counts as written"
    mend = (
        f"kafka-configs.sh --bootstrap-server {bootstrap} --alter --entity-type topics --entity-name {each.topic} "
        f"--add-config min.insync.replicas={FEWEST}"
    )
    return Finding("replication", each.topic, says, mend, {"min_in_sync": each.min_in_sync})
