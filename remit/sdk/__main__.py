"""Runs one handler on one attempt: `python -m remit.sdk TARGET FOLDER`. The runner starts it; people need not."""

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from remit.sdk.attempt import Attempt
from remit.sdk.outcomes import Blocked, Completed, Failed, NeedsReview
from remit.sdk.registration import load

_MESSAGE = 2000  # characters


def main(target: str, folder: str) -> int:
    """Call the handler once and write its envelope; 0 unless it raised."""
    os.chdir(os.environ["REMIT_WORKSPACE"])
    attempt = Attempt()
    try:
        outcome = load(target, Path(folder))(attempt)
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is a failed attempt, called once
        traceback.print_exc()
        _write(Failed(_told(error)).envelope())
        return 1
    if not isinstance(outcome, Completed | Blocked | Failed | NeedsReview):
        _write(Failed(f"the handler returned {type(outcome).__name__}, not an outcome", retryable=False).envelope())
        return 1
    _write(outcome.envelope())
    return 0


def _told(error: Exception) -> str:
    """Type, words and place; the runner takes secrets out before anything is written for good."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}: {error}"[:_MESSAGE]


def _write(envelope: dict[str, Any]) -> None:
    document = {"evidence": []} | {name: value for name, value in envelope.items() if value is not None}
    Path(os.environ["REMIT_RESULT"]).write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
