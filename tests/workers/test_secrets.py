"""No secret reaches the log, the store or the spool, whichever way a worker lets it slip."""

import hashlib
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.contract.normal import Command, EvidenceKind, OutputKind
from remit.events.inputs import ResultStatus
from remit.redaction import finds
from remit.topics import Topic
from tests.workers.rig import Rig, check, evidence, handout, offer_of, script
from workers.sender import Sender

CANARY = "Zq7vK1mW9xT3pL5c"
SHAPES = {
    "query": f"GET https://host.example/path?key=AIza{CANARY}{CANARY}&page=2",
    "header": f"Authorization: Bearer {CANARY}{CANARY}",
    "login": f"postgres://app:{CANARY}@db.example/app",
    "variable": f"DATABASE_PASSWORD={CANARY}",
    "json": json.dumps({"api_key": CANARY}),
    "nested": json.dumps({"inner": json.dumps({"client_secret": CANARY})}),
    "cookie": f"Set-Cookie: sessionid={CANARY}; Path=/",
    "pem": f"-----BEGIN PRIVATE KEY-----\n{CANARY}{CANARY}\n-----END PRIVATE KEY-----",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{CANARY}",
    "provider": f"ghp_{CANARY}{CANARY}",
    "pair": f"[('X-Api-Key', '{CANARY}')]",
    "case": f"PassWord : {CANARY}",
}


def every_byte(rig: Rig) -> Iterator[tuple[str, bytes]]:
    """All that was written: each record, each stored object, each file that the worker keeps."""
    for topic in (Topic.LEASES, Topic.RESULTS, Topic.WORKERS, Topic.LIVENESS):
        yield from ((topic, repr(event).encode()) for event in rig.read(topic))
    for folder in ("store", "home"):
        yield from ((str(path), path.read_bytes()) for path in (rig.folder / folder).rglob("*") if path.is_file())


def assert_clean(rig: Rig) -> None:
    leaks = [place for place, data in every_byte(rig) if CANARY.encode() in data]
    assert not leaks, leaks


@pytest.mark.parametrize("shape", SHAPES)
def test_an_exception_full_of_secrets_leaves_none(
    rig: Rig, tmp_path: Path, shape: str, caplog: pytest.LogCaptureFixture
) -> None:
    """REDACT-1: text, cause and environment of a handler's exception; class, host and place stay readable."""
    (tmp_path / "secret.txt").write_text(SHAPES[shape], encoding="utf-8")
    (tmp_path / "mine.py").write_text(
        "import os, pathlib, remit\n"
        f"text = pathlib.Path({str(tmp_path / 'secret.txt')!r}).read_text()\n"
        "@remit.worker('implement')\n"
        "def work(attempt):\n"
        "    attempt.progress('at ' + text)\n"
        "    try:\n"
        "        raise KeyError(text)\n"
        "    except KeyError as cause:\n"
        "        raise ConnectionError(f'https://host.example/path refused: {text} {dict(os.environ)}') from cause\n",
        encoding="utf-8",
    )
    caplog.set_level(logging.DEBUG)
    with rig.working([sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)], renewal_seconds=0.1):
        body = rig.result(rig.send(offer_of(handout({"log": OutputKind.LOG})))).result
    assert body is not None
    assert body.status is ResultStatus.FAILED
    assert "ConnectionError at mine.py:9: https://host.example/path refused" in (body.message or "")
    assert_clean(rig)
    assert CANARY not in caplog.text


def test_no_field_that_a_worker_fills_lets_a_secret_through(rig: Rig, tmp_path: Path) -> None:
    """REDACT-2: output, evidence, message, log, stored files, model name and progress note."""
    text = f"password={CANARY}"
    envelope = {
        "status": "completed",
        "output": {
            "value": {text: [text, {"deep": {"token": CANARY}}]},
            "document": {"file": "note.md"},
            "report": text,
        },
        "evidence": [
            {
                "kind": "command",
                "command": text,
                "argv": ["curl", text],
                "note": text,
                "checks": [text],
                "passed_cases": [text],
                "subject": {"repository": text, "revision": text},
                "output": {"file": "note.md"},
            }
        ],
        "message": text,
        "usage": {"model": text},
    }
    handler = f"""
import json, os, pathlib
pathlib.Path("note.md").write_text({text!r})
print({text!r})
pathlib.Path(os.environ["REMIT_RESULT"]).write_text(json.dumps({envelope!r}))
"""
    outputs = {
        "value": OutputKind.VALUE,
        "document": OutputKind.DOCUMENT,
        "report": OutputKind.REPORT,
        "log": OutputKind.LOG,
    }
    given = handout(outputs, (check("c", EvidenceKind.COMMAND, "echo"),), {"echo": Command(argv=("echo", text))})
    with rig.working(script(tmp_path, handler), keep_workspaces=False):
        result = rig.result(rig.send(offer_of(given)))
    assert rig.stored(rig.output(result)["document"]) == b"password=[redacted]"
    assert_clean(rig)


