"""The committed catalogue: append-only, hashed, complete; and how a version is added to it."""

import json

import pytest

from remit.codec import TOPIC_RECORDS
from remit.codec.catalogue import FILE, FIRST_ID, HISTORY, Catalogue, catalogue, folder
from remit.codec.registration import check, opened, register, unregistered
from remit.errors import CodecError, RefusedError, UnknownSchemaError
from remit.ids import sha256
from tests.codec.conftest import OwnSchemas
from tests.codec.golden_files import FOLDER, path_of


def test_ids_rise_by_one_and_nothing_is_missing() -> None:
    """Ids are consecutive, every topic has one, and the history holds just the files that are named."""
    entries = catalogue().entries
    assert [entry.id for entry in entries] == list(range(FIRST_ID, FIRST_ID + len(entries)))
    assert set(catalogue().topics) == set(TOPIC_RECORDS)
    assert {entry.record for entry in entries} == {f"remit.{cls.__name__}" for cls in TOPIC_RECORDS.values()}
    present = {str(path.relative_to(folder())) for path in (folder() / HISTORY).rglob("*") if path.is_file()}
    assert present == {entry.file for entry in entries}
    assert {path.stem for path in folder().glob("*.avsc")} == set(TOPIC_RECORDS)


def test_hashes_match_and_the_current_text_is_the_newest() -> None:
    """Each text is as registered, and what stands in the folder is the newest version."""
    for entry in catalogue().entries:
        assert sha256((folder() / entry.file).read_bytes()) == entry.sha256
    for topic in catalogue().topics:
        newest = catalogue().newest(topic)
        assert (folder() / f"{topic}.avsc").read_bytes() == (folder() / newest.file).read_bytes()
    assert unregistered(catalogue()) == ()


def test_the_catalogue_passes_its_own_check() -> None:
    """FULL_TRANSITIVE: today's schemas may follow every version ever registered."""
    assert check(catalogue()) == ()


def test_nothing_that_was_registered_is_gone() -> None:
    """Golden files hold id, topic and hash of each version apart from the catalogue: none may change."""
    golden = [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    held = [(each["id"], each["topic"], each["schema_sha256"]) for each in golden]
    assert held == [(entry.id, entry.topic, entry.sha256) for entry in catalogue().entries]
    assert all(path_of(entry).exists() for entry in catalogue().entries)


def test_a_changed_schema_gets_a_new_id(own_schemas: OwnSchemas) -> None:
    """A text that may follow is added at the end; the same text again is not."""
    first = own_schemas.register("leases")
    assert own_schemas.register("leases") == first
    second = own_schemas.register("leases", lambda schema: schema["fields"][-1].update(doc="other words"))
    assert second == FIRST_ID + len(TOPIC_RECORDS)
    own = Catalogue(own_schemas.folder)
    assert [entry.id for entry in own.versions("leases")] == [first, second]
    assert unregistered(own) == ()
    assert check(own) == ()


def test_a_schema_that_may_not_follow_is_not_registered(own_schemas: OwnSchemas) -> None:
    """A violation is named with topic, path, rule and the id it breaks with; nothing is written."""
    first = own_schemas.register("leases")
    before = (own_schemas.folder / FILE).read_bytes()
    with pytest.raises(RefusedError, match=rf"^leases: steps: added without a default \(against id {first}\)$"):
        own_schemas.register("leases", rename_progress)
    assert (own_schemas.folder / FILE).read_bytes() == before


def rename_progress(schema: dict[str, list[dict[str, object]]]) -> None:
    """Give a field another name and take its default."""
    first = next(field for field in schema["fields"] if field["name"] == "progress")
    first["name"] = "steps"
    del first["default"]


def test_a_text_that_was_changed_afterwards_is_not_read(own_schemas: OwnSchemas) -> None:
    """History is immutable: a changed file is refused by its hash."""
    own_schemas.register("leases")
    own = Catalogue(own_schemas.folder)
    path = own_schemas.folder / own.newest("leases").file
    path.write_text(path.read_text("utf-8") + " ", "utf-8")
    with pytest.raises(CodecError, match="was changed after it was registered"):
        own.schema(own.newest("leases"))


def test_a_broken_list_is_named(own_schemas: OwnSchemas) -> None:
    """An entry taken out of the list is an error of the check."""
    own_schemas.register("leases")
    path = own_schemas.folder / FILE
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))[1:]), "utf-8")
    assert check(Catalogue(own_schemas.folder))[0] == f"{FILE}: entry 0 has id {FIRST_ID + 1}, not {FIRST_ID}"
    path.write_text("[", "utf-8")
    with pytest.raises(CodecError, match="can't be read"):
        Catalogue(own_schemas.folder)


def test_what_is_not_there_is_said_so(own_schemas: OwnSchemas) -> None:
    """An unknown id and a topic without a version are errors of their own."""
    own = opened(own_schemas.folder)
    with pytest.raises(UnknownSchemaError):
        own.entry(1)
    with pytest.raises(UnknownSchemaError):
        own.newest("leases")
    assert [entry.topic for entry in register(own)] == list(TOPIC_RECORDS)
