"""Tools: only those granted, only as often as granted, outside the sandbox, with credentials that no handler holds."""

import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from remit.contract.normal import Command, EvidenceKind, OutputKind
from remit.errors import RefusedError, SettingsError
from remit.events.base import Amounts
from remit.events.inputs import ResultStatus
from remit.events.service import Dispatch
from remit.redaction import Redactor
from tests.workers.rig import Rig, check, evidence, handout, offer_of, script
from workers.config import load_config
from workers.gateway import Gateway
from workers.meter import Meter
from workers.process import Ended

CANARY = "Zq7vK1mW9xT3pL5c"
SEARCH = """
import os, pathlib, sys
print("found", *sys.argv[1:], os.environ.get("TOKEN", "no token"), pathlib.Path.cwd().name)
print(sorted(name for name in os.environ if name.startswith("REMIT_")))
sys.exit(7 if "fail" in sys.argv else 0)
"""


def offer(most: int | None = None, tools: tuple[str, ...] = ("search",), **outputs: OutputKind) -> Dispatch:
    """An offer that grants tools, and so many calls."""
    given = handout(outputs or {"report": OutputKind.REPORT})
    made = offer_of(given)
    assert made.offer is not None
    grant = msgspec.structs.replace(made.offer.grant, tools=tools, max_tool_calls=most)
    granted = msgspec.structs.replace(made.offer, grant=grant, remaining=Amounts(tool_calls=most))
    return msgspec.structs.replace(made, offer=granted)


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, list[str]]:
    """Commands of a worker's tools."""
    folder = tmp_path / "tools"
    folder.mkdir()
    return {"search": script(folder, SEARCH), "deploy": ["true"]}


def shell(folder: Path, text: str) -> list[str]:
    """A handler in a language of its own, which knows nothing of this project."""
    path = folder / "agent" / "handler.sh"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return ["/bin/sh", str(path)]


CALLS = """
remit-tool search for "two words" > "$REMIT_OUT/report"; echo "exit $?" >> "$REMIT_OUT/report"
remit-tool search fail > /dev/null; echo "exit $?" >> "$REMIT_OUT/report"
remit-tool deploy 2>> "$REMIT_OUT/report"; echo "exit $?" >> "$REMIT_OUT/report"
remit-tool unknown 2>> "$REMIT_OUT/report"; echo "exit $?" >> "$REMIT_OUT/report"
remit-tool search once more 2>> "$REMIT_OUT/report"; echo "exit $?" >> "$REMIT_OUT/report"
env | grep TOKEN && echo "the handler has the token" >> "$REMIT_OUT/report"
true
"""


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_any_executable_calls_tools_through_the_gateway(
    rig: Rig, tmp_path: Path, tools: dict[str, list[str]], sandbox: str
) -> None:
    """Output and exit status of the tool; refused with 126 and why: not granted, unknown, used up. All is recorded."""
    secrets = tmp_path / "secrets"
    secrets.write_text(f"TOKEN={CANARY}\n", encoding="utf-8")
    given = {"tool_commands": tools, "sandbox": sandbox, "secrets_from": secrets, "secrets_to": "tools"}
    with rig.working(shell(tmp_path, CALLS), **given):
        result = rig.result(rig.send(offer(2)))
    body = result.result
    assert body is not None
    assert body.status is ResultStatus.COMPLETED, body.message
    report = rig.stored(rig.output(result)["report"]).decode().splitlines()
    assert report == [
        "found for two words [redacted] tools",
        "['REMIT_DISPATCH', 'REMIT_OUT', 'REMIT_WORKER_KEY', 'REMIT_WORKSPACE']",
        "exit 0",
        "exit 7",
        "remit-tool: refused: this tool is not granted",
        "exit 126",
        "remit-tool: refused: this tool is not granted",
        "exit 126",
        "remit-tool: refused: the calls of this attempt are used up: 2 beside those of its checks",
        "exit 126",
    ]
    asked = [(each.argv[:2], each.exit_status) for each in evidence(result) if each.argv[:1] == ("remit-tool",)]
    search, deploy, unknown = (("remit-tool", name) for name in ("search", "deploy", "unknown"))
    assert asked == [(search, 0), (search, 7), (deploy, 126), (unknown, 126), (search, 126)]
    assert body.log is not None
    assert b"refused calls of tools: 3" in rig.store.get(body.log)
    assert body.usage is None  # what the model used was not told


