"""Whatever command prints JSON prints nothing else on stdout, and ends quietly when nobody reads it any more."""

import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest

from projector.rebuild import rebuild
from remit.cli.entry import remit, run
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.log import KafkaLog
from remit.reading import view_files
from remit.settings import load
from remit.topics import fixed_specs
from tests.cli.conftest import Terminal
from tests.cli.waits import escalated
from tests.client.conftest import serving
from tests.supervisor.world import POLICY, two_tasks

LINES = "watch"
"""The one command that prints a document a line, as its help says."""
ELSEWHERE = {"grant verify"}
"""Needs a signed grant: its own tests show that it prints one document."""
ON_A_CLUSTER = {"doctor": ("doctor",), "topics list": ("topics", "list")}
CASES: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "amend": lambda home: ("amend", "w1", str(home / "workflow.json"), "--reason", "x"),
    "artefact put": lambda home: ("artefact", "put", str(home / "workflow.json")),
    "budget": lambda _: ("budget", "w1"),
    "simulate": lambda _: ("simulate", "--seed", "1"),
    "cancel": lambda _: ("cancel", "w1", "--task", "b", "--reason", "x"),
    "check": lambda home: ("check", str(home / "workflow.json"), "--policy", str(home / "policy.yaml")),
    "evidence": lambda _: ("evidence", "w1"),
    "explain": lambda _: ("explain", "w1", "a"),
    "history": lambda _: ("history", "w1"),
    "inbox": lambda _: ("inbox",),
    "keys show": lambda _: ("keys", "show"),
    "list": lambda _: ("list",),
    "metrics": lambda _: ("metrics",),
    "policy apply": lambda home: ("policy", "apply", str(home / "policy.yaml")),
    "policy show": lambda _: ("policy", "show"),
    "query": lambda _: ("query", "FROM workflows"),
    "rebuild": lambda _: ("rebuild",),
    "resolve": lambda _: ("resolve", "w3/4", "--stop", "--reason", "x"),
    "retry": lambda _: ("retry", "w4", "a", "--reason", "x"),
    "schemas list": lambda _: ("schemas", "list"),
    "schemas show": lambda _: ("schemas", "show", "leases"),
    "show": lambda _: ("show", "w1"),
    "submit": lambda home: ("submit", str(home / "workflow.json")),
    "views": lambda _: ("views",),
    LINES: lambda _: (LINES, "w2"),
}


def _with_json(group: click.Group, path: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _with_json(command, f"{path}{name} ")
        elif command and any("--json" in each.opts for each in command.params):
            yield f"{path}{name}"


def test_every_command_with_a_json_option_is_tried_here() -> None:
    """CLI-1: one that is added is, too."""
    assert set(_with_json(remit)) == CASES.keys() | ON_A_CLUSTER.keys() | ELSEWHERE


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Logging at its loudest, and warnings as they come, from within the command too."""
    handler = logging.StreamHandler(sys.stderr)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    dumps = json.dumps

    def warns(*given: object, **named: object) -> str:
        warnings.warn("about to print", UserWarning, stacklevel=1)
        logging.getLogger("remit.test").debug("about to print")
        return dumps(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("remit.cli.output.json.dumps", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def ready(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A workflow that is open, one that has ended, two that wait for their owner, files, and views."""
    world, home = terminal.world, terminal.world.folder
    terminal.file(two_tasks())
    (home / "policy.yaml").write_text(POLICY)
    escalated(world, "w3")
    escalated(world, "w4")
    world.submit(two_tasks())
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()
    world.cancel("w2")
    world.settle()
    rebuild(world.log, view_files(load().home))
    monkeypatch.setattr(KafkaLog, "from_settings", lambda _: world.log)
    with serving(world):
        yield terminal


@pytest.mark.usefixtures("told")
@pytest.mark.filterwarnings("default")
def test_stdout_is_one_document(ready: Terminal) -> None:
    """CLI-1: and nothing else, at the loudest log level and with warnings; `watch` prints one a line."""
    for command, words in CASES.items():
        assert ready.run(*words(ready.world.folder), "--json") == 0, ready.err
        documents = ready.out.splitlines() if command == LINES else [ready.out]
        assert [json.loads(each) for each in documents], command


def test_a_closed_pipe_gives_no_traceback(ready: Terminal) -> None:
    """CLI-1: the reader went away before the first byte: nothing is said, and it is no fault of ours."""
    for command, words in CASES.items():
        given = (*words(ready.world.folder), "--json")
        assert closed(lambda given=given: ready.run(*given)) in {0, 1}, command  # type: ignore[misc]
        assert not {"Traceback", "unexpectedly"} & set(ready.err.split()), command


def closed(work: Callable[[], int]) -> int:
    """What `work` returns or ends with while stdout is a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    kept = sys.stdout, sys.stderr  # click puts others in their place
    broken = sys.stdout = os.fdopen(writing, "w")
    try:
        return work()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.stdout, sys.stderr = kept
        with suppress(BrokenPipeError):
            broken.close()


@pytest.fixture
def cluster(kafka: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Topics of this test alone on the real broker."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", kafka)
    monkeypatch.setenv("REMIT_TOPIC_PREFIX", prefix)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    TopicAdmin(load()).create(fixed_specs(prefix))


@pytest.mark.kafka
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("command", ON_A_CLUSTER)
def test_what_asks_the_cluster_ends_quietly_too(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """CLI-1: that they print one document, their own tests show."""
    assert closed(lambda: run([*ON_A_CLUSTER[command], "--json"])) in {0, 1}
    assert "Traceback" not in capsys.readouterr().err
