"""The command line's frame: exit codes, messages, and that nobody sees a stack trace."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from remit.cli import entry
from remit.cli.entry import run
from remit.cli.registry import COMMANDS
from remit.cli.worker import _check_command, _handler
from remit.errors import RefusedError, RemitError, SettingsError, UnconfirmedError

CANARY = "canary-77aa"


def _raising(error: Exception) -> click.Command:
    @click.command()
    def failing() -> None:
        raise error

    return failing


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Lets a test put a command of its own in place of every other; errors are logged to a folder of the test."""
    monkeypatch.setenv("REMIT_HOME", str(tmp_path / "home"))
    return monkeypatch


def _fail_with(patch: pytest.MonkeyPatch, error: Exception) -> int:
    patch.setattr(entry.LazyGroup, "get_command", lambda *_: _raising(error))
    return run(["anything"])


@pytest.mark.parametrize(("error", "code"), [(RefusedError("no"), 1), (UnconfirmedError("no"), 3)])
def test_an_error_of_ours_is_its_message_and_its_exit_code(
    error: RemitError, code: int, failing: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, without a stack trace; stdout stays clean for programs."""
    assert _fail_with(failing, error) == code
    assert capsys.readouterr() == ("", "no\n")


def test_an_unexpected_error_is_one_line_that_names_the_log(
    failing: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The log holds where it happened; the message, which may quote a secret, is in neither."""
    assert _fail_with(failing, ValueError(CANARY)) == entry.UNEXPECTED
    told = capsys.readouterr().err
    log = (tmp_path / "home" / "errors.log").read_text("utf-8")
    assert told.count("\n") == 1
    assert "errors.log" in told
    assert "in failing" in log
    assert CANARY not in told + log


def test_ctrl_c_ends_quietly(failing: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With the exit code that shells know."""
    failing.setattr(entry.LazyGroup, "invoke", _interrupted)
    assert run(["doctor"]) == entry.INTERRUPTED
    assert "Traceback" not in capsys.readouterr().err


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_reader_that_goes_away_is_no_error() -> None:
    """`remit ... | head` prints nothing on stderr."""
    script = "import sys; from remit.cli.entry import run; sys.exit(run(['--help']))"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, and the word is named."""
    assert run(["nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_commands_are_sorted_and_every_one_has_help() -> None:
    """Each entry of the registry can be imported and says what it does."""
    assert list(COMMANDS) == sorted(COMMANDS)
    context = click.Context(entry.remit)
    commands = {name: entry.remit.get_command(context, name) for name in COMMANDS}
    assert [name for name, command in commands.items() if command is None or not command.help] == []


def test_starting_up_imports_no_command() -> None:
    """`remit --version` loads neither a Kafka client nor pydantic."""
    script = "import sys; from remit.cli.entry import run; run(['--version']); print(sorted(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"confluent_kafka", "pydantic", "duckdb", "fastavro"} & set(ran.stdout.replace("'", "").split(", "))


def test_a_message_cannot_steer_the_terminal(failing: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What a message quotes is shown without control characters."""
    _fail_with(failing, RefusedError("no \x1b[31mred\x07"))
    assert capsys.readouterr().err == "no  [31mred \n"


@pytest.mark.parametrize("command", ["'open", "  ", "#", "a" * 5_000, "no-such-program-77", "/", "\\"])
def test_a_handler_that_is_no_command_is_named(command: str) -> None:
    """`--exec` takes any text: what names no program is said to, in a line."""
    with pytest.raises(SettingsError, match="--exec"):
        _check_command(_handler(command, None, {}).get("argv", []))


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e400", "-inf", "0", "1e10"])
@pytest.mark.parametrize("words", [["submit", __file__], ["cancel", "w1", "--reason", "x"]])
def test_a_wait_is_a_time_that_a_clock_can_measure(
    words: list[str], seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """NaN, infinity and ages are no seconds to wait: exit 2, and nothing was sent."""
    assert run([*words, "--timeout", seconds]) == 2
    assert "--timeout" in capsys.readouterr().err
