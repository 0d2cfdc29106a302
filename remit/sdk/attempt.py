"""The attempt as a handler sees it. Worker authors import it through `remit.sdk`.

It lives in the handler's own process and speaks to the runner through files and one line of JSON messages.
"""

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from remit.errors import RefusedError


@dataclass(frozen=True)
class Command:
    """How a command ended that the runner ran: exit status, and what it printed (the last half MiB)."""

    exit_status: int
    output: str


class Attempt:
    """One attempt: the offer, a workspace, and ways to tell the runner what happens."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        """Read what the runner set; raises KeyError outside of it."""
        self.dispatch: dict[str, Any] = json.loads(Path(environment["REMIT_DISPATCH"]).read_text(encoding="utf-8"))
        self.workspace = Path(environment["REMIT_WORKSPACE"])
        self._out = Path(environment["REMIT_OUT"])
        self._usage_file = Path(environment["REMIT_USAGE"])
        self._line = Connection(int(environment["REMIT_CHANNEL"]))
        self._usage = {"tokens_in": 0, "tokens_out": 0, "tool_calls": 0}

    @property
    def objective(self) -> str:
        """What is to be done."""
        return str(self.dispatch["objective"])

    def input(self, name: str) -> Path:
        """Where an input lies; raises KeyError when it was not handed over as a file."""
        path = self.dispatch["inputs"][name]["path"]
        if path is None:
            raise KeyError(name)
        return Path(path)

    def run(self, argv: Sequence[str]) -> Command:
        """Let the runner run a command in the workspace: it is recorded as observed, and counts as one tool call."""
        answer = self._ask({"op": "run", "argv": [str(word) for word in argv]})
        if "error" in answer:
            raise RefusedError(f"the runner did not run it: {answer['error']}")
        return Command(answer["exit_status"], answer["output"])

    def artefact(self, name: str, content: bytes | str | Path) -> dict[str, str]:
        """Hand over a file as an output: put what this returns into the outcome's `output`."""
        data = content.read_bytes() if isinstance(content, Path) else content
        file = self._out / f"{uuid.uuid4().hex[:8]}-{Path(name).name}"
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return {"file": file.name}

    def usage(self, *, model: str | None = None, tokens_in: int = 0, tokens_out: int = 0, tool_calls: int = 0) -> None:
        """Add to what was used; the runner reads it with each renewal."""
        added = {"tokens_in": tokens_in, "tokens_out": tokens_out, "tool_calls": tool_calls}
        self._usage = {name: count + added[name] for name, count in self._usage.items()}
        draft = self._usage_file.with_suffix(".new")
        draft.write_text(json.dumps(self._usage | ({"model": model} if model else {})), encoding="utf-8")
        draft.replace(self._usage_file)

    def progress(self, note: str | None = None) -> None:
        """Say that the work gets on; without any progress for long the lease ends."""
        self._ask({"op": "progress", "note": note})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._line.send_bytes(json.dumps(request).encode())
        answer: dict[str, Any] = json.loads(self._line.recv_bytes())
        return answer
