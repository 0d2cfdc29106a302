"""`remit grant verify` and `remit keys show`: grants, checked without a broker. Only the command line imports it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from remit import grants
from remit.cli.answers import one_document
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, say
from remit.errors import InvalidInputError
from remit.events.service import Grant
from remit.instants import aware
from remit.keys import own_key, supervisor_key

_MAX_BYTES = 8 * 1024 * 1024
_NONE = "the file holds no grant: hand over $REMIT_DISPATCH, or what it has as `grant`"


@click.group()
def grant() -> None:
    """Check grants."""


@grant.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option(
    "--key",
    "trusted",
    required=True,
    multiple=True,
    metavar="PUBLIC",
    help="A trusted public key, as `remit keys show` prints it; repeatable.",
)
@click.option("--at", metavar="TIME", help="Judge its expiry at this time, like 2026-07-01T00:00:00Z, instead of now.")
@json_option
def verify(file: Path, trusted: tuple[str, ...], at: str | None, as_json: bool) -> int:
    """Verify the grant in FILE, a dispatch or the grant alone. Exit 1, with each reason, if it is not valid.

    Needs neither broker nor supervisor: a tool's server can check what a worker hands it by the public key alone.
    """
    with one_document(as_json=as_json):
        found = _grant(file)
        faults = list(_faults(found, [grants.read_public(each) for each in trusted], _instant(at)))
    if as_json:
        print_json({"valid": not faults, "faults": faults, "grant": msgspec.to_builtins(found)})
    else:
        _print(found, faults)
    return 1 if faults else 0


@click.group()
def keys() -> None:
    """Show keys."""


@keys.command()
@json_option
@pass_invocation
def show(invocation: Invocation, as_json: bool) -> None:
    """Print the public key that verifies the grants of this home's supervisors; makes the pair if there is none.

    Its private half stays in REMIT_HOME/keys/supervisor.pem, which supervisors alone need.
    """
    with one_document(as_json=as_json):
        key = own_key(supervisor_key(invocation.settings.home))
    public, named = grants.public_text(key), grants.key_id(key.public_key())
    if as_json:
        print_json({"public_key": public, "key_id": named})
    else:
        say(f"public key  {public}\nkey id      {named}")


def _grant(file: Path) -> Grant:
    with file.open("rb") as source:
        data = source.read(_MAX_BYTES + 1)
    try:
        document = msgspec.json.decode(data) if len(data) <= _MAX_BYTES else None
        inner = document.get("grant", document) if isinstance(document, dict) else None
        return _whole(msgspec.convert(inner, Grant))
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise InvalidInputError(_NONE) from None


def _whole(found: Grant) -> Grant:
    try:
        aware(found.expires_at, "expires_at")
    except ValueError:
        raise InvalidInputError("expires_at must name its zone") from None
    return found


def _instant(at: str | None) -> datetime:
    if at is None:
        return datetime.now(UTC)
    try:
        return aware(datetime.fromisoformat(at), "--at")
    except ValueError:
        raise InvalidInputError("--at must be a time with its zone, like 2026-07-01T00:00:00Z") from None


def _faults(found: Grant, trusted: list[Ed25519PublicKey], now: datetime) -> Iterator[str]:
    yield from grants.signature_faults(found, trusted)
    if (expired := grants.expiry_fault(found, now)) is not None:
        yield expired


def _print(found: Grant, faults: list[str]) -> None:
    say("\n".join(f"not valid: {fault}" for fault in faults) or "valid")
    shown: dict[str, Any] = msgspec.to_builtins(found)
    for name, value in shown.items():
        if name != "signature" and value not in (None, [], {}):
            say(f"  {name}: {value}")
