"""What was ever written folds to the same state."""

import json
from pathlib import Path

import pytest

from remit.codec.catalogue import catalogue
from remit.topics import Topic
from tests.supervisor.golden_history import FOLDER, digest_of, folded, path_of


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_old_transitions_fold_to_the_stored_state(path: Path) -> None:
    """AVRO-1: the digest over what the state knew then equals the stored one."""
    golden = json.loads(path.read_text("utf-8"))
    assert digest_of(folded(golden["transitions"]), golden["shape"]) == golden["digest"]


def test_the_newest_schema_has_its_history() -> None:
    """AVRO-1: whoever releases a schema of transitions keeps a history: python -m tests.supervisor.golden_history."""
    assert path_of(catalogue().newest(Topic.TRANSITIONS).id).exists()
