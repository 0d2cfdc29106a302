"""The content-addressed store of diffs, reports and logs, on any fsspec URL. Anyone may import it.

Objects lie under `sha256/HH/HEX`, are written once and verified with every read. Redact before you put. Aliases lie
under `aliases/` and may be given anew; whoever uses one pins the hash that it stands for.
"""

import os
import uuid
from pathlib import Path

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from remit.contract.references import artefact_reference, parse_reference
from remit.errors import ArtefactError, ArtefactMismatchError, ArtefactMissingError
from remit.events.base import ArtefactRef
from remit.ids import sha256


class ArtefactStore:
    """One store; may be used from several threads and processes at once."""

    def __init__(self, url: str) -> None:
        """Use the store at `url`: a folder's path or `file://`, `s3://`, `memory://` ..."""
        try:
            self._fs, root = url_to_fs(url)
        except (ImportError, ValueError, OSError) as error:
            raise ArtefactError(f"the artefact store can't be used: {type(error).__name__}") from None
        self._root = root.rstrip("/")

    def put(self, content: bytes | Path) -> ArtefactRef:
        """Store bytes, or a file's bytes; what is there already is left. Durable when it returns."""
        data = content.read_bytes() if isinstance(content, Path) else content
        digest = sha256(data)
        if not self._holds(digest, data):
            self._write(self._path(digest), data)
        return ArtefactRef(reference=artefact_reference(digest), sha256=digest, size=len(data))

    def get(self, wanted: ArtefactRef | str) -> bytes:
        """The bytes of a reference, an `artefact://sha256/HEX` or a bare SHA-256.

        Raises ArtefactMissingError, ArtefactMismatchError when the bytes are others, ArtefactError otherwise.
        """
        digest = _digest_of(wanted)
        data = self._read(digest)
        if sha256(data) != digest:
            raise ArtefactMismatchError(f"the bytes stored as {digest} have another hash")
        return data

    def has(self, wanted: ArtefactRef | str) -> bool:
        """Whether something is stored under that hash; its bytes are not verified."""
        try:
            return bool(self._fs.exists(self._path(_digest_of(wanted))))
        except OSError as error:
            raise ArtefactError(f"the artefact store can't be read: {type(error).__name__}") from error

    def name(self, alias: str, digest: str) -> None:
        """Let `artefact://ALIAS` stand for a stored object from now on; what was resolved before stays as it was."""
        self._write(self._alias_path(alias), digest.encode())

    def named(self, alias: str) -> str:
        """The SHA-256 that an alias stands for; ArtefactMissingError if there is no such alias."""
        try:
            return bytes(self._fs.cat_file(self._alias_path(alias))).decode()
        except FileNotFoundError:
            raise ArtefactMissingError("no stored artefact has that alias") from None
        except OSError as error:
            raise ArtefactError(f"the artefact store can't be read: {type(error).__name__}") from error

    def _alias_path(self, alias: str) -> str:
        found = parse_reference(f"artefact://{alias}")
        if found is None or found.kind != "alias":
            raise ArtefactError("an alias is letters, digits and . _ / -, and doesn't begin with sha256/")
        return f"{self._root}/aliases/{sha256(alias.encode())}"

    def refuse_unreadable(self) -> None:
        """Raise ArtefactError if the store can't be listed; one that holds nothing yet, its folder unmade, is fine."""
        try:
            self._fs.invalidate_cache()
            self._fs.ls(self._root, detail=False)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ArtefactError(f"the artefact store can't be read: {type(error).__name__}") from error

    def _path(self, digest: str) -> str:
        return f"{self._root}/sha256/{digest[:2]}/{digest}"

    def _holds(self, digest: str, data: bytes) -> bool:
        try:
            return self._read(digest) == data
        except ArtefactMissingError:
            return False

    def _read(self, digest: str) -> bytes:
        try:
            return bytes(self._fs.cat_file(self._path(digest)))
        except FileNotFoundError:
            raise ArtefactMissingError(f"nothing is stored as {digest}") from None
        except OSError as error:
            raise ArtefactError(f"the artefact store can't be read: {type(error).__name__}") from error

    def _write(self, path: str, data: bytes) -> None:
        try:
            if isinstance(self._fs, LocalFileSystem):
                write_durably(Path(path), data)
            else:  # an object store writes an object whole or not at all
                self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
                self._fs.pipe_file(path, data)
        except OSError as error:
            raise ArtefactError(f"the artefact store can't be written: {type(error).__name__}") from error


def write_durably(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves it whole or absent: temporary name, fsync, rename, fsync of the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _digest_of(wanted: ArtefactRef | str) -> str:
    if isinstance(wanted, ArtefactRef):
        return wanted.sha256
    found = parse_reference(wanted if "://" in wanted else artefact_reference(wanted))
    if found is None or found.kind != "artefact":
        raise ArtefactError("not a reference of a stored artefact")
    return found.detail
