"""`remit keys show` and `remit grant verify`: a grant is checked by a public key alone."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from remit import grants
from remit.events.service import Grant
from remit.keys import own_key
from tests.cli.conftest import Terminal

GRANT = Grant(
    permissions={"repository": "execute"},
    expires_at=datetime.now(UTC) + timedelta(hours=1),
    worker_id="w-1",
    attempt_id=UUID(int=1),
)


@pytest.fixture
def public(terminal: Terminal) -> str:
    """The key of this home's supervisors."""
    return str(terminal.json("keys", "show")["public_key"])


def document(terminal: Terminal, grant: Grant, *, alone: bool = False) -> str:
    plain: dict[str, Any] = msgspec.to_builtins(grant)
    return terminal.file(plain if alone else {"schema_version": "dispatch-v1", "grant": plain}, "dispatch.json")


def signed(terminal: Terminal, grant: Grant = GRANT) -> Grant:
    return grants.signed(grant, own_key(terminal.world.folder / "home" / "keys" / "supervisor.pem"))


def test_the_key_stays_the_same_and_its_private_half_is_not_shown(terminal: Terminal, public: str) -> None:
    """Twice the same public key, and nothing of the file."""
    assert terminal.run("keys", "show") == 0
    assert public in terminal.out
    assert "PRIVATE" not in terminal.out


@pytest.mark.parametrize("alone", [False, True])
def test_a_good_grant_is_valid(terminal: Terminal, public: str, alone: bool) -> None:
    """In a dispatch document, or by itself; exit 0, with what it grants."""
    file = document(terminal, signed(terminal), alone=alone)
    assert terminal.run("grant", "verify", file, "--key", public) == 0
    assert terminal.out.startswith("valid\n")
    assert "worker_id: w-1" in terminal.out


def test_each_reason_is_told(terminal: Terminal, public: str) -> None:
    """Exit 1: changed and expired, both."""
    widened = msgspec.structs.replace(signed(terminal), permissions={"repository": "read-write:main"})
    file = document(terminal, widened)
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    told = terminal.json("grant", "verify", file, "--key", public, "--at", later, code=1)
    assert (told["valid"], told["faults"]) == (False, ["its signature does not fit what it says", "it has expired"])
    assert terminal.run("grant", "verify", document(terminal, GRANT), "--key", public) == 1
    assert "not valid: it is not signed" in terminal.out


@pytest.mark.parametrize("text", ["", "[]", "{}", "[[", '{"grant": {"expires_at": "2026-07-01T00:00:00"}}'])
def test_what_holds_no_grant_is_invalid_input(terminal: Terminal, public: str, text: str) -> None:
    """Exit 2, without a stack trace."""
    file = terminal.world.folder / "dispatch.json"
    file.write_text(text, encoding="utf-8")
    assert terminal.run("grant", "verify", str(file), "--key", public) == 2
    assert "Traceback" not in terminal.err


def test_a_key_that_is_none_is_invalid_input(terminal: Terminal) -> None:
    """Exit 2; the value is not repeated."""
    file = document(terminal, GRANT)
    assert terminal.run("grant", "verify", file, "--key", "canary-canary") == 2
    assert "canary" not in terminal.err
    assert json.loads((terminal.world.folder / "dispatch.json").read_text("utf-8"))


def test_a_refusal_is_one_document_too(terminal: Terminal, public: str) -> None:
    """CLI-1: with --json, a file without a grant, a key that is none and a time that is none are told on stdout."""
    nothing = terminal.file({}, "empty.json")
    good = document(terminal, signed(terminal))
    for words in ((nothing, "--key", public), (good, "--key", "AAAA"), (good, "--key", public, "--at", "noon")):
        told = terminal.json("grant", "verify", *words, code=2)
        assert (told["outcome"], told["message"] in terminal.err) == ("invalid", True)
    (terminal.world.folder / "home" / "keys" / "supervisor.pem").write_text("no key")
    assert "holds no Ed25519 key" in terminal.json("keys", "show", code=2)["message"]
