"""Golden histories: a workflow's transitions as they were written with each schema id, and the state they folded to.

`python -m tests.supervisor.golden_history` writes that of the newest id if there is none, and never touches one that
exists.
"""

import base64
import json
from pathlib import Path
from typing import Any

import msgspec

from remit.codec import decode, encode
from remit.codec.catalogue import catalogue
from remit.events.transitions import Transition
from remit.ids import digest
from remit.topics import Topic
from supervisor.fold import fold
from supervisor.state import State, initial
from tests.codec.golden_files import as_text, only
from tests.times.zone_report import history

FOLDER = Path(__file__).with_name("golden")


def path_of(schema_id: int) -> Path:
    """Where the history that was written with this schema id lies."""
    return FOLDER / f"history-{schema_id}.json"


def folded(values: list[str]) -> State:
    """The state that transitions, as Base64 of their bytes, fold to."""
    state: State = initial("default", "w1")
    for value in values:
        event = decode(Topic.TRANSITIONS, base64.b64decode(value))
        assert isinstance(event, Transition)
        state = fold(state, event).state
    return state


def digest_of(state: State, shape: dict[str, Any]) -> str:
    """Digest over the parts of a state that `shape` has, so that one which is added later does not change it."""
    return digest(as_text(only(shape, msgspec.to_builtins(state))))


def shape_of(state: State) -> dict[str, Any]:
    """The state as plain data."""
    plain: dict[str, Any] = json.loads(msgspec.json.encode(state))
    return plain


def write_missing() -> Path:
    """Write the golden history of the newest schema, if it has none yet."""
    newest = catalogue().newest(Topic.TRANSITIONS).id
    if not path_of(newest).exists():
        values = [base64.b64encode(encode(Topic.TRANSITIONS, each)).decode() for each in history().history]
        state = folded(values)
        shape = shape_of(state)
        content = {"id": newest, "digest": digest_of(state, shape), "shape": shape, "transitions": values}
        FOLDER.mkdir(exist_ok=True)
        path_of(newest).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return path_of(newest)


if __name__ == "__main__":
    print(write_missing().name)  # noqa: T201 - a developers' script
