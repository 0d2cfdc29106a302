"""What a Confluent-compatible schema registry would answer about our catalogue: the read-only part of its REST API.

Pure: a request in, status and JSON out. It lets Kafka Connect, Flink, ksqlDB and every Avro deserializer read our
topics as they are. Only `remit.codec` and `remit.cli` import it.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from remit.codec.catalogue import Catalogue, Registered
from remit.codec.records import schema_topic
from remit.errors import CodecError

COMPATIBILITY = "FULL_TRANSITIVE"
VALUE_SUFFIX = "-value"
LATEST = ("latest", "-1")
READ_ONLY = "this registry is read-only; schemas are registered in Remit's repository"


class Answer(NamedTuple):
    """A status and what is sent as JSON."""

    status: int
    body: Any


class RegistryError(Exception):
    """A refusal in the API's own form: HTTP status and error code."""

    def __init__(self, status: int, code: int, text: str) -> None:
        """Keep what the answer says."""
        super().__init__(text)
        self.answer = Answer(status, {"error_code": code, "message": text})


class Registry:
    """Answers requests about a catalogue, for topics with this prefix."""

    def __init__(self, catalogue: Catalogue, prefix: str) -> None:
        """Answer for `catalogue`; subjects are `<prefix><topic>-value`."""
        self._catalogue, self._prefix = catalogue, prefix

    def answer(self, method: str, target: str, body: bytes = b"") -> Answer:
        """The answer to one request; `target` is path and query as they came."""
        try:
            path = unquote(urlsplit(target).path).rstrip("/")
        except ValueError:  # such as brackets around no address
            return Answer(400, {"error_code": 400, "message": "the request's target is no path"})
        try:
            if method == "GET":
                return self._read(path)
            if method == "POST" and (found := re.fullmatch(r"/subjects/([^/]+)", path)):
                return Answer(200, self._look_up(found[1], body))
        except RegistryError as error:
            return error.answer
        return Answer(405, {"error_code": 405, "message": READ_ONLY})

    def _read(self, path: str) -> Answer:
        for pattern, of in ROUTES:
            if found := pattern.fullmatch(path):
                return Answer(200, of(self, *found.groups()))
        raise RegistryError(404, 404, "no such resource in the read-only part of the API")

    def subjects(self) -> list[str]:
        """All subjects; the one of `dispatches` stands for every pool's."""
        return [self._subject(topic) for topic in self._catalogue.topics]

    def versions(self, subject: str) -> list[int]:
        """Version numbers of a subject, from 1."""
        return list(range(1, len(self._of_subject(subject)) + 1))

    def version(self, subject: str, version: str) -> dict[str, Any]:
        """One version of a subject, with its text."""
        entry = self._of_version(subject, version)
        return self._described(subject, entry)

    def version_text(self, subject: str, version: str) -> Any:  # noqa: ANN401 - any schema
        """One version's schema alone."""
        return self._catalogue.schema(self._of_version(subject, version))

    def schema(self, schema_id: str) -> dict[str, Any]:
        """The text of a schema id."""
        return {"schema": self._catalogue.text(self._entry(schema_id))}

    def schema_text(self, schema_id: str) -> Any:  # noqa: ANN401 - any schema
        """The schema of an id alone."""
        return self._catalogue.schema(self._entry(schema_id))

    def subjects_of(self, schema_id: str) -> list[str]:
        """Subjects that use a schema id."""
        return [self._subject(self._entry(schema_id).topic)]

    def versions_of(self, schema_id: str) -> list[dict[str, Any]]:
        """Subjects and versions that use a schema id."""
        entry = self._entry(schema_id)
        return [{"subject": self._subject(entry.topic), "version": self._number(entry)}]

    def types(self) -> list[str]:
        """Kinds of schemas."""
        return ["AVRO"]

    def config(self) -> dict[str, str]:
        """The compatibility that every subject keeps to."""
        return {"compatibilityLevel": COMPATIBILITY}

    def config_of(self, subject: str) -> dict[str, str]:
        """The compatibility that a subject keeps to."""
        self._of_subject(subject)
        return self.config()

    def mode(self) -> dict[str, str]:
        """That nothing can be written."""
        return {"mode": "READONLY"}

    def mode_of(self, subject: str) -> dict[str, str]:
        """That nothing can be written to a subject."""
        self._of_subject(subject)
        return self.mode()

    def nothing(self) -> dict[str, str]:
        """The root, by which tools see that a registry is there."""
        return {}

    def _look_up(self, subject: str, body: bytes) -> dict[str, Any]:
        """The version whose schema is the one in the body, whatever its layout."""
        entries = self._of_subject(subject)
        try:
            wanted = json.loads(json.loads(body)["schema"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RegistryError(422, 42201, "the body holds no Avro schema as text in `schema`") from None
        for entry in entries:
            if self._catalogue.schema(entry) == wanted:
                return self._described(subject, entry)
        raise RegistryError(404, 40403, "Schema not found")

    def _described(self, subject: str, entry: Registered) -> dict[str, Any]:
        return {
            "subject": subject,
            "version": self._number(entry),
            "id": entry.id,
            "schema": self._catalogue.text(entry),
        }

    def _subject(self, topic: str) -> str:
        return f"{self._prefix}{topic}{VALUE_SUFFIX}"

    def _of_subject(self, subject: str) -> tuple[Registered, ...]:
        topic = subject.removeprefix(self._prefix).removesuffix(VALUE_SUFFIX)
        try:
            entries = self._catalogue.versions(schema_topic(topic))
        except CodecError:
            entries = ()
        if not entries or subject != self._subject(topic):
            raise RegistryError(404, 40401, "Subject not found")
        return entries

    def _of_version(self, subject: str, version: str) -> Registered:
        entries = self._of_subject(subject)
        if version in LATEST:
            return entries[-1]
        number = _whole(version)
        if not 1 <= number <= len(entries):
            raise RegistryError(404, 40402, "Version not found")
        return entries[number - 1]

    def _entry(self, schema_id: str) -> Registered:
        try:
            return self._catalogue.entry(_whole(schema_id))
        except CodecError:
            raise RegistryError(404, 40403, "Schema not found") from None

    def _number(self, entry: Registered) -> int:
        return self._catalogue.versions(entry.topic).index(entry) + 1


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise RegistryError(422, 42202, "The specified version or id is not a valid number")
    return int(text)


ROUTES: tuple[tuple[re.Pattern[str], Callable[..., Any]], ...] = tuple(
    (re.compile(pattern), of)
    for pattern, of in (
        ("", Registry.nothing),
        ("/subjects", Registry.subjects),
        ("/subjects/([^/]+)/versions", Registry.versions),
        ("/subjects/([^/]+)/versions/([^/]+)", Registry.version),
        ("/subjects/([^/]+)/versions/([^/]+)/schema", Registry.version_text),
        ("/schemas/types", Registry.types),
        ("/schemas/ids/([^/]+)", Registry.schema),
        ("/schemas/ids/([^/]+)/schema", Registry.schema_text),
        ("/schemas/ids/([^/]+)/subjects", Registry.subjects_of),
        ("/schemas/ids/([^/]+)/versions", Registry.versions_of),
        ("/config", Registry.config),
        ("/config/([^/]+)", Registry.config_of),
        ("/mode", Registry.mode),
        ("/mode/([^/]+)", Registry.mode_of),
    )
)
"""Path of a GET to the method that answers it."""
