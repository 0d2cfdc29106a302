"""The artefact store: bytes under their hash, verified, whole or absent."""

import uuid
from pathlib import Path

import pytest

from remit.artefacts import ArtefactStore, write_durably
from remit.errors import ArtefactError, ArtefactMismatchError, ArtefactMissingError
from remit.ids import sha256


@pytest.fixture(params=["folder", "file URL", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtefactStore:
    """The same store on a path, a URL, and another file system."""
    urls = {"folder": str(tmp_path / "s"), "file URL": (tmp_path / "s").as_uri(), "memory": f"memory://{uuid.uuid4()}"}
    return ArtefactStore(urls[request.param])


def test_what_is_put_is_got(store: ArtefactStore, tmp_path: Path) -> None:
    """By reference, by URI and by bare hash; a file's bytes as well as bytes, and the same bytes once."""
    (tmp_path / "f").write_bytes(b"abc")
    ref = store.put(b"abc")
    assert store.put(tmp_path / "f") == ref
    assert (ref.reference, ref.sha256, ref.size) == (f"artefact://sha256/{sha256(b'abc')}", sha256(b"abc"), 3)
    assert store.get(ref) == store.get(ref.reference) == store.get(ref.sha256) == b"abc"
    assert store.has(ref)


def test_what_was_never_put_is_missing(store: ArtefactStore) -> None:
    """A hash that nothing has, and a reference that is none."""
    assert not store.has("0" * 64)
    with pytest.raises(ArtefactMissingError):
        store.get("0" * 64)
    with pytest.raises(ArtefactError):
        store.get("artefact://sha256/../../etc/passwd")


def test_changed_bytes_are_never_handed_out(tmp_path: Path) -> None:
    """They are a mismatch, and putting the right ones again mends it."""
    store = ArtefactStore(str(tmp_path))
    ref = store.put(b"abc")
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    file.write_bytes(b"abd")
    with pytest.raises(ArtefactMismatchError):
        store.get(ref)
    store.put(b"abc")
    assert store.get(ref) == b"abc"


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither half an object nor a draft."""

    def fail(_: int) -> None:
        raise OSError

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError):  # noqa: PT011 - any
        write_durably(tmp_path / "x", b"abc")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_store_is_an_error_of_ours() -> None:
    """Not a stack trace of a library."""
    with pytest.raises(ArtefactError):
        ArtefactStore("nosuchscheme://x")
