"""`remit schemas`: the Avro schemas of the topics, their ids and history, and a registry for other tools to read."""

import threading
from typing import Any

import click

from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table
from remit.cli.serving import stop_on_signals
from remit.codec import registration
from remit.codec.catalogue import Catalogue, Registered, catalogue, folder
from remit.codec.records import schema_topic
from remit.errors import CodecError, InvalidInputError, RefusedError

COLUMNS = ("topic", "record", "id", "versions", "sha256")
DEFAULT_PORT = 8081
SHORT = 12


@click.group()
def schemas() -> None:
    """List, show, check and serve the Avro schemas."""


@schemas.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List each topic's current schema: record, id, how many versions there were, hash."""
    rows = [_row(catalogue().newest(topic)) for topic in catalogue().topics]
    if as_json:
        print_json(rows)
    else:
        print_table(COLUMNS, [row | {"sha256": row["sha256"][:SHORT]} for row in rows])


@schemas.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the schema of a topic, or of a schema id: each field with type, default and doc."""
    entry = _named(name)
    schema = catalogue().schema(entry)
    if as_json:
        print_json(_row(entry) | {"schema": schema})
        return
    click.echo(f"{entry.record}, schema id {entry.id}, topic {entry.topic}\n{schema['doc']}\n")
    print_table(("field", "type", "default", "doc"), [_field(field) for field in schema["fields"]])


@schemas.command()
@click.pass_context
def check(context: click.Context) -> None:
    """Check that each schema may follow every version ever registered. Exit 1 if one may not."""
    own = Catalogue(folder())
    faults = registration.check(own)
    for fault in faults:
        click.echo(fault)
    for topic in registration.unregistered(own):
        click.echo(f"{topic}: not registered as it stands; do so with: remit schemas register", err=True)
    if not faults:
        click.echo(f"OK: {len(own.entries)} versions of {len(own.topics)} schemas, each reads all others of its topic")
    context.exit(1 if faults else 0)


@schemas.command()
def register() -> None:
    """Give each changed schema a new id and keep its text for ever (for developers, in a checkout)."""
    own = folder()
    if own.parent.name == "remit" and (own.parent / "codec").is_dir():
        raise RefusedError("schemas are registered in a checkout of Remit, not in an installed package")
    added = registration.register(registration.opened(own))
    for entry in added:
        click.echo(f"registered {entry.topic} as {entry.id}")
    if not added:
        click.echo("Nothing changed since the last registration.")


@schemas.command()
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0 = a free one.")
@pass_invocation
def serve(invocation: Invocation, port: int) -> None:
    """Answer the read-only part of the Confluent Schema Registry API, on this machine, until Ctrl-C."""
    from remit.cli.schema_server import SchemaServer  # noqa: PLC0415 - keeps start-up quick
    from remit.codec.registry import Registry  # noqa: PLC0415

    # Signals are asked for, since whoever starts it in the background may have had Ctrl-C ignored.
    stop = stop_on_signals()
    with SchemaServer(Registry(catalogue(), invocation.settings.topic_prefix), port) as server:
        threading.Thread(target=server.serve_forever, name="schema-server", daemon=True).start()
        click.echo(f"schemas are served at {server.url}")
        stop.wait()
        server.shutdown()


def _row(entry: Registered) -> dict[str, Any]:
    return {
        "topic": entry.topic,
        "record": entry.record,
        "id": entry.id,
        "versions": len(catalogue().versions(entry.topic)),
        "sha256": entry.sha256,
    }


def _named(name: str) -> Registered:
    own = catalogue()
    try:
        return own.entry(int(name)) if name.isdecimal() else own.newest(schema_topic(name))
    except CodecError:
        known = ", ".join(own.topics)
        raise InvalidInputError(f"no schema goes by that name; give a schema id or one of: {known}") from None


def _field(field: dict[str, Any]) -> tuple[str, str, Any, str]:
    default = repr(field["default"]) if "default" in field else ""
    return field["name"], _type(field["type"]), default.replace("None", "null"), field["doc"]


def _type(schema: Any) -> str:  # noqa: ANN401 - any schema
    """A type in a few words."""
    if isinstance(schema, str):
        return schema.removeprefix("remit.")
    if isinstance(schema, list):
        return " | ".join(_type(branch) for branch in reversed(schema))
    match schema["type"]:
        case "record" | "enum":
            return str(schema["name"])
        case "array":
            return f"{_type(schema['items'])}[]"
        case "map":
            return f"map of {_type(schema['values'])}"
    return str(schema.get("logicalType", schema["type"]))
