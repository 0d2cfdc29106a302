"""The table of findings in docs/operations.md is whole: every finding that the code has, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_finding_is_explained() -> None:
    """A finding's name leads an operator to its row."""
    code = "".join(each.read_text("utf-8") for each in (ROOT / "remit/doctor").rglob("*.py"))
    named = set(re.findall(r'Finding\(\s*"([a-z-]+)"', code))
    named |= set(re.findall(r': "([a-z-]+)",\n', code[code.index("_CHECKS = {") :].partition("}")[0]))
    named |= set(re.findall(r'_CHECKS\.get\([^"]*"([a-z-]+)"\)', code))
    page = (ROOT / "docs/operations.md").read_text("utf-8").partition("## `remit doctor`")[2]
    assert len(named) > 15
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, flags=re.MULTILINE)) == named
