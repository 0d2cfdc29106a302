"""docs/cli.md and the commands say the same."""

from pathlib import Path

from remit.cli.reference import reference
from remit.cli.registry import COMMANDS

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_docs_are_what_the_commands_say() -> None:
    """Write them anew with `python -m remit.cli.reference > docs/cli.md`."""
    assert DOCS.read_text("utf-8") == reference()


def test_every_command_has_its_section() -> None:
    """Each name of the registry, and each exit code."""
    text = reference()
    assert [name for name in COMMANDS if f"## `remit {name}" not in text] == []
    assert [code for code in (0, 1, 2, 3, 70, 130) if f"| {code} |" not in text] == []


def test_every_command_and_option_has_help() -> None:
    """Nothing stands there without words."""
    sections = reference().split("\n## ")[2:]
    assert [each.splitlines()[0] for each in sections if not each.splitlines()[2]] == []
    assert [line for line in reference().splitlines() if line.endswith("|  |")] == []
