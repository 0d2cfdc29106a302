"""What the example's four workers share: read the dispatch, write the result and the usage. Standard library only.

No model is at hand, so usage is what stands in for one: a word read or written counts as a token.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODEL = "scripted"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt as the runner hands it over."""

    dispatch: dict[str, Any]  # the offer
    workspace: Path  # a git worktree at the exact revision
    result: Path  # where the envelope goes

    def text_of(self, name: str) -> str | None:
        """Return the text of an input, None when it was not handed over."""
        path = (self.dispatch.get("inputs") or {}).get(name, {}).get("path")
        if not path or not Path(path).is_file():
            return None
        return Path(path).read_text(encoding="utf-8", errors="replace")

    def keep(self, name: str, text: str) -> dict[str, str]:
        """Write an output file beside the envelope and return how the envelope names it."""
        path = self.result.with_name(name)
        path.write_text(text, encoding="utf-8")
        return {"file": str(path)}


def begin() -> Attempt:
    """Read the attempt from the environment that the runner sets."""
    return Attempt(
        dispatch=json.loads(Path(os.environ["REMIT_DISPATCH"]).read_text(encoding="utf-8")),
        workspace=Path(os.environ["REMIT_WORKSPACE"]),
        result=Path(os.environ["REMIT_RESULT"]),
    )


def finish(attempt: Attempt, envelope: dict[str, Any], *, read: str = "", wrote: str = "", calls: int = 0) -> None:
    """Write the envelope and what the attempt used; evidence of its own, if it has none, is an empty list."""
    usage = {
        "model": MODEL,
        "tokens_in": len(read.split()),
        "tokens_out": len(wrote.split()),
        "tool_calls": calls,
    }
    Path(os.environ["REMIT_USAGE"]).write_text(json.dumps(usage), encoding="utf-8")
    attempt.result.write_text(json.dumps({"evidence": [], **envelope}), encoding="utf-8")


def blocked(reason: str, words: str) -> dict[str, Any]:
    """Return the envelope of a worker that cannot go on; `reason` is one of the fixed blocked reasons."""
    print(words)
    return {"status": "blocked", "blocked_reason": reason, "output": {}}
