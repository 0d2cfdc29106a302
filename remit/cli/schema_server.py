"""The registry's answers over HTTP, on this machine only. Only `remit.cli` imports it."""

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from remit.codec.registry import Registry
from remit.errors import SettingsError

HOST = "127.0.0.1"
CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
BODY_LIMIT = 1024 * 1024
IDLE_SECONDS = 60


class SchemaServer(ThreadingHTTPServer):
    """Listens at `url` as soon as it is made; `serve_forever` answers."""

    daemon_threads = True

    def __init__(self, registry: Registry, port: int) -> None:
        """Listen on `port`, 0 for a free one; SettingsError when it is taken."""
        self.registry = registry
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise SettingsError(f"--port {port} can't be listened on: {error.strerror}") from error
        self.url = f"http://{HOST}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    """Hands each request to the registry; one thread per connection."""

    server: SchemaServer
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > BODY_LIMIT:
            self.close_connection = True
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error_code": 413, "message": "the body is too large"})
            return
        body = self.rfile.read(int(length))
        self._send(*self.server.registry.answer(self.command, self.path, body))

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - names that the library asks for

    def _send(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's signature
        """Say nothing: requests are not worth a line each."""
