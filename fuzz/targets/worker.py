"""What a worker's command leaves behind and says: result, usage, output files, its line; and the worker's own files."""

import contextlib
import json
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from remit.artefacts import ArtefactStore
from remit.contract.normal import OutputKind
from remit.documents import parse
from remit.errors import ContractInvalidError, RefusedError
from remit.redaction import Redactor
from remit.result import read_envelope
from remit.result.envelope import size_fault
from remit.result.subtasks import read_subtasks, write_subtasks
from workers.channel import Channel
from workers.config import load_config, read_secrets
from workers.gateway import Gateway
from workers.job import Ground
from workers.meter import Meter
from workers.outputs import Collector, Leftovers
from workers.process import Ended
from workers.spool import Spool

from ..making import bombs, documents, odd, raw, texts, trees
from ..quiet import quietly
from ..target import LawBrokenError, Target

_SHA = "ab" * 32
_STORED = {"artefact_ref": f"artefact://sha256/{_SHA}", "sha256": _SHA, "size": 3}
_EVIDENCE = {
    "kind": "test_run",
    "checks": ["suite"],
    "argv": ["pytest"],
    "exit_status": 0,
    "passed_cases": ["tests.a::b"],
    "output": {"file": "log.txt"},
    "subject": {"repository": "svc", "revision": "0f" * 20},
}
_USAGE = {"model": "m", "tokens_in": 5, "tokens_out": 6, "tool_calls": 1, "cost_gbp": "0.25"}
_ENVELOPES = tuple(
    map(
        json.dumps,
        (
            {"status": "completed", "output": {"report": "fine"}, "evidence": [_EVIDENCE], "usage": _USAGE},
            {"status": "completed", "artefact_ref": _STORED, "evidence": []},
            {"status": "blocked", "blocked_reason": "input", "output": {}, "evidence": [], "message": "why"},
            {"status": "failed", "output": {}, "evidence": [], "error_class": "RETRYABLE_FAILED", "retry_after": 5},
        ),
    )
)
_CONFIG = """
worker_id: w1
pool: shell
argv: [python3, work.py]
home: /tmp/w
slots: 2
permissions: {repository: [read-only, "read-write:feature"]}
renewal_seconds: 5
lease_seconds: 30
env_allow: [PATH]
"""
_CONFIG_JSON = '{"worker_id": "w1", "pool": "shell", "argv": ["a"], "home": "/tmp/w", "lease_seconds": 30, "slots": 2}'
_SECRETS = "# mine\nexport TOKEN='ghp_abc'\nDB_PASSWORD=hunter2\nEMPTY=\n"
_SPOOLED = '{"attempt_id": "00000000-0000-0000-0000-000000000007", "topic": "results", "key": "YQ==", "value": "AA=="}'


def _envelope(dice: Random) -> bytes:
    return documents.json_file(dice, _ENVELOPES)


def _read_envelope(given: bytes) -> bool:
    read_envelope(given)
    return True


_PROPOSALS = (
    json.dumps([{"id": "a.1", "task_type": "shell", "objective": "Part 1", "inputs": {"of": "task://a/report"}}]),
    json.dumps(
        [{"id": f"a.{n}", "task_type": "shell", "depends_on": ["a"], "limits": {"max_tokens": n}} for n in (1, 2)]
    ),
)


def _proposals(dice: Random) -> bytes:
    return documents.json_file(dice, _PROPOSALS)


def _read_proposals(given: bytes) -> bool:
    """What is read can be written, and reads the same again."""
    found = read_subtasks(given.decode(errors="replace"))
    if read_subtasks(write_subtasks(found)) != found:
        raise LawBrokenError("proposals read otherwise than they were written")
    return bool(found)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="remit-fuzz-"))


def _usage(dice: Random) -> bytes:
    return documents.json_file(dice, (json.dumps(_USAGE),))


def _read_usage(given: bytes) -> bool:
    file = _folder() / "usage.json"
    file.write_bytes(given)
    return Meter(file, Redactor()).usage() is not None


def _output(dice: Random) -> tuple[str, bytes, str]:
    """A declared kind, a file of the workspace, and what the envelope gives in its place."""
    kind = dice.choice(tuple(OutputKind)).value
    given = odd.value(dice) if dice.randrange(2) else dice.choice((_STORED, {"file": "out"}, {"file": odd.text(dice)}))
    return kind, documents.json_file(dice, _ENVELOPES), json.dumps(given)


