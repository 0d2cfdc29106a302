"""Documents are read strictly: what is ambiguous, too large or too deep is refused with its place, never its value."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.contract.handout import read_handout
from remit.contract.normal import decode
from remit.documents import MAX_BYTES, parse, parse_value, read
from remit.errors import ContractInvalidError, PolicyInvalidError

SCALARS = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(st.characters(codec="utf-8"), max_size=8)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


def fault(text: str | bytes, *, is_json: bool = False) -> str:
    with pytest.raises(ContractInvalidError) as caught:
        parse(text, is_json=is_json)
    assert len(caught.value.faults) == 1
    return caught.value.faults[0]


def test_yaml_is_the_core_schema_of_1_2() -> None:
    """No `no` becomes false, no date becomes a date; numbers, null and true are what the core schema says."""
    text = "a: no\nb: 2026-01-01\nc: 0o17\nd: 1.5\ne: ~\nf: [yes, true]\ng: 0x1F\nh: 12:30:45\ni: '1'\nj: |\n  1\n"
    assert parse(text, is_json=False) == {
        "a": "no",
        "b": "2026-01-01",
        "c": 15,
        "d": 1.5,
        "e": None,
        "f": ["yes", True],
        "g": 31,
        "h": "12:30:45",
        "i": "1",
        "j": "1\n",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\na: 2", "line 2, column 1: key stands twice"),
        ("a: &x 1\nb: *x", "line 1, column 4: anchors and aliases are not allowed"),
        ("a: !!python/object:os.system 1", "line 1, column 4: tags are not allowed"),
        ("1: a", "line 1, column 1: a key must be text"),
        ("? [a]\n: 1", "line 1, column 3: a key must be text"),
        ("a: " + "[" * 70, "line 1, column 67: nested deeper than 64"),
        ("- 1", "the document must be a mapping"),
        ("", "the document is empty"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a file holds one document"),
        ("a: .nan", "line 1, column 4: a number must be finite"),
        ("a: 1e999", "line 1, column 4: a number must be finite"),
        ("a: " + "9" * 5000, "line 1, column 4: a number has more than 64 characters"),
    ],
)
def test_yaml_faults_name_their_place(text: str, expected: str) -> None:
    """Each ambiguity of YAML is refused with line and column."""
    assert fault(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "a": 2}', "a: key stands twice"),
        ('{"b": [{"a": 1, "a": 2}]}', "b[0].a: key stands twice"),
        ('{"a": NaN}', "NaN and Infinity are no JSON numbers"),
        ('{"a": 1e999}', "a number is out of range"),
        ('{"a": ' + "9" * 5000 + "}", "a number has more than 64 characters"),
        ("[" * 70, "line 1: nested deeper than 64"),
        ('{"a": "\\ud800"}', "a: text holds half a surrogate pair"),
        ('{"a":}', "line 1, column 6: not valid JSON: Expecting value"),
        ("[]", "the document must be a mapping"),
    ],
)
def test_json_faults_name_their_place(text: str, expected: str) -> None:
    """Each ambiguity of JSON is refused with line and column or path."""
    assert fault(text, is_json=True) == expected


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), TREES))
def test_json_reads_as_json(document: dict[str, object]) -> None:
    """Whatever JSON wrote is read back equal."""
    assert parse(json.dumps(document), is_json=True) == document


@given(st.binary(max_size=200), st.booleans())
def test_garbage_is_one_fault_or_a_mapping(data: bytes, is_json: bool) -> None:
    """No bytes raise anything but the one agreed error."""
    try:
        outcome: object = parse(data, is_json=is_json)
    except ContractInvalidError as error:
        outcome = error
    assert isinstance(outcome, dict) or (isinstance(outcome, ContractInvalidError) and len(outcome.faults) == 1)


@pytest.mark.parametrize("is_json", [True, False])
@pytest.mark.parametrize(
    "text", ["[" * 200_000, '"' + '\\"' * 100_000, "{a: " * 50_000, '{"a":' * 40_000, "- " * 100_000, "a: {" * 60_000]
)
def test_hostile_nesting_is_answered_at_once(text: str, is_json: bool) -> None:
    """VALID-10: neither a RecursionError nor quadratic time on what nests or never ends."""
    started = time.process_time()
    fault(text, is_json=is_json)
    assert time.process_time() - started < 5


def test_a_large_file_is_refused_by_its_size(tmp_path: Path) -> None:
    """KOPS-5, contract half: 10 MB of anything is refused by size and limit, unread."""
    path = tmp_path / "large.yaml"
    path.write_bytes(b"\x00" * 10_000_000)
    with pytest.raises(ContractInvalidError) as caught:
        read(path)
    assert str(caught.value) == f"CONTRACT_INVALID: size: 10000000 bytes, at most {MAX_BYTES}"


def test_binary_garbage_is_no_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are refused by the place of the first bad one."""
    path = tmp_path / "garbage.json"
    path.write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(PolicyInvalidError) as caught:
        read(path, error=PolicyInvalidError)
    assert caught.value.faults == ("not UTF-8 text (byte 4)",)


def test_no_value_stands_in_a_syntax_error() -> None:
    """REDACT-3: a document that breaks beside a secret names the place only."""
    for text, is_json in (("a: 'hunter2\nb: @hunter2", False), ('{"a": "hunter2" "b"', True), ("x: *hunter2", False)):
        assert "hunter2" not in fault(text, is_json=is_json)


@pytest.mark.parametrize("data", [b'"\\ud800"', b"NaN", b"[" * 65, b'{"a": 1, "a": 2}', b"1e999", b"\xff", b"[1"])
def test_any_value_is_read_as_strictly_as_a_document(data: bytes) -> None:
    """A value that stands alone is held to the same rules as one in a document."""
    with pytest.raises(ContractInvalidError):
        parse_value(data)
    assert parse_value(b'[1, "a", null]') == [1, "a", None]


@pytest.mark.parametrize("reader", [read_handout, decode])
@pytest.mark.parametrize("text", ["", "[]", "{" * 5, '{"task": ' + "[" * 100_000, '{"workflow": ' + '{"a":' * 100_000])
def test_a_normal_form_of_any_text_is_one_error(reader: Callable[[str], object], text: str) -> None:
    """Whoever reads a stored form has one error to answer, nesting that no stack holds included."""
    with pytest.raises(msgspec.DecodeError):
        reader(text)
