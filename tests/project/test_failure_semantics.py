"""The table of faults: whatever it says is shown by a test that exists, so that the page can't rot."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT.joinpath("docs/failure-semantics.md").read_text("utf-8")
HEAD = ["fault", "what happens", "what is lost", "shown by"]


def rows() -> list[list[str]]:
    """The cells of each line of the table, its head first, the rule left out."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@cache
def functions_of(path: str) -> frozenset[str]:
    """The test functions of a file, those in classes too."""
    tree = ast.parse(ROOT.joinpath(path).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def named(cell: str) -> list[tuple[str, str]]:
    """Path and name of each test in the last cell."""
    return re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", cell)


def test_the_table_is_read() -> None:
    """Its head is as expected, and it has a line for each kind of fault."""
    head, *faults = rows()
    assert head == HEAD
    assert len(faults) > 40
    assert len({fault for fault, *_ in faults}) == len(faults)


@pytest.mark.parametrize("row", rows()[1:], ids=lambda row: row[0][:60])
def test_each_fault_names_tests_that_exist(row: list[str]) -> None:
    """Every cell is filled, and each test in the last one is there under that name."""
    assert len(row) == len(HEAD)
    assert all(row)
    found = named(row[-1])
    assert found
    assert len(found) == row[-1].count("::")
    assert [f"{path}::{name}" for path, name in found if name not in functions_of(path)] == []
