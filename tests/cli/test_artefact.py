"""`remit artefact put`: files that contracts refer to, by hash or by alias."""

from pathlib import Path

import pytest

from remit.artefacts import ArtefactStore
from remit.errors import ArtefactError, ArtefactMissingError
from remit.ids import sha256
from tests.cli.conftest import Terminal


def _written(folder: Path, text: str) -> Path:
    file = folder / "requirements.md"
    file.write_text(text, "utf-8")
    return file


def test_a_file_is_stored_under_its_hash_and_its_alias(terminal: Terminal, tmp_path: Path) -> None:
    """The printed reference and the alias both lead to the very bytes."""
    file = _written(tmp_path, "five requests per hour")
    shown = terminal.json("artefact", "put", str(file), "--alias", "requirements/781")
    store = ArtefactStore(str(tmp_path / "home" / "artefacts"))
    assert shown["sha256"] == sha256(file.read_bytes()) == store.named("requirements/781")
    assert store.get(shown["reference"]) == file.read_bytes()


def test_an_alias_may_be_given_anew(terminal: Terminal, tmp_path: Path) -> None:
    """It then stands for the new bytes; the old ones stay stored."""
    old = terminal.json("artefact", "put", str(_written(tmp_path, "old")), "--alias", "a")
    new = terminal.json("artefact", "put", str(_written(tmp_path, "new")), "--alias", "a")
    store = ArtefactStore(str(tmp_path / "home" / "artefacts"))
    assert store.named("a") == new["sha256"]
    assert store.get(old["reference"]) == b"old"


def test_a_file_with_a_secret_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    """REDACT-2: nothing is stored, and the message doesn't hold the secret."""
    secret = "ghp_" + "a1B2" * 9
    assert terminal.run("artefact", "put", str(_written(tmp_path, f"token: {secret}"))) == 1
    assert secret not in terminal.out + terminal.err
    assert not (tmp_path / "home" / "artefacts" / "sha256").exists()


@pytest.mark.parametrize("alias", ["", "sha256/x", "a b", "../x"])
def test_what_is_no_alias_is_refused(tmp_path: Path, alias: str) -> None:
    """An alias must be one that a contract can name."""
    with pytest.raises(ArtefactError):
        ArtefactStore(str(tmp_path)).name(alias, sha256(b""))


def test_an_unknown_alias_is_missing(tmp_path: Path) -> None:
    """Nothing stands for it, and the error says so."""
    with pytest.raises(ArtefactMissingError):
        ArtefactStore(str(tmp_path)).named("requirements/781")
