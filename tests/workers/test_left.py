"""What a handler left is read without waiting, and nowhere but where it lies."""

import os
import socket
from pathlib import Path

import pytest

from workers.left import read_left


def test_a_plain_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    """The first bytes, so that a caller that asks for one more knows of too many."""
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert (read_left(file, 4), read_left(file, 9)) == (b"1234", b"12345")


@pytest.mark.parametrize("kind", ["nothing", "link", "pipe", "folder", "socket", "unreadable name"])
def test_all_else_is_as_nothing(tmp_path: Path, kind: str) -> None:
    """A pipe without a writer would else hold the reader for ever."""
    (tmp_path / "theirs").write_bytes(b"not the handler's")
    file = tmp_path / ("a\0b" if kind == "unreadable name" else "file")
    match kind:
        case "link":
            file.symlink_to("theirs")
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(file))
    assert read_left(file, 9) is None
