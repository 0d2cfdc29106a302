"""What a command may see and reach: the arguments of the sandbox, the handler in a real one, and a machine without."""

import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import remit
from remit.contract.normal import Command, EvidenceKind, OutputKind
from remit.errors import SettingsError
from remit.events.inputs import ResultStatus
from remit.events.service import Dispatch
from tests.workers.rig import SUITE, WORKER, Rig, check, evidence, git_input, handout, offer_of, repository, script
from workers.config import WorkerConfig
from workers.confinement import confinement, sandbox_for, trouble
from workers.sandbox import Sandbox, View, system_of

HOME = Path("/data/project/.remit")
ATTEMPT = HOME / "workers/w-1/attempts/a"
BOX = Sandbox(
    program="/usr/bin/bwrap",
    system=system_of([(Path("/usr"), None), (Path("/bin"), "usr/bin")]),
    readable=(Path("/data/project"), Path("/data/project/agent"), Path("/opt/venv"), HOME / "shared"),
    links=((Path("/venv"), Path("/opt/venv")), (Path("/data/project/x"), Path("/opt/venv"))),
    home=HOME,
    secrets=(Path("/data/project/secrets"), Path("/elsewhere/secrets")),
)
VIEW = View(
    folder=ATTEMPT / "workspace", writable=(ATTEMPT,), guarded=(ATTEMPT / "inputs",), hidden=(ATTEMPT / "tools",)
)


def at(words: list[str], *wanted: str) -> int:
    """Where these words stand, one after another."""
    places = [i for i in range(len(words)) if tuple(words[i : i + len(wanted)]) == wanted]
    assert len(places) == 1, (wanted, words)
    return places[0]


def bound(path: Path | str, how: str = "--bind") -> tuple[str, ...]:
    return (how, str(path), str(path))


def test_the_command_comes_last_and_starts_in_its_folder() -> None:
    """Whatever it is, it is no option of the sandbox."""
    words = BOX.wrapped(["--bind", "/", "/"], VIEW)
    assert words[0] == "/usr/bin/bwrap"
    assert words[words.index("--") :] == ["--", "--bind", "/", "/"]
    assert words[words.index("--") - 2 : words.index("--")] == ["--chdir", str(ATTEMPT / "workspace")]


def test_later_mounts_hide_what_earlier_ones_show() -> None:
    """In order: the project is shown, the worker's home in it hidden, its own attempt shown, parts of that guarded."""
    words = BOX.wrapped(["x"], VIEW)
    order = [
        at(words, *bound("/data/project", "--ro-bind-try")),
        at(words, "--tmpfs", str(HOME)),
        at(words, *bound(HOME / "shared", "--ro-bind-try")),
        at(words, *bound(ATTEMPT)),
        at(words, *bound(ATTEMPT / "inputs", "--ro-bind")),
        at(words, "--tmpfs", str(ATTEMPT / "tools")),
        at(words, "--ro-bind", "/dev/null", "/data/project/secrets"),
        at(words, "--remount-ro", str(HOME)),
        at(words, "--remount-ro", "/"),
    ]
    assert order == sorted(order)


