"""A service's own key: made once, for its user alone."""

import threading
from pathlib import Path

import pytest

from remit.errors import SettingsError
from remit.grants import public_text
from remit.keys import own_key, supervisor_key


def test_it_is_made_once_and_can_be_read_by_nobody_else(tmp_path: Path) -> None:
    """Mode 0600, no draft left beside it, the same key from then on."""
    path = supervisor_key(tmp_path)
    made = public_text(own_key(path))
    assert public_text(own_key(path)) == made
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_all_who_make_it_at_once_share_it(tmp_path: Path) -> None:
    """Several supervisors of one home start together and sign with one key."""
    path, together = tmp_path / "keys" / "k.pem", threading.Barrier(8)
    found: set[str] = set()

    def start() -> None:
        together.wait()
        found.add(public_text(own_key(path)))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 1


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """By its path and what to do."""
    path = tmp_path / "k.pem"
    own_key(path)
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="can be read by others: chmod 600"):
        own_key(path)


@pytest.mark.parametrize("data", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused_and_kept(tmp_path: Path, data: bytes) -> None:
    """It is never replaced: it may be somebody's."""
    path = tmp_path / "k.pem"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(SettingsError, match="holds no Ed25519 key"):
        own_key(path)
    assert path.read_bytes() == data


def test_where_none_can_be_made_it_says_so(tmp_path: Path) -> None:
    """A settings error with the path and the reason."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SettingsError, match="be read or made"):
        own_key(tmp_path / "file" / "k.pem")
