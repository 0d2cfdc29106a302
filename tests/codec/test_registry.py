"""The registry API: as Confluent's own client and deserializer use it, and its errors in their standard form."""

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext

from remit.cli.schema_server import SchemaServer
from remit.codec import TOPIC_RECORDS, encode
from remit.codec.catalogue import catalogue
from remit.codec.registry import Registry
from remit.errors import SettingsError
from tests.codec.samples import full

SUBJECT = "remit.transitions-value"
VERSIONS = list(range(1, 1 + sum(entry.topic == "transitions" for entry in catalogue().entries)))
REGISTRY = Registry(catalogue(), "remit.")


@pytest.fixture(scope="module")
def server() -> Iterator[SchemaServer]:
    """A served registry on a free port."""
    with SchemaServer(REGISTRY, 0) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield served
        served.shutdown()
        thread.join()


@pytest.fixture
def client(server: SchemaServer) -> Iterator[SchemaRegistryClient]:
    """Confluent's client."""
    with SchemaRegistryClient({"url": server.url}) as connected:
        yield connected


def get(target: str) -> Any:
    """What a GET is answered with, when all is well."""
    status, body = REGISTRY.answer("GET", target)
    assert status == 200, body
    return body


def refused(method: str, target: str, body: bytes = b"") -> tuple[int, int]:
    """Status and error code of a refusal."""
    answer = REGISTRY.answer(method, target, body)
    assert set(answer.body) == {"error_code", "message"}
    return answer.status, answer.body["error_code"]


@pytest.mark.parametrize("topic", TOPIC_RECORDS)
def test_confluents_deserializer_reads_what_we_write(client: SchemaRegistryClient, topic: str) -> None:
    """A value of each topic, decoded with AvroDeserializer and the served schemas alone."""
    event: Any = full(TOPIC_RECORDS[topic])
    context = SerializationContext(f"remit.{topic}", MessageField.VALUE)
    read: Any = AvroDeserializer(client)(encode(topic, event), context)
    assert read["event_id"] == event.event_id
    assert read["kind"] == event.kind.value
    assert list(read) == list(event.__struct_fields__)


def test_confluents_client_finds_everything(client: SchemaRegistryClient) -> None:
    """By subject, version, id, and by looking a schema up."""
    entry = catalogue().newest("transitions")
    assert SUBJECT in client.get_subjects()
    assert client.get_versions(SUBJECT) == VERSIONS
    latest = client.get_latest_version(SUBJECT)
    assert (latest.schema_id, latest.version) == (entry.id, VERSIONS[-1])
    assert client.get_version(SUBJECT, VERSIONS[-1]).schema_id == entry.id
    assert client.get_schema(entry.id).schema_str == catalogue().text(entry)
    assert client.get_compatibility() == "FULL_TRANSITIVE"
    again = json.dumps(json.loads(catalogue().text(entry)))
    assert client.lookup_schema(SUBJECT, Schema(again, "AVRO")).schema_id == entry.id
    with pytest.raises(SchemaRegistryError) as missing:
        client.get_schema(1)
    assert missing.value.error_code == 40403
    with pytest.raises(SchemaRegistryError) as written:
        client.register_schema(SUBJECT, Schema('"string"', "AVRO"))
    assert written.value.http_status_code == 405


def test_every_resource_answers() -> None:
    """The read-only part of the API, resource by resource."""
    entry = catalogue().newest("transitions")
    schema = catalogue().schema(entry)
    assert get("/") == {}
    assert set(get("/subjects?deleted=false")) == {f"remit.{topic}-value" for topic in TOPIC_RECORDS}
    assert get(f"/subjects/{SUBJECT}/versions/latest")["id"] == entry.id
    assert get(f"/subjects/{SUBJECT}/versions/-1") == get(f"/subjects/{SUBJECT}/versions/{VERSIONS[-1]}")
    assert get(f"/subjects/{SUBJECT}/versions/{VERSIONS[-1]}/schema") == schema
    assert get("/schemas/types") == ["AVRO"]
    assert json.loads(get(f"/schemas/ids/{entry.id}?subject=any")["schema"]) == schema
    assert get(f"/schemas/ids/{entry.id}/schema") == schema
    assert get(f"/schemas/ids/{entry.id}/subjects") == [SUBJECT]
    assert get(f"/schemas/ids/{entry.id}/versions") == [{"subject": SUBJECT, "version": VERSIONS[-1]}]
    assert get("/config") == get(f"/config/{SUBJECT}") == {"compatibilityLevel": "FULL_TRANSITIVE"}
    assert get("/mode") == get(f"/mode/{SUBJECT}") == {"mode": "READONLY"}


def test_each_pools_dispatches_have_a_subject() -> None:
    """Whatever the pool, its topic's subject is answered."""
    assert get("/subjects/remit.dispatches.coders-value/versions")[0] == 1
    assert get("/subjects/remit.dispatches.a%3Ab-value/versions/1")["subject"] == "remit.dispatches.a:b-value"


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("/subjects/other-value/versions", (404, 40401)),
        ("/subjects/remit.transitions-key/versions", (404, 40401)),
        ("/subjects/transitions-value/versions", (404, 40401)),
        (f"/subjects/{SUBJECT}/versions/{VERSIONS[-1] + 1}", (404, 40402)),
        (f"/subjects/{SUBJECT}/versions/0", (404, 40402)),
        (f"/subjects/{SUBJECT}/versions/newest", (422, 42202)),
        ("/schemas/ids/1", (404, 40403)),
        ("/schemas/ids/x", (422, 42202)),
        ("/config/other-value", (404, 40401)),
        ("/nowhere", (404, 404)),
    ],
)
def test_errors_have_their_standard_code(target: str, error: tuple[int, int]) -> None:
    """Tools tell a missing subject from a missing version by the code."""
    assert refused("GET", target) == error


def test_a_look_up_takes_only_a_schema() -> None:
    """POST to a subject looks up; what is no schema, or another, is refused."""
    assert refused("POST", f"/subjects/{SUBJECT}", b"{}") == (422, 42201)
    assert refused("POST", f"/subjects/{SUBJECT}", b"\xff") == (422, 42201)
    assert refused("POST", f"/subjects/{SUBJECT}", b'{"schema": "\\"string\\""}') == (404, 40403)
    assert refused("POST", "/subjects/other-value", b"{}") == (404, 40401)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_written(method: str) -> None:
    """Registration happens in the repository alone."""
    assert refused(method, f"/subjects/{SUBJECT}/versions") == (405, 405)
    assert refused(method, "/config") == (405, 405)


def test_the_server_listens_on_this_machine_and_bounds_what_it_reads(server: SchemaServer) -> None:
    """Loopback only; a body beyond the limit is refused unread; a taken port is a plain error."""
    assert server.server_address[0] == "127.0.0.1"
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest("POST", f"/subjects/{SUBJECT}")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    with pytest.raises(SettingsError, match=f"--port {server.server_port} can't be listened on"):
        SchemaServer(REGISTRY, server.server_port)


@pytest.mark.parametrize("target", ["//[", "//[/subjects", "http://[::1/subjects"])
def test_a_target_that_is_no_path_is_a_bad_request(target: str) -> None:
    """Whatever a client asks for has an answer in the API's form."""
    status, body = REGISTRY.answer("GET", target)
    assert (status, body["error_code"]) == (400, 400)