def test_it_is_apart_and_ends_with_the_runner() -> None:
    """Own users, processes and network, no capability; it dies with whoever started it."""
    words = BOX.wrapped(["x"], VIEW)
    assert {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent"} <= set(words)
    at(words, "--cap-drop", "ALL")
    assert "--unshare-net" not in BOX.wrapped(["x"], View(folder=ATTEMPT, network=True))


def test_nothing_is_bound_twice_or_for_nothing() -> None:
    """A file in a folder that is shown, a link that is there, a secret that nobody would see: left out."""
    words = BOX.wrapped(["x"], VIEW)
    assert "/data/project/agent" not in words
    assert "/data/project/x" not in words
    assert "/elsewhere/secrets" not in words
    at(words, "--symlink", "/opt/venv", "/venv")
    at(words, "--symlink", "usr/bin", "/bin")


@pytest.mark.parametrize("file", ["/usr/local/etc/worker.env", "/etc/ssl/worker.env", "/etc/hosts"])
def test_secrets_in_what_shows_the_system_are_masked(file: str) -> None:
    """The system is shown before anything is named: a file of secrets may lie there, too."""
    words = replace(BOX, secrets=(Path(file),)).wrapped(["x"], VIEW)
    assert at(words, *bound("/usr", "--ro-bind")) < at(words, "--ro-bind", "/dev/null", file)


def test_secrets_are_masked_by_each_name_that_the_system_has_for_them(tmp_path: Path) -> None:
    """An entry of /etc that is a link shows what it leads to under its own name."""
    link = Path("/etc/localtime")
    words = sandbox_for(config(tmp_path, ["x"], secrets_from=link), "bwrap").wrapped(["x"], VIEW)
    at(words, "--ro-bind", "/dev/null", str(link))
    if link.resolve().is_relative_to("/usr"):
        at(words, "--ro-bind", "/dev/null", str(link.resolve()))


def config(folder: Path, argv: list[str], **fields: Any) -> WorkerConfig:
    return WorkerConfig(worker_id=WORKER, pool="coders", argv=argv, home=folder / "home", **fields)


def test_the_handler_s_own_folder_is_shown_but_never_half_the_machine(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its script's folder, and that of what it links to; of a file in the user's home that file, with a warning."""
    user = tmp_path / "user"
    (user / "agent").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(user))
    for name in ("agent/run.py", "loose.py"):
        (user / name).write_text("", encoding="utf-8")
    shown = sandbox_for(config(tmp_path, [sys.executable, str(user / "agent/run.py"), "/", str(user)]), "x").readable
    assert user / "agent" in shown
    assert not {user, Path("/")} & set(shown)
    caplog.clear()
    shown = sandbox_for(config(tmp_path, [sys.executable, str(user / "loose.py")]), "x").readable
    assert user / "loose.py" in shown
    assert user not in shown
    assert f"the sandbox shows no {user}" in caplog.text
    assert user in sandbox_for(config(tmp_path, ["x"], read_only=[str(user)]), "x").readable


def test_a_machine_without_one_is_said_loudly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Auto goes on with a warning, require names why and refuses; off warns as well."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert confinement(config(tmp_path, ["x"])) is None
    assert "NO SANDBOX: there is no bwrap (bubblewrap) on this machine" in caplog.text
    assert confinement(config(tmp_path, ["x"], sandbox="off")) is None
    assert "NO SANDBOX: the configuration says sandbox: off" in caplog.text
    with pytest.raises(SettingsError, match="sandbox: require, but there is no bwrap"):
        confinement(config(tmp_path, ["x"], sandbox="require"))


def test_one_that_does_not_work_counts_as_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the kernel forbids it, its own words say so."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert confinement(config(tmp_path, ["x"])) is None
    assert "does not work here: bwrap: No permissions to create a new namespace" in caplog.text


def test_a_worker_says_whether_it_has_one(rig: Rig, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In the line by which it takes offers."""
    caplog.set_level(logging.INFO, "remit.worker")
    with rig.working(script(tmp_path, ""), sandbox="off"):
        pass
    assert "takes offers, WITHOUT A SANDBOX" in caplog.text


PROBE = """
import json, os, pathlib, socket, subprocess

def tried(what):
    try:
        return repr(what())
    except OSError as error:
        return type(error).__name__

def connect():
    with socket.create_connection(("127.0.0.1", {port}), 5):
        return "connected"

root = pathlib.Path(os.environ["REMIT_WORKSPACE"]).parent
seen = {{
    "file": tried(lambda: pathlib.Path({secrets!r}).read_text()),
    "other attempt": tried(lambda: (root.parent / "other" / "file").read_text()),
    "key": tried(lambda: (root.parent.parent / "key.pem").read_text()),
    "attempts": sorted(os.listdir(root.parent)),
    "home of the user": sorted(os.listdir({user!r})) if os.path.isdir({user!r}) else [],
    "worker's environment": tried(lambda: open(f"/proc/{runner}/environ", "rb").read()),
    "write beside": tried(lambda: pathlib.Path({beside!r}).write_text("x")),
    "write into system": tried(lambda: pathlib.Path("/usr/remit-was-here").write_text("x")),
    "write dispatch": tried(lambda: pathlib.Path(os.environ["REMIT_DISPATCH"]).write_text("x")),
    "network": tried(connect),
    "own": tried(lambda: (root / "out" / "own").write_text("x")),
    "moved": tried(lambda: os.rename(root / "out" / "own", root / "workspace" / "own")),
    "tmp": tried(lambda: pathlib.Path("/tmp/own").write_text("x")),
}}
(root / "out" / "report").write_text(json.dumps(seen))
"""


@pytest.fixture
def works(tmp_path: Path) -> bool:
    """Whether this machine has a sandbox; where it has none, the tests below hold the runner to its warning."""
    return confinement(config(tmp_path, ["x"])) is not None


def _below_home() -> list[Path]:
    """What must be seen although it lies in the user's home."""
    shown = [Path(each) for each in (sys.prefix, sys.base_prefix, remit.__file__, tempfile.gettempdir())]
    return [each.relative_to(Path.home()) for each in shown if each.is_relative_to(Path.home())]


@pytest.fixture
def listening() -> Iterator[int]:
    """A port of this machine at which somebody answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def looked(rig: Rig, folder: Path, port: int, **fields: Any) -> dict[str, Any]:
    """What a handler saw that tried everything."""
    secrets, handler = folder / "handler" / "secrets", folder / "handler"
    handler.mkdir()
    secrets.write_text("TOKEN=Zq7vK1mW9xT3pL5c\n", encoding="utf-8")
    places = {"secrets": str(secrets), "user": str(Path.home()), "beside": str(handler / "new"), "port": port}
    argv = script(handler, PROBE.format(runner=os.getpid(), **places))
    with rig.working(argv, sandbox="auto", secrets_from=secrets, secrets_to="tools", **fields):
        other = rig.folder / "home" / "workers" / WORKER / "attempts" / "other"
        other.mkdir(parents=True)
        (other / "file").write_text("another's", encoding="utf-8")
        result = rig.result(rig.send(offer_of(handout({"report": OutputKind.REPORT}))))
    assert result.result is not None
    assert result.result.status is ResultStatus.COMPLETED, result.result.message
    found: dict[str, Any] = json.loads(rig.stored(rig.output(result)["report"]))
    return found


def test_a_handler_sees_its_own_attempt_and_nothing_else(
    rig: Rig, tmp_path: Path, works: bool, listening: int, caplog: pytest.LogCaptureFixture
) -> None:
    """No secrets, key, other attempt, user's home, foreign process, network; no write but in its own folders."""
    seen = looked(rig, tmp_path, listening)
    if not works:
        assert "NO SANDBOX" in caplog.text
        assert seen["other attempt"] == '"another\'s"'
        return
    denied = {name: seen[name] for name in ("file", "other attempt", "key", "worker's environment", "network")}
    assert set(denied.values()) <= {"PermissionError", "FileNotFoundError", "OSError", "ConnectionRefusedError"}, denied
    assert len(seen["attempts"]) == 1
    assert set(seen["home of the user"]) <= {each.parts[0] for each in _below_home()}
    assert {seen["write beside"], seen["write into system"], seen["write dispatch"]} == {"OSError"}
    assert (seen["own"], seen["moved"], seen["tmp"]) == ("1", "None", "1")
    assert not (tmp_path / "handler" / "new").exists()


@pytest.mark.parametrize(("granted", "reached"), [("execute", "'connected'"), ("none", "ConnectionRefusedError")])
def test_the_network_is_there_where_configuration_and_grant_agree(
    tmp_path: Path, listening: int, caplog: pytest.LogCaptureFixture, granted: str, reached: str
) -> None:
    """Opened by the configuration, which says that hosts are not filtered; kept away by a grant of none."""
    seen = looked(_Granting(tmp_path, granted), tmp_path, listening, network=["api.example"])
    if "NO SANDBOX" not in caplog.text:
        assert "hosts are not filtered" in caplog.text
        assert seen["network"] == reached


class _Granting(Rig):
    """A rig whose offers grant the network, or keep it away."""

    def __init__(self, folder: Path, granted: str) -> None:
        super().__init__(folder)
        self._granted = granted

    def send(self, event: Dispatch) -> Dispatch:
        if event.offer is None:
            return super().send(event)
        grant = msgspec.structs.replace(event.offer.grant, permissions={"network": self._granted})
        return super().send(msgspec.structs.replace(event, offer=msgspec.structs.replace(event.offer, grant=grant)))


def test_checks_run_in_it_and_commits_come_out_of_it(rig: Rig, tmp_path: Path, works: bool, listening: int) -> None:
    """The tests' own code can't reach the network or the worker's files; git, pytest and the push work as ever."""
    source = tmp_path / "source"
    base = repository(
        source,
        {
            "test_reach.py": f"""
import pathlib, socket, pytest

def test_no_network():
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", {listening}), 5)

def test_no_files():
    with pytest.raises(OSError):
        pathlib.Path({str(rig.folder / "home" / "workers" / WORKER / "key.pem")!r}).read_bytes()
"""
        },
    )
    handler = """
import pathlib, subprocess
pathlib.Path("new").write_text("x")
subprocess.run(["git", "add", "."], check=True)
subprocess.run(["git", "commit", "-qm", "New"], check=True)
"""
    checks = (check("suite", EvidenceKind.TEST_RUN, "suite"),)
    given = handout({"revision": OutputKind.REVISION}, checks, {"suite": SUITE})
    (tmp_path / "handler").mkdir()
    with rig.working(script(tmp_path / "handler", handler), sandbox="auto"):
        result = rig.result(rig.send(offer_of(given, (git_input(source, base),))))
    (run,) = evidence(result, "suite")
    assert result.result is not None
    assert result.result.status is ResultStatus.COMPLETED, result.result.message
    assert (len(run.passed_cases), len(run.failed_cases)) == ((2, 0) if works else (0, 2))
    assert len(rig.output(result)["revision"]) == 40


def test_a_check_without_a_repository_sees_the_workspace(rig: Rig, tmp_path: Path) -> None:
    """It runs where the handler worked, sandbox or not."""
    (tmp_path / "handler").mkdir()
    argv = script(tmp_path / "handler", "open('made', 'w').write('x')")
    given = handout({}, (check("c", EvidenceKind.COMMAND, "look"),), {"look": Command(argv=("cat", "made"))})
    with rig.working(argv, sandbox="auto"):
        result = rig.result(rig.send(offer_of(given)))
    (run,) = evidence(result, "look")
    assert run.exit_status == 0


def test_what_is_asked_to_end_may_end_politely(rig: Rig, tmp_path: Path, works: bool) -> None:
    """SIGTERM reaches the handler in its sandbox, not the sandbox, which would kill it at once."""
    (tmp_path / "handler").mkdir()
    argv = script(
        tmp_path / "handler",
        "import signal, sys, time\n"
        "def end(*_):\n    print('ended politely', flush=True)\n    sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready', flush=True)\ntime.sleep(600)\n",
    )
    with rig.working(argv, sandbox="auto"):
        result = rig.result(rig.send(offer_of(handout(), deadline_seconds=3)))
    assert result.result is not None
    assert result.result.message == "ended by the runner: deadline"
    assert result.result.log is not None
    assert b"ended politely" in rig.store.get(result.result.log), works


def test_the_probe_starts_this_interpreter(tmp_path: Path, works: bool) -> None:
    """`trouble` and a sandbox that works agree with what really happens."""
    made = sandbox_for(config(tmp_path, ["x"]), "bwrap")
    (tmp_path / "home").mkdir()
    if works:
        argv = made.wrapped([sys.executable, "-c", "import remit.sdk; print('here')"], View(folder=Path("/")))
        assert subprocess.check_output(argv, text=True) == "here\n"
    assert (trouble(made) is None) is works