def _collected(given: tuple[str, bytes, str]) -> bool:
    """Inferred from the file, then as given; whatever comes out fits into the text of a result."""
    kind, data, value = given
    ground = Ground(_folder())
    for folder in (ground.out, ground.workspace):
        folder.mkdir(exist_ok=True)
    (ground.out / "out.json").write_bytes(data)
    bench: Any = SimpleNamespace(redactor=Redactor(), store=_store())
    collector = Collector(bench, ground, {"out": OutputKind(kind)})
    for said in ({}, _said(value)):
        found = collector.collect(said, Leftovers("0f" * 20, "0f" * 20, b"diff", b"log", ()))
        size_fault(json.dumps(found.values, ensure_ascii=False))
    return True


def _said(value: str) -> dict[str, Any]:
    """The envelope's output, where the envelope's reader lets it in."""
    try:
        return parse(f'{{"out": {value}}}', is_json=True)
    except ContractInvalidError:
        return {}


@cache
def _store() -> ArtefactStore:
    return ArtefactStore("memory://fuzz-outputs")


def _of_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], bool]:
    def judge(given: bytes) -> bool:
        file = _folder() / name
        file.write_bytes(given)
        read(file)
        return True

    return judge


def _config(dice: Random) -> bytes:
    return documents.yaml_file(dice, (_CONFIG,), (_CONFIG_JSON,))


def _secrets(dice: Random) -> bytes:
    return texts.as_bytes(dice, texts.mutated(dice, _SECRETS))


def _spool(dice: Random) -> bytes:
    match dice.randrange(8):
        case 0:
            return bombs.document(dice).encode()
        case 1 | 2 | 3:
            return raw.mutated(dice, _SPOOLED.encode())
    return trees.as_json(dice, documents.tree_of(dice, (_SPOOLED,))).encode(errors="replace")


def _spooled(given: bytes) -> bool:
    """One that can't be read is set aside, and the next look doesn't see it."""
    folder = _folder() / "spool"
    spool = Spool(folder)
    (folder / "00.result").write_bytes(given)
    with quietly("remit.worker"):  # it warns of each
        found = spool.waiting()
    for file in folder.iterdir():
        file.unlink()
    return bool(found)


_SAID = tuple(
    map(
        json.dumps,
        (
            {"op": "run", "argv": ["pytest", "-q"]},
            {"op": "tool", "argv": ["read_product", "A14"]},
            {"op": "progress", "note": "half way"},
        ),
    )
)


class _Idle(Channel):
    """A line whose commands are not run."""

    def _run(self, *_: object) -> Ended:
        return Ended(0, b"")


class _Free(Gateway):
    """Any number of calls, and no tool."""

    def most(self) -> int | None:
        return None

    def _command(self, name: str) -> list[str]:
        raise RefusedError(f"there is no tool {name}")


def _said_over_the_line(dice: Random) -> bytes:
    return documents.json_file(dice, _SAID)


def _served(given: bytes) -> bool:
    """As a handler's SDK speaks, once; what is taken can be written into a record."""
    bench: Any = SimpleNamespace(redactor=Redactor(), clock=lambda: documents.AT)
    job: Any = SimpleNamespace(until=float("inf"), dispatch=SimpleNamespace(attempt_id="fuzz"))
    line, meter = _Idle(job, bench), Meter(_folder() / "none", Redactor())
    gateway = _Free(job, bench, meter, line.asked)
    ours, theirs = Pipe()
    sender = threading.Thread(target=_send, args=(theirs, given))
    sender.start()
    line._serve(ours, {}, meter, gateway)  # noqa: SLF001 - what its thread does
    ours.close()
    sender.join()
    words = [word for each in line.asked for word in each.argv]
    "".join((*words, meter.progress()[1] or "")).encode()
    return bool(words) or meter.progress() != (0, None)


def _send(line: Connection, given: bytes) -> None:
    with contextlib.suppress(OSError):  # refused at its length
        line.send_bytes(given)
    line.close()


TARGETS = (
    Target("worker.envelope", _envelope, _read_envelope),
    Target("worker.subtasks", _proposals, _read_proposals),
    Target("worker.usage", _usage, _read_usage),
    Target("worker.output", _output, _collected, least=1_000),
    Target("worker.channel", _said_over_the_line, _served),
    Target("worker.config", _config, _of_file("config.yaml", load_config)),
    Target("worker.secrets", _secrets, _of_file("secrets.env", read_secrets)),
    Target("worker.spool", _spool, _spooled),
)
