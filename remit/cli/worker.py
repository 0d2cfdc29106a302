"""`remit worker run`: one worker process, for any command or a Python function."""

import logging
import os
import shutil
import signal
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import click

from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.serving import readable_log
from remit.errors import SettingsError
from remit.roles import role


@click.group()
def worker() -> None:
    """Run workers."""


@worker.command()
@click.option("--pool", help="The pool it serves.")
@click.option(
    "--exec", "command", metavar="CMD", help="The command that works on an attempt: a program, or a quoted line."
)
@click.option("--module", metavar="MODULE:FUNC", help="Instead: a Python function marked with @remit.worker.")
@click.option("--id", "worker_id", help="Its id; stays the same over restarts. Default: HOST-POOL.")
@click.option("--slots", type=click.IntRange(1, 256), help="Attempts at once (1).")
@click.option(
    "--capability", "capabilities", multiple=True, help="What it can do; repeatable. Default: all of its pool."
)
@click.option("--tool", "tools", multiple=True, help="A tool it has; repeatable. Default: all of its pool.")
@click.option("--price", "price_entry", help="Its entry in the policy's prices (default).")
@click.option("--env-allow", multiple=True, metavar="NAME", help="Pass this variable on; its value is redacted.")
@click.option(
    "--secrets-from", type=click.Path(path_type=Path), help="Pass on NAME=VALUE lines; redacted, kept from checks."
)
@click.option(
    "--no-model",
    "calls_no_model",
    is_flag=True,
    default=None,
    help="It calls no model: without a report its tokens are none.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    help="Run commands under bubblewrap where it works (auto), or refuse to start without it (require).",
)
@click.option(
    "--read-only",
    multiple=True,
    type=click.Path(path_type=Path, resolve_path=True),
    help="A file or folder that commands in the sandbox may read beside the handler's own; repeatable.",
)
@click.option("--keep-workspaces", is_flag=True, default=None, help="Leave each attempt's folder, for looking at.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="YAML or JSON with these and further settings.")
@click.option("-v", "--verbose", is_flag=True, help="Log more.")
@pass_invocation
def run(
    invocation: Invocation,
    /,
    command: str | None,
    module: str | None,
    file: Path | None,
    verbose: bool,
    **flags: Any,  # noqa: ANN401 - judged by the worker's configuration
) -> None:
    """Take offers of a pool until stopped (Ctrl-C or SIGTERM).

    The command finds $REMIT_DISPATCH, $REMIT_WORKSPACE and $REMIT_OUT, and writes $REMIT_RESULT and $REMIT_USAGE.
    """
    readable_log(logging.DEBUG if verbose else logging.INFO)
    settings = invocation.connected
    flags |= _handler(command, module, flags)
    if not file:
        flags["worker_id"] = flags["worker_id"] or f"{socket.gethostname()}-{flags['pool']}"
    config = role("workers.config").load_config(file, home=settings.home, **flags)
    _check_command(config.argv)
    from remit.artefacts import ArtefactStore  # noqa: PLC0415 - keeps start-up quick

    service = role("workers.service").Service(invocation.log, config, ArtefactStore(settings.artefact_url))
    _stop_on_signal(service.stop)
    service.run()


def _handler(command: str | None, module: str | None, flags: dict[str, Any]) -> dict[str, Any]:
    """The command line of the handler, and what its decorator says where flags don't."""
    if command and module:
        raise SettingsError("--exec and --module: give one of them")
    if module:
        return _module(module, flags)
    return {"argv": _words(command)} if command else {}


def _words(command: str) -> list[str]:
    """A program as it is, else a line taken apart like a shell's, without a shell."""
    import shlex  # noqa: PLC0415 - keeps start-up quick

    try:
        words = [command] if os.path.isfile(command) else shlex.split(command)  # noqa: PTH113 - a name of any length
    except ValueError as error:
        raise SettingsError(f"--exec: can't be taken apart: {error}") from None
    if not words:
        raise SettingsError("--exec: must name a program")
    return [str(Path(words[0]).absolute()), *words[1:]] if os.sep in words[0] else words


def _module(target: str, flags: dict[str, Any]) -> dict[str, Any]:
    from remit.sdk.registration import load, registration_of  # noqa: PLC0415 - keeps start-up quick

    said = registration_of(load(target, Path.cwd()))
    if said is None:
        raise SettingsError("--module: the function is not marked with @remit.worker")
    return {
        "argv": [sys.executable, "-m", "remit.sdk", target, str(Path.cwd())],
        "capabilities": flags["capabilities"] or (said.capability,),
        "tools": flags["tools"] or said.tools,
    }


def _check_command(argv: list[str]) -> None:
    if shutil.which(argv[0]) is None:
        raise SettingsError("--exec: there is no such program, or it may not be run")


def _stop_on_signal(stop: Any) -> None:  # noqa: ANN401 - a callable without arguments
    def stop_now(_number: int, _frame: FrameType | None) -> None:
        stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_now)