def test_a_workers_own_secrets_are_taken_out_and_kept_from_checks(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that pass by env_allow or secrets_from have no shape, and are known; only the handler sees the secrets."""
    monkeypatch.setenv("PLAIN_SETTING", f"setting {CANARY}")
    file = tmp_path / "secrets.env"
    file.write_text(f"# for the service\nexport SERVICE_WORD='word {CANARY}'\n", encoding="utf-8")
    handler = "import os; print(os.environ['SERVICE_WORD'], os.environ['PLAIN_SETTING'])"
    given = handout(
        {"log": OutputKind.LOG}, (check("c", EvidenceKind.COMMAND, "env"),), {"env": Command(argv=("env",))}
    )
    with rig.working(script(tmp_path, handler), env_allow=["PLAIN_SETTING"], secrets_from=file):
        result = rig.result(rig.send(offer_of(given)))
    log = rig.stored(rig.output(result)["log"])
    assert log.startswith(b"[redacted] [redacted]\n")
    (run,) = evidence(result, "env")
    assert run.output is not None
    seen = rig.store.get(run.output)
    assert b"PLAIN_SETTING=[redacted]" in seen
    assert b"SERVICE_WORD" not in seen
    assert_clean(rig)


def test_a_digest_speaks_of_the_bytes_that_are_kept(rig: Rig, tmp_path: Path) -> None:
    """REDACT-5: the worker's digest of the raw bytes is compared and dropped; the kept one verifies."""
    handler = """
import hashlib, json, os, pathlib
raw = b"pin=123456 password=246810"
pathlib.Path("out.txt").write_bytes(raw)
output = {"document": {"file": "out.txt", "sha256": hashlib.sha256(raw).hexdigest()}}
envelope = {"status": "completed", "output": output, "evidence": []}
pathlib.Path(os.environ["REMIT_RESULT"]).write_text(json.dumps(envelope))
"""
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout({"document": OutputKind.DOCUMENT}))))
    kept = rig.output(result)["document"]
    data = rig.stored(kept)
    assert b"246810" not in data
    assert hashlib.sha256(data).hexdigest() == kept["sha256"]
    raw = hashlib.sha256(b"pin=123456 password=246810").hexdigest()
    assert not [place for place, found in every_byte(rig) if raw.encode() in found]


def test_what_is_stored_is_clean_by_the_inspectors_own_rules(rig: Rig, tmp_path: Path) -> None:
    """What the runner stores gives the inspector, who scans with the common rules, nothing to find."""
    handler = "print(" + repr("\n".join(SHAPES.values())) + ")"
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout({"log": OutputKind.LOG}))))
    data = rig.stored(rig.output(result)["log"])
    assert finds(data.decode()) == []


def test_a_malformed_envelope_is_quoted_without_its_secrets(rig: Rig, tmp_path: Path) -> None:
    """REDACT-3: faults name path and rule; the text that travels has no value of a secret."""
    text = json.dumps({"status": "done", "password": CANARY, "output": {"token": CANARY}, "evidence": 5})
    handler = f"import os, pathlib; pathlib.Path(os.environ['REMIT_RESULT']).write_text({text!r})"
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout())))
    assert result.malformed is not None
    assert any(fault.startswith("password is not a known key") for fault in result.malformed.faults)
    assert_clean(rig)


def test_faults_quote_no_secret_key(rig: Rig, tmp_path: Path) -> None:
    """REDACT-3: a key may be a secret itself, and a fault's path names it."""
    text = json.dumps({"status": "completed", "output": {}, "evidence": [], f"ghp_{CANARY}{CANARY}": 1})
    handler = f"import os, pathlib; pathlib.Path(os.environ['REMIT_RESULT']).write_text({text!r})"
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout())))
    assert result.malformed is not None
    assert result.malformed.faults == ('["[redacted]"] is not a known key',)
    assert_clean(rig)


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_an_outputs_name_tells_that_its_value_is_a_secret(rig: Rig, tmp_path: Path, status: str) -> None:
    """REDACT-2: values without a shape are hidden under a telling name, stored texts too, and so are telling names."""
    output = {"reset_token": CANARY, f"ghp_{CANARY}{CANARY}": 1, "db_password": f"it is {CANARY}", "count": 3}
    envelope = {"status": status, "output": output, "evidence": []}
    handler = f"import os, pathlib; pathlib.Path(os.environ['REMIT_RESULT']).write_text({json.dumps(envelope)!r})"
    with rig.working(script(tmp_path, handler), keep_workspaces=False):
        kinds = {"reset_token": OutputKind.VALUE, "db_password": OutputKind.DOCUMENT, "count": OutputKind.VALUE}
        result = rig.result(rig.send(offer_of(handout(kinds))))
    found = rig.output(result)
    assert (found["reset_token"], found["[redacted]"], found["count"]) == ("[redacted]", 1, 3)
    if status == "completed":
        assert rig.stored(found["db_password"]) == b"[redacted]"
    assert_clean(rig)


def test_references_stay_whole_under_a_telling_name(rig: Rig, tmp_path: Path) -> None:
    """A stored output may be called what it likes: its reference is no secret."""
    handler = "import os, pathlib; (pathlib.Path(os.environ['REMIT_OUT']) / 'access_token').write_text('a text')"
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout({"access_token": OutputKind.DOCUMENT}))))
    assert rig.stored(rig.output(result)["access_token"]) == b"a text"


def test_a_spooled_result_is_clean_and_survives_an_outage(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the log takes no results they lie in the spool, redacted; a later process sends the very same record."""
    real = Sender.flush
    monkeypatch.setattr(Sender, "flush", lambda self: not self._spool.waiting())
    spool = rig.folder / "home" / "workers" / "w-1" / "spool"
    with rig.working(script(tmp_path, f"print('password={CANARY}')")):
        offer = rig.send(offer_of(handout({"log": OutputKind.LOG})))
        rig.until(lambda: list(spool.glob("*.result")), "a spooled result")
        assert_clean(rig)
    assert rig.read(Topic.RESULTS) == []
    monkeypatch.setattr(Sender, "flush", real)
    with rig.working(script(tmp_path, "")):
        result = rig.result(offer)
    assert result.attempt_id == offer.attempt_id
    rig.until(lambda: not list(spool.glob("*.result")), "an empty spool")
    assert len(rig.read(Topic.RESULTS)) == 1
