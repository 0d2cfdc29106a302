"""Asks a broker which metadata levels it knows, from which its release follows. `remit.log.kafka.probe` imports it.

The client library keeps a broker's ApiVersions answer (protocol key 18, version 3) to itself. This one request, which a
broker answers before any login, is therefore sent by hand.
"""

import socket
import ssl
import struct
from collections.abc import Iterator

from remit.errors import LogError
from remit.settings import Settings

FEATURE = "metadata.version"
ANSWER_S = 5.0
_KEY, _VERSION, _CORRELATION = 18, 3, 1
_LONGEST = 1 << 20
_API_BYTES = 6
_CONTINUED = 0x80


def metadata_level(host: str, port: int, settings: Settings) -> int | None:
    """The highest metadata level that the broker knows, None if it knows of none; LogError if it does not answer."""
    try:
        with socket.create_connection((host, port), ANSWER_S) as plain, _secured(plain, host, settings) as connection:
            connection.sendall(request())
            (length,) = struct.unpack(">i", _read(connection, 4))
            if not 0 < length <= _LONGEST:
                raise LogError(f"{host}:{port} does not answer as a Kafka broker")
            return level_in(_read(connection, length))
    except (OSError, struct.error, IndexError) as error:
        raise LogError(f"{host}:{port} did not tell its release: {type(error).__name__}") from error


def request() -> bytes:
    """The request's bytes, length in front."""
    header = struct.pack(">hhih", _KEY, _VERSION, _CORRELATION, 5) + b"remit" + b"\0"
    body = _text("remit") + _text("1") + b"\0"
    return struct.pack(">i", len(header + body)) + header + body


def level_in(answer: bytes) -> int | None:
    """The level in an answer's bytes, length left out; None if it names no such feature. Pure."""
    fields = _Fields(answer)
    fields.take(4)  # correlation
    if fields.short():  # an error: a broker that doesn't know this version of the question
        return None
    fields.take((fields.count() - 1) * (_API_BYTES + 1) + 4)  # supported calls, throttle time
    features = dict(_features(fields))
    return features.get(FEATURE)


class _Fields:
    """Reads one field after the other."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def take(self, length: int) -> bytes:
        if self._at + length > len(self._content):
            raise IndexError(length)
        self._at += length
        return self._content[self._at - length : self._at]

    def short(self) -> int:
        (number,) = struct.unpack(">h", self.take(2))
        return int(number)

    def count(self) -> int:
        """An unsigned varint."""
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & ~_CONTINUED) << shift
            shift += 7
            if byte < _CONTINUED:
                return number


def _features(fields: _Fields) -> Iterator[tuple[str, int]]:
    """Names and highest levels of the supported features: the tagged field 0, the first where there is one."""
    if not fields.count() or fields.count() != 0:
        return
    fields.count()  # the field's size
    for _ in range(fields.count() - 1):
        name = fields.take(fields.count() - 1).decode("utf-8", "replace")
        fields.short()
        yield name, fields.short()
        fields.take(fields.count())  # tagged fields: none are defined


def _text(text: str) -> bytes:
    return bytes([len(text) + 1]) + text.encode()


def _secured(plain: socket.socket, host: str, settings: Settings) -> socket.socket:
    if settings.security_protocol not in {"SSL", "SASL_SSL"}:
        return plain
    context = ssl.create_default_context(cafile=settings.ssl_ca_location)
    if settings.ssl_certificate_location:
        context.load_cert_chain(settings.ssl_certificate_location, settings.ssl_key_location)
    return context.wrap_socket(plain, server_hostname=host)


def _read(connection: socket.socket, length: int) -> bytes:
    content = b""
    while len(content) < length:
        if not (more := connection.recv(length - len(content))):
            raise ConnectionError
        content += more
    return content
