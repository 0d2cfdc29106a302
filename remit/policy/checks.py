"""Rules of commands and checks that need no workflow. Pure; the policy room and the contract gate import it."""

from collections.abc import Iterator, Mapping

from remit.faults import Fault, Path, unknown_key
from remit.policy.model import CheckModel, CommandModel

RUNNER_KINDS = frozenset({"test_run", "scan", "command"})  # met only by a command that the runner ran
OUTPUT_KINDS = frozenset({"document", "review"})  # met by a declared output


def command_faults(command: CommandModel, path: Path) -> Iterator[Fault]:
    """What a command line lacks that its report or retest form needs."""
    if command.report and not any("{report}" in word for word in command.argv):
        yield Fault((*path, "argv"), "must hold {report}, where the report is to be written")
    if command.retest is not None and "{failing}" not in command.retest:
        yield Fault((*path, "retest"), "must hold {failing} as a word of its own")
    if command.retest is not None and command.report != "junit":
        yield Fault((*path, "retest"), "needs a junit report: it names the failing cases")


def check_faults(check: CheckModel, path: Path, commands: Mapping[str, CommandModel]) -> Iterator[Fault]:
    """What a check's own words contradict; `commands` are those it may name."""
    yield from _command_of_check(check, path, commands)
    if check.cases and check.kind != "test_run":
        yield Fault((*path, "cases"), "stands only on a test_run")
    if check.kind in OUTPUT_KINDS and check.output is None:
        yield Fault((*path, "output"), "is required")
    if check.kind not in OUTPUT_KINDS and check.output is not None:
        yield Fault((*path, "output"), "stands only on a document or review")


def _command_of_check(check: CheckModel, path: Path, commands: Mapping[str, CommandModel]) -> Iterator[Fault]:
    place = (*path, "command")
    if check.kind not in RUNNER_KINDS:
        if check.command is not None:
            yield Fault(place, "stands only on a test_run, scan or command")
    elif check.command is None:
        yield Fault(place, "is required")
    elif check.command not in commands:
        yield unknown_key(place, commands, "a command of the file or the policy", check.command)
    elif check.kind == "test_run" and commands[check.command].report != "junit":
        yield Fault(place, "must have a junit report")
    elif check.kind == "scan" and commands[check.command].report is None:
        yield Fault(place, "must have a report")