def test_the_sdk_calls_tools_too(rig: Rig, tmp_path: Path, tools: dict[str, list[str]]) -> None:
    """`attempt.tool` gives output and exit status, or RefusedError; refused calls count nothing."""
    (tmp_path / "mine.py").write_text(
        "import remit\n"
        "from remit.errors import RefusedError\n"
        "@remit.worker('implement')\n"
        "def work(attempt):\n"
        "    ran = attempt.tool('search', 'x')\n"
        "    said = [ran.exit_status, ran.output.split()[:2]]\n"
        "    for name in ('deploy', 'search', 'search'):\n"
        "        try:\n"
        "            said.append(attempt.tool(name).exit_status)\n"
        "        except RefusedError as error:\n"
        "            said.append(str(error))\n"
        "    return remit.Completed({'value': said})\n",
        encoding="utf-8",
    )
    argv = [sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)]
    with rig.working(argv, tool_commands=tools, calls_no_model=True):
        result = rig.result(rig.send(offer(2, value=OutputKind.VALUE)))
    assert rig.output(result)["value"] == [
        0,
        ["found", "x"],
        "the tool deploy was refused: this tool is not granted",
        0,
        "the tool search was refused: the calls of this attempt are used up: 2 beside those of its checks",
    ]
    assert result.result is not None
    assert result.result.usage is not None
    assert result.result.usage.tool_calls == 2


def test_a_handler_that_ends_takes_its_tools_along(rig: Rig, tmp_path: Path) -> None:
    """A tool that runs on is ended with the attempt, and holds up nothing."""
    marker = tmp_path / "began"
    slow = ["sh", "-c", f"touch {shlex.quote(str(marker))}; exec sleep 600"]
    handler = f"remit-tool search & while [ ! -e {shlex.quote(str(marker))} ]; do sleep 0.05; done\n"
    with rig.working(shell(tmp_path, handler), tool_commands={"search": slow}):
        result = rig.result(rig.send(offer()))
    assert result.result is not None
    assert result.result.status is ResultStatus.COMPLETED


def test_a_tool_that_can_t_be_started_says_so(rig: Rig, tmp_path: Path) -> None:
    """Exit 127, as a shell would."""
    handler = 'remit-tool search > "$REMIT_OUT/report"; echo $? >> "$REMIT_OUT/report"\n'
    with rig.working(shell(tmp_path, handler), tool_commands={"search": ["/no/such/program"]}):
        result = rig.result(rig.send(offer()))
    assert rig.stored(rig.output(result)["report"]) == b"the tool can't be started: FileNotFoundError\n127\n"


def test_many_at_once_get_no_more_than_is_granted(rig: Rig, tmp_path: Path) -> None:
    """Ten calls side by side, three granted: three run."""
    handler = (
        "for n in 1 2 3 4 5 6 7 8 9 10; do\n"
        '  (remit-tool search 2> /dev/null; echo $? > "$REMIT_OUT/exit$n") &\n'
        "done\nwait\n"
        'cat "$REMIT_OUT"/exit* | sort -n | uniq -c | tr -s " " > "$REMIT_OUT/report"\n'
    )
    with rig.working(shell(tmp_path, handler), tool_commands={"search": ["true"]}):
        result = rig.result(rig.send(offer(3)))
    assert rig.stored(rig.output(result)["report"]).decode().split() == ["3", "0", "7", "126"]


