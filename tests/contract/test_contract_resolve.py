"""What submit resolves: which references are open, and what becomes of them."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.contract.references import parse_reference
from remit.contract.resolve import resolve, unresolved
from remit.errors import ArtefactMissingError, ContractInvalidError, WorkspaceError

Document = dict[str, Any]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("repo://accounts-service@commit:abc123", ("repo", "accounts-service", "abc123", False)),
        ("repo://accounts-service@main", ("repo", "accounts-service", "main", False)),
        ("repo://a@commit:" + "a" * 40, ("repo", "a", "a" * 40, True)),
        ("artefact://sha256/" + "b" * 64, ("artefact", "sha256", "b" * 64, True)),
        ("artefact://requirements/781", ("alias", "requirements/781", "", False)),
        ("file://docs/threat model.md", ("file", "docs/threat model.md", "", False)),
        ("input://repository", ("input", "repository", "", True)),
        ("task://coding/diff", ("task", "coding", "diff", True)),
        ("sku:A14", ("external", "sku", "A14", True)),
    ],
)
def test_forms_of_references(text: str, expected: tuple[str, str, str, bool]) -> None:
    """Each form of the definitions is taken apart."""
    found = parse_reference(text, ["sku"])
    assert found is not None
    assert (found.kind, found.name, found.detail, found.is_resolved) == expected


@pytest.mark.parametrize(
    "text",
    ["", "repo://a", "repo://a@", "repo://a@commit:XYZ", "repo://a@--upload-pack=x", "artefact://sha256/ABC",
     "task://a", "other:x", "http://example.org/x", "file://a\nb", "sku:"],
)  # fmt: skip
def test_what_is_no_reference(text: str) -> None:
    """Anything else has no known form, options for git included."""
    assert parse_reference(text, ["sku"]) is None


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    """No text makes the parser fail."""
    parse_reference(text, ["sku"])


def test_open_references_in_file_order(worked_example: Document, bare_contract: Document, envelope: Document) -> None:
    """Only what submit must look up is listed, with its place."""
    assert [one.path for one in unresolved(worked_example)] == [
        ("inputs", "repository_ref"),
        ("inputs", "threat_model"),
    ]
    assert [one.path for one in unresolved(bare_contract)] == [
        ("inputs", "repository_ref"),
        ("inputs", "requirements_ref"),
    ]
    assert unresolved(envelope, ["sku", "policy"]) == ()


def test_resolving_fills_in_hashes(worked_example: Document, resolved: Callable[[Document], Document]) -> None:
    """A resolved document has nothing open and differs nowhere else."""
    document = resolved(worked_example)
    assert document["inputs"] == {
        "repository_ref": "repo://accounts-service@commit:" + "a" * 40,
        "threat_model": "artefact://sha256/" + "b" * 64,
    }
    assert document | {"inputs": worked_example["inputs"]} == worked_example


def test_what_can_not_be_resolved_is_told_all_at_once(worked_example: Document) -> None:
    """One fault per reference; the messages of what failed below, which may hold values, stay out."""

    def fail(*_: str) -> Any:
        raise WorkspaceError("hunter2")

    def missing(_: str) -> Any:
        raise ArtefactMissingError("hunter2")

    worked_example["inputs"]["notes"] = "artefact://notes"
    with pytest.raises(ContractInvalidError) as caught:
        resolve(worked_example, resolve_commit=fail, store_file=fail, find_alias=missing)
    assert caught.value.faults == (
        "inputs.repository_ref is not a commit of that repository",
        "inputs.threat_model can't be read or stored",
        "inputs.notes is not the alias of a stored artefact",
    )
