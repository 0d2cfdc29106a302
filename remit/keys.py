"""A service's own key pair in a file that only its user can read: made once, never written anywhere else.

The roles and the command line import it.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from remit.errors import SettingsError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def supervisor_key(home: Path) -> Path:
    """Where the supervisors of a home keep the key that they share."""
    return home / "keys" / "supervisor.pem"


def own_key(path: Path) -> Ed25519PrivateKey:
    """The key in a file, made with it when there is none; of several that make it at once, all get the same.

    Raises SettingsError where the file is no such key, can't be read or written, or can be read by others.
    """
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except OSError as error:
        raise SettingsError(f"the key {path} can't be read or made: {error.strerror or type(error).__name__}") from None


def _make(path: Path) -> None:
    """Write it whole beside its place, then link it there: a link never replaces what another one put there."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


def _read(path: Path) -> Ed25519PrivateKey:
    if os.name == "posix" and path.stat().st_mode & _OTHERS:
        raise SettingsError(f"the key {path} can be read by others: chmod 600 it, and replace it if they may have")
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise SettingsError(f"the file {path} holds no Ed25519 key in PEM form")
    return key
