"""The group `remit`, and the one place where an error becomes a message and an exit code.

Only `remit.cli` imports it.
"""

import importlib
import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

import click

from remit import __version__
from remit.cli.invocation import Invocation
from remit.cli.output import say
from remit.cli.registry import COMMANDS
from remit.errors import RemitError

INTERRUPTED = 130
UNEXPECTED = 70


class LazyGroup(click.Group):
    """A group whose commands are imported by name on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import the module that holds the command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--bootstrap", metavar="HOST:PORT", help="Use this cluster instead of the embedded broker.")
@click.version_option(__version__, prog_name="remit")
@click.pass_context
def remit(context: click.Context, bootstrap: str | None) -> None:
    """Coordinate a supervisor and many workers; nothing counts as done until it is verified."""
    context.obj = Invocation(bootstrap)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process: 0 done, 1 refused, 2 invalid, 3 unconfirmed, 70 a fault of ours."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code; whatever is raised becomes a message on stderr."""
    try:
        code = remit.main(arguments, prog_name="remit", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except RemitError as error:
        say(str(error), err=True)
        return error.exit_code
    except BrokenPipeError:
        _drop_output()
        return 1
    except Exception as error:  # noqa: BLE001 - the last line of defence: nobody sees a stack trace
        click.echo(f"remit failed unexpectedly ({type(error).__name__}); {_kept(error)}", err=True)
        return UNEXPECTED
    return code if isinstance(code, int) else 0


def _drop_output() -> None:
    """The reader went away: let nothing more be written, not even by the interpreter's own flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _kept(error: Exception) -> str:
    """Log where it happened: the frames only, for a message may quote what was read, secrets included."""
    log = Path(os.environ.get("REMIT_HOME") or ".remit") / "errors.log"
    frames = "".join(traceback.format_tb(error.__traceback__))
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as kept:
            kept.write(f"{datetime.now(UTC).isoformat()} {type(error).__name__}\n{frames}\n")
    except OSError:
        return f"the error log {log} can't be written"
    return f"where is in {log}"
