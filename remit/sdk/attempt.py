"""The attempt as a handler sees it. Worker authors import it through `remit.sdk`.

It lives in the handler's own process and speaks to the runner through files and one line of JSON messages.
"""

import json
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from remit.errors import RefusedError
from remit.sdk.effects import Found, effect_key, once


@dataclass(frozen=True)
class Command:
    """How a command ended that the runner ran: exit status, and what it printed (the last half MiB)."""

    exit_status: int
    output: str


@dataclass(frozen=True)
class Correction:
    """Why the first result was sent back: one fault each, and its text without secrets."""

    faults: tuple[str, ...]
    refused: str


class Attempt:
    """One attempt: the offer, a workspace, and ways to tell the runner what happens."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        """Read what the runner set; raises KeyError outside of it."""
        self.dispatch: dict[str, Any] = json.loads(Path(environment["REMIT_DISPATCH"]).read_text(encoding="utf-8"))
        self.workspace = Path(environment["REMIT_WORKSPACE"])
        self._out = Path(environment["REMIT_OUT"])
        self._usage_file = Path(environment["REMIT_USAGE"])
        self._checkpoint_file = Path(environment["REMIT_CHECKPOINT"])
        self.correction = _correction(environment)
        self._line = Connection(int(environment["REMIT_CHANNEL"]))
        self._usage = {"tokens_in": 0, "tokens_out": 0, "tool_calls": 0, "turns": 0}

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

    def tool(self, name: str, *arguments: str) -> Command:
        """Call a granted tool through the runner, which counts it; raises RefusedError where that is not granted."""
        answer = self._ask({"op": "tool", "argv": [name, *map(str, arguments)]})
        if "error" in answer:
            raise RefusedError(f"the tool {name} was refused: {answer['error']}")
        return Command(answer["exit_status"], answer["output"])

    def artefact(self, name: str, content: bytes | str | Path) -> dict[str, str]:
        """Hand over a file as an output: put what this returns into the outcome's `output`."""
        data = content.read_bytes() if isinstance(content, Path) else content
        file = self._out / f"{uuid.uuid4().hex[:8]}-{Path(name).name}"
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return {"file": file.name}

    def usage(
        self,
        *,
        model: str | None = None,
        tokens_in: int = 0,
        tokens_out: int = 0,
        tool_calls: int = 0,
        turns: int = 0,
    ) -> None:
        """Add to what was used; the runner reads it with each renewal. A turn is an answer of a model."""
        added = {"tokens_in": tokens_in, "tokens_out": tokens_out, "tool_calls": tool_calls, "turns": turns}
        self._usage = {name: count + added[name] for name, count in self._usage.items()}
        document = json.dumps(self._usage | ({"model": model} if model else {}))
        _replace(self._usage_file, document.encode())

    def checkpoint(self, content: bytes | str | Path) -> None:
        """Save how far the work is, for the attempt after this one should this one be lost; kept when it returns.

        Secrets are taken out, as of everything that is kept. Raises RefusedError when it can't be kept.
        """
        data = content.read_bytes() if isinstance(content, Path) else content
        _replace(self._checkpoint_file, data.encode() if isinstance(data, str) else data)
        answer = self._ask({"op": "checkpoint"})
        if "error" in answer:
            raise RefusedError(answer["error"])

    @property
    def resume_from(self) -> Path | None:
        """What a lost attempt of this task saved last, if any: another worker's bytes, so check what you read."""
        given = self.dispatch["resume_from"]
        return Path(given["path"]) if given else None

    def effect(self, key: str, look_up: Callable[[str], Found | None], apply: Callable[[str], Found]) -> Found:
        """Act on a target once: what `look_up(full_key)` finds there, else what one call of `apply(full_key)` gives.

        The full key is the same in each attempt of a round of this task, and in no other workflow or tenant. Nothing is
        tried again here; what either call raises is passed on.
        """
        return once(effect_key(str(self.dispatch["idempotency_key"]), key), look_up, apply)

    def progress(self, note: str | None = None) -> None:
        """Say that the work gets on; without any progress for long the lease ends."""
        self._ask({"op": "progress", "note": note})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._line.send_bytes(json.dumps(request).encode())
        answer: dict[str, Any] = json.loads(self._line.recv_bytes())
        return answer


def _correction(environment: Mapping[str, str]) -> Correction | None:
    path = environment.get("REMIT_CORRECTION")
    if path is None:
        return None
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    return Correction(tuple(document["faults"]), document["envelope"])


def _replace(file: Path, data: bytes) -> None:
    """Write a file so that the runner sees it whole or not at all."""
    draft = file.with_suffix(".new")
    draft.write_bytes(data)
    draft.replace(file)
