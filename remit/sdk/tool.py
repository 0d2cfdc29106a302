"""`remit-tool NAME ARGS...`: calls a tool through the runner, from a handler in any language.

The tool's output is printed, its exit status passed on; 126 means that the runner refused, and why is on stderr. Run as
a script of its own, on the standard library alone; nobody needs to import it.
"""

import json
import os
import socket
import sys
from pathlib import Path

VARIABLE = "REMIT_TOOLS"
REFUSED = 126
_SIGNALLED = 128


def main(words: list[str]) -> int:
    """Call the tool; the exit status."""
    place = os.environ.get(VARIABLE)
    if not place or not words:
        return _refused("usage: remit-tool NAME ARGS..., in a handler that a runner started\n")
    try:
        status, output = _call(Path(place), words)
    except (OSError, ValueError) as error:
        return _refused(f"remit-tool: the runner does not answer ({type(error).__name__})\n")
    if status == REFUSED and output.startswith(b"refused: "):
        return _refused(f"remit-tool: {output.decode(errors='replace')}")
    sys.stdout.buffer.write(output)
    sys.stdout.flush()
    return status if status >= 0 else _SIGNALLED - status


def _call(place: Path, words: list[str]) -> tuple[int, bytes]:
    os.chdir(place.parent)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(place.name)
        name, *arguments = (word.encode(errors="surrogateescape").decode(errors="replace") for word in words)
        line.sendall(json.dumps({"name": name, "args": arguments}).encode() + b"\n")
        with line.makefile("rb") as answer:
            head = json.loads(answer.readline())
            return int(head["exit_status"]), answer.read()


def _refused(why: str) -> int:
    sys.stderr.write(why)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
