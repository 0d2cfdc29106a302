"""The one question asked of a starting broker: does it answer? Only `remit.broker` imports it."""

import logging

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

_quiet = logging.getLogger("remit.broker.starting")
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False
_CLIENT = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 200, "socket.connection.setup.timeout.ms": 1000}


def cluster_at(bootstrap: str, timeout: float) -> str | None:
    """Id of the cluster that answers at `bootstrap` within `timeout` seconds, or None."""
    client = AdminClient({"bootstrap.servers": bootstrap, **_CLIENT}, logger=_quiet)
    try:
        found: str | None = client.list_topics(timeout=timeout).cluster_id
    except KafkaException:
        return None
    return found
