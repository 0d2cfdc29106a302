"""Which command lines the runner observes for an attempt, from the contract alone. Pure; only this role imports it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from remit.contract.handout import Handout
from remit.contract.normal import Command, EvidenceKind
from remit.events.base import Evidence, EvidenceForm

REPORT, FAILING = "{report}", "{failing}"
_COMMANDED = frozenset({EvidenceKind.TEST_RUN, EvidenceKind.SCAN, EvidenceKind.COMMAND})


@dataclass(frozen=True)
class Run:
    """One command line to run, and the checks by kind that one run of it speaks to."""

    name: str
    command: Command
    form: EvidenceForm
    argv: tuple[str, ...]
    checks: dict[EvidenceKind, tuple[str, ...]]
    failing: tuple[str, ...] = ()


def plan(handout: Handout, rework: Sequence[Evidence]) -> tuple[Run, ...]:
    """Each command that a check names, once: in a round after a defect its retest on what failed, then the whole."""
    failed = {each.command: each.failed_cases for each in rework if each.command and each.failed_cases}
    runs: list[Run] = []
    for name, checks in _by_command(handout).items():
        command = handout.commands[name]
        if command.retest is not None and name in failed:
            runs.append(Run(name, command, EvidenceForm.RETEST, command.retest, checks, failed[name]))
        runs.append(Run(name, command, EvidenceForm.FULL, command.argv, checks))
    return tuple(runs)


def _by_command(handout: Handout) -> dict[str, dict[EvidenceKind, tuple[str, ...]]]:
    found: dict[str, dict[EvidenceKind, tuple[str, ...]]] = {}
    for check in handout.checks():
        if check.kind in _COMMANDED and check.command in handout.commands:
            kinds = found.setdefault(check.command, {})
            kinds[check.kind] = (*kinds.get(check.kind, ()), check.id)
    return found


def fill(run: Run, report: Path, tree: Path) -> list[str]:
    """The command line with its report and failing cases filled in: `{failing}` becomes one argument for each."""
    cases = [case for each in run.failing if (case := node_id(each, tree)) is not None]
    words: list[str] = []
    for word in run.argv:
        words += cases if word == FAILING else [word.replace(REPORT, str(report))]
    return words


def node_id(case: str, tree: Path) -> str | None:
    """What to hand to the test runner for a report's `classname::name`; None for what could pass for an option.

    `tests.test_a.TestB::test_c` is `tests/test_a.py::TestB::test_c` where that file exists in the tree.
    """
    classname, _, name = case.partition("::")
    parts = classname.split(".")
    for length in range(len(parts) if all(parts) else 0, 0, -1):
        file = Path(*parts[:length]).with_suffix(".py")
        if _is_file(tree / file):
            return "::".join((file.as_posix(), *parts[length:], name))
    return None if case.startswith("-") else case


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # such as a name that is too long for one: a report may hold any
        return False
