"""Where the views lie on this machine. Pure; projector and command line import it."""

from pathlib import Path
from typing import NamedTuple


class ViewFiles(NamedTuple):
    """The projector's files."""

    database: Path  # its own, locked while it runs
    published: Path  # the read-only copy that everybody else opens
    lock: Path  # held by whoever may replace the database


def view_files(home: Path) -> ViewFiles:
    """The files below the folder of what this machine keeps."""
    folder = home.absolute() / "views"
    return ViewFiles(folder / "remit.duckdb", folder / "published.duckdb", folder / "projector.lock")
