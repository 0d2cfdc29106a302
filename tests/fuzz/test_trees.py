"""Changed documents: however deep they become, they can be written."""

import pytest

from fuzz.making import trees
from fuzz.target import dice


def test_a_document_that_is_deepened_again_and_again_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by a run: a few changes made it deeper than a writer of JSON holds."""
    monkeypatch.setattr(trees, "_CHANGES", (trees._deepen,))
    monkeypatch.setattr(trees, "_CHANGES_EACH", (20,))
    for number in range(50):
        own = dice(7, "trees", number)
        assert trees.as_json(own, trees.mutated(own, '{"a": 1}', ["{}"]))
