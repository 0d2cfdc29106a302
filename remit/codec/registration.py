"""Registering schemas: what a developer does after changing one. The only code that writes the catalogue.

Nothing is ever taken out or changed; a text that equals the newest is not registered again. Only `remit.cli` imports
it.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from remit.codec.catalogue import FILE, FIRST_ID, HISTORY, Catalogue, Registered, encoded
from remit.codec.compatibility import soundness, violations
from remit.codec.records import TOPIC_RECORDS
from remit.errors import RefusedError
from remit.ids import sha256


def opened(folder: Path) -> Catalogue:
    """The catalogue in a folder; an empty one is made where there is none."""
    if not (folder / FILE).exists():
        (folder / FILE).write_bytes(encoded(()))
    return Catalogue(folder)


def check(catalogue: Catalogue) -> tuple[str, ...]:
    """Every violation, as `topic: path: rule (against id)`; empty when all schemas may follow all of their versions."""
    return (*_inconsistencies(catalogue), *(fault for topic in TOPIC_RECORDS for fault in _faults(catalogue, topic)))


def unregistered(catalogue: Catalogue) -> tuple[str, ...]:
    """Topics whose current text is not their newest version."""
    return tuple(topic for topic in TOPIC_RECORDS if _changed(catalogue, topic))


def register(catalogue: Catalogue) -> tuple[Registered, ...]:
    """Give each changed schema a new id and keep its text; RefusedError with every violation, nothing written then."""
    if faults := check(catalogue):
        raise RefusedError("\n".join(faults))
    first = catalogue.entries[-1].id + 1 if catalogue.entries else FIRST_ID
    new = tuple(_keep(catalogue, topic, first + n) for n, topic in enumerate(unregistered(catalogue)))
    if new:
        (catalogue.folder / FILE).write_bytes(encoded((*catalogue.entries, *new)))
    return new


def _keep(catalogue: Catalogue, topic: str, schema_id: int) -> Registered:
    text = catalogue.current_text(topic)
    schema = json.loads(text)
    file = f"{HISTORY}/{topic}/{schema_id}.avsc"
    path = catalogue.folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    record = f"{schema['namespace']}.{schema['name']}"
    return Registered(id=schema_id, topic=topic, record=record, file=file, sha256=sha256(text.encode()))


def _changed(catalogue: Catalogue, topic: str) -> bool:
    versions = catalogue.versions(topic)
    return not versions or versions[-1].sha256 != sha256(catalogue.current_text(topic).encode())


def _faults(catalogue: Catalogue, topic: str) -> Iterator[str]:
    current = json.loads(catalogue.current_text(topic))
    yield from (f"{topic}: {fault}" for fault in soundness(current))
    for version in catalogue.versions(topic):
        found = violations(catalogue.schema(version), current)
        yield from (f"{topic}: {fault} (against id {version.id})" for fault in found)


def _inconsistencies(catalogue: Catalogue) -> Iterator[str]:
    """Where the list itself is not as `register` writes it."""
    for place, entry in enumerate(catalogue.entries):
        if entry.id != FIRST_ID + place:
            yield f"{FILE}: entry {place} has id {entry.id}, not {FIRST_ID + place}"
        if entry.file != f"{HISTORY}/{entry.topic}/{entry.id}.avsc":
            yield f"{FILE}: id {entry.id} names another file than its own"
