"""What the embedded broker is told: server.properties, log4j2.properties, JVM flags.

Pure; only `remit.broker` imports it.
"""

from collections.abc import Sequence
from pathlib import Path

NODE_ID = 1
INTERNAL_PARTITIONS = 4
ABORT_SCAN_MS = 1000
LONGEST_OFFSETS_MINUTES = 2**31 - 1
LAST_ASCII = 0x7F

JVM_FLAGS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")
"""A quick start on a small machine; throughput was alike with the full compiler."""

LOG4J = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
"""
"""Warnings only: what the broker prints goes to its log file, never to a terminal."""


def server_properties(data: Path, port: int, controller_port: int) -> str:
    """Text of server.properties for one node that is broker and controller, on 127.0.0.1 only."""
    settings = _identity(data, port, controller_port) | _one_node() | _promises()
    return "".join(f"{name}={_escaped(value)}\n" for name, value in settings.items())


def class_path(jars: Sequence[Path]) -> str:
    """The class path, every jar by name: a wildcard would have no fixed order."""
    return ":".join(str(jar) for jar in jars)


def _identity(data: Path, port: int, controller_port: int) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(data),
    }


def _one_node() -> dict[str, str]:
    return {
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": str(INTERNAL_PARTITIONS),
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": str(INTERNAL_PARTITIONS),
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": str(INTERNAL_PARTITIONS),
        "default.replication.factor": "1",
        "min.insync.replicas": "1",
    }


def _promises() -> dict[str, str]:
    return {
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": str(ABORT_SCAN_MS),
        "offsets.retention.minutes": str(LONGEST_OFFSETS_MINUTES),
    }


def _escaped(value: str) -> str:
    """Java reads properties as Latin-1 and takes a backslash for an escape."""
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    pairs = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(chr(unit) if unit <= LAST_ASCII else f"\\u{unit:04x}" for unit in pairs)
