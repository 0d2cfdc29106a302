"""The environment and the record of the embedded broker."""

import json
import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

from remit.broker.record import process_of, read_record, record_path
from remit.doctor.probe_machine import disks
from remit.settings import load

from ..making import documents, odd, texts
from ..target import LawBrokenError, Target

_RIGHT = {
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9092",
    "REMIT_TOPIC_PREFIX": "remit.",
    "REMIT_PARTITIONS": "8",
    "REMIT_HOME": ".remit",
    "REMIT_ARTEFACTS": "s3://bucket/x",
    "REMIT_SECURITY_PROTOCOL": "SASL_SSL",
    "REMIT_SASL_MECHANISM": "PLAIN",
    "REMIT_SASL_USERNAME": "u",
    "REMIT_SASL_PASSWORD": "p",
    "REMIT_DISPLAY_ZONE": "Europe/London",
}
_RECORD = json.dumps({"port": 9092, "controller_port": 9093, "pid": 1, "created": 1.5, "cluster": "a", "kafka": "4.3"})


def _environment(dice: Random) -> dict[str, str]:
    found = {name: value for name, value in _RIGHT.items() if dice.randrange(2)}
    for name in dice.sample(list(_RIGHT), 2):
        value = texts.mutated(dice, _RIGHT[name]) if dice.randrange(2) else odd.text(dice)
        found[name] = value.replace("\x00", "")  # the system lets no NUL into an environment
    return found


def _set(given: dict[str, str]) -> bool:
    with patch.dict(os.environ, given, clear=True):
        settings = load()
        disks(settings)
    if not settings.artefact_url or settings.zone is None:
        raise LawBrokenError("settings without a store or a zone")
    return True


@cache
def _home() -> Path:
    return Path(tempfile.mkdtemp(prefix="remit-fuzz-"))


def _record(dice: Random) -> bytes:
    return documents.json_file(dice, (_RECORD,))


def _read(given: bytes) -> bool:
    record_path(_home()).write_bytes(given)
    record = read_record(_home())
    return record is not None and process_of(_home(), record) is None


TARGETS = (
    Target("settings.environment", _environment, _set, least=1_000),
    Target("broker.record", _record, _read),
)
