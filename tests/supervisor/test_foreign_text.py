"""Texts of strangers where the supervisor looks at them: stored outputs, names of outputs, versions."""

import json
from pathlib import Path

import pytest

from remit.artefacts import ArtefactStore
from remit.contract.normal import Limits, Permissions, TaskContract
from remit.events.inputs import Answer, Question, QuestionKind, Verdict
from supervisor.checks.envelope import version_fits
from supervisor.checks.outputs import read_outputs
from supervisor.inspect.questions import answer


def looked_at(data: bytes, folder: Path) -> Answer:
    """What the inspector says of a stored output."""
    store = ArtefactStore(str(folder))
    ref = store.put(data)
    asked = Question(id="q", kind=QuestionKind.OUTPUT, reference=ref.reference, expected=(ref.sha256,), size=ref.size)
    return answer(asked, store)


@pytest.mark.parametrize(
    "data",
    [
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-32"),
        b'{"a": "\\ud800"}',
        b"NaN",
        b"[" * 5_000,
        b'{"a":1,"a":2}',
    ],
)
def test_a_stored_output_that_nobody_could_read_is_a_mismatch(data: bytes, tmp_path: Path) -> None:
    """Other encodings, half surrogate pairs, bombs: a verdict, never an exception that asks for ever."""
    found = looked_at(data, tmp_path)
    assert (found.verdict, found.content) == (Verdict.MISMATCH, None)


def test_a_byte_order_mark_is_no_part_of_a_stored_output(tmp_path: Path) -> None:
    """It is read as any document is, and what is handed on can be read again."""
    found = looked_at(b'\xef\xbb\xbf{"a": 1}', tmp_path)
    assert found.verdict is Verdict.MATCH
    assert json.loads(found.content or "") == {"a": 1}


def test_an_undeclared_output_is_named_without_its_control_characters() -> None:
    """Its name goes into history and onto terminals: escaped, and no longer than a name."""
    task = TaskContract(
        task_id="a",
        task_type="a",
        capability="a",
        pool="a",
        objective="a",
        permissions=Permissions(grants={}),
        limits=Limits(),
    )
    (fault,) = read_outputs(task, (), json.dumps({"a\x1b[31m" + "b" * 500: 1})).faults
    assert fault.isprintable()
    assert len(fault) < 200
    assert fault.endswith("is not declared (out_of_scope)")


@pytest.mark.parametrize("wanted", ["9" * 5_000, f">={'9' * 5_000}", "===\x00", "==*", "~=1"])
def test_a_version_that_is_none_fits_nothing(wanted: str) -> None:
    """However long its number is."""
    assert not version_fits("3.11.7", wanted)
    assert not version_fits("9" * 5_000, ">=3")
