"""Takes secrets out of what a handler left; what is large is redacted in a process of its own.

A pattern that runs over many megabytes holds the interpreter's lock meanwhile, so no thread of the runner could renew a
lease. Run as a program it is that process, and so imports nothing of this role. Only this role imports it.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from remit.errors import ArtefactError
from remit.redaction import Redactor

LARGE = 1 << 20  # bytes or characters up to which the lock is held too short to matter
_PATIENCE_S = 600.0


class Cleaner(Redactor):
    """A redactor that never holds up the other threads of its process for long."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """As a Redactor's."""
        self._told = list(known)
        super().__init__(self._told)

    def data(self, data: bytes) -> bytes:
        """As a Redactor's; raises ArtefactError where large bytes could not be redacted."""
        return super().data(data) if len(data) <= LARGE else self._apart("data", data)

    def value(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """As a Redactor's, for JSON values; raises ArtefactError where a large text in it could not be redacted."""
        if not _has_large(value):
            return super().value(value)
        return json.loads(self._apart("value", json.dumps(value).encode()))

    def shapes(self, text: str) -> list[str]:
        """As a Redactor's; raises ArtefactError where a large text could not be looked through."""
        if len(text) <= LARGE:
            return super().shapes(text)
        found: list[str] = json.loads(self._apart("shapes", text.encode(errors="surrogatepass")))
        return found

    def _apart(self, what: str, data: bytes) -> bytes:
        head = json.dumps({"what": what, "known": self._told}).encode() + b"\n"  # through the pipe: secrets stand in it
        try:
            return subprocess.run(
                [sys.executable, "-P", __file__],
                input=head + data,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C at the runner lets it finish what it does
                timeout=_PATIENCE_S,
                check=True,
            ).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise ArtefactError(f"{len(data)} bytes could not be redacted: {type(error).__name__}") from None


def _has_large(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text if len(text) > LARGE:
                return True
            case Mapping() as mapping:
                waiting += [*mapping.keys(), *mapping.values()]
            case list() | tuple() as items:
                waiting += items
    return False


def _answer(what: str, redactor: Redactor, data: bytes) -> bytes:
    match what:
        case "data":
            return redactor.data(data)
        case "value":
            return json.dumps(redactor.value(json.loads(data))).encode()
    return json.dumps(redactor.shapes(data.decode(errors="surrogatepass"))).encode()


def _main() -> None:
    asked = json.loads(sys.stdin.buffer.readline())
    sys.stdout.buffer.write(_answer(asked["what"], Redactor(asked["known"]), sys.stdin.buffer.read()))


if __name__ == "__main__":
    _main()