def test_the_checks_own_commands_are_left_their_calls(tmp_path: Path) -> None:
    """What the runner will observe counts as well, so a handler can't use that up and lose its result."""
    given = handout({}, (check("c", EvidenceKind.COMMAND, "look"),), {"look": Command(argv=("true",))})
    gateway = gateway_of(tmp_path, given, 3)
    assert gateway.most() == 2
    assert gateway_of(tmp_path, given, None).most() is None


def gateway_of(folder: Path, given: Any, most: int | None) -> Gateway:
    grant = SimpleNamespace(tools=("search",), max_tool_calls=most)
    offered = SimpleNamespace(grant=grant, remaining=Amounts(tool_calls=most), rework=())
    job: Any = SimpleNamespace(
        offer=offered, handout=given, until=float("inf"), dispatch=SimpleNamespace(attempt_id="a")
    )
    config = SimpleNamespace(tool_commands={}, secrets_to="both")
    bench: Any = SimpleNamespace(config=config, clock=lambda: None, secrets={})
    return Gateway(job, bench, Meter(folder / "usage.json", Redactor()), [])


def test_what_a_handler_says_it_called_counts_too(tmp_path: Path) -> None:
    """Calls of its own that it reports leave fewer for the gateway."""
    gateway = gateway_of(tmp_path, handout(), 2)
    (tmp_path / "usage.json").write_text(json.dumps({"tool_calls": 1}), encoding="utf-8")
    assert gateway.observed(["x"], lambda: Ended(0, b"")).exit_status == 0
    with pytest.raises(RefusedError, match="used up"):
        gateway.observed(["x"], lambda: Ended(0, b""))


def test_refused_calls_flood_no_record(tmp_path: Path) -> None:
    """A thousand leave twenty records, and their number."""
    gateway = gateway_of(tmp_path, handout(), None)
    for _ in range(1000):
        with pytest.raises(RefusedError, match="has no command"):
            gateway.call("search", [])
    assert len(gateway.asked) == 20
    assert b"refused calls of tools: 1000" in gateway.told()


def test_a_line_that_is_no_call_is_refused(rig: Rig, tmp_path: Path) -> None:
    """Whatever is written to the socket, the runner goes on."""
    handler = """
import os, pathlib, socket
place = pathlib.Path(os.environ["REMIT_TOOLS"])
os.chdir(place.parent)
said = []
for line in (b"?", b"[]", b"{}", b'{"name": 1, "args": []}', b'{"name": "search", "args": "x"}', b"[" * 100000, b""):
    with socket.socket(socket.AF_UNIX) as way:
        way.connect(place.name)
        way.sendall(line + b"\\n")
        said.append(way.makefile("rb").read().split(b"\\n")[1].decode())
(pathlib.Path(os.environ["REMIT_OUT"]) / "report").write_text("\\n".join(sorted(set(said))))
"""
    (tmp_path / "agent").mkdir()
    with rig.working(script(tmp_path / "agent", handler)):
        result = rig.result(rig.send(offer()))
    assert rig.stored(rig.output(result)["report"]) == b"refused: a call is one JSON line with name and args"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tool_commands: {search: []}", "tool_commands.search"),
        ("secrets_to: everybody", "secrets_to"),
        ("sandbox: perhaps", "sandbox"),
        ("read_only: [here]", "read_only[0] must be absolute"),
        ("supervisor_keys: [abc]", "supervisor_keys[0]"),
    ],
)
def test_each_fault_of_the_configuration_is_named(tmp_path: Path, text: str, fault: str) -> None:
    """By its key."""
    file = tmp_path / "worker.yaml"
    file.write_text(f"worker_id: w\npool: p\nargv: [x]\nhome: .remit\n{text}\n", encoding="utf-8")
    with pytest.raises(SettingsError) as raised:
        load_config(file)
    assert fault in str(raised.value)
