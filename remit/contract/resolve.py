"""Resolves what a submission leaves open: short commits and branches, files and aliases, into hashes.

Pure but for the three functions that it is handed; the command line calls it before it submits. The supervisor's own
gate takes resolved documents only.
"""

import copy
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from remit.contract.references import Reference, artefact_reference, parse_reference, repo_reference
from remit.errors import ArtefactError, ContractInvalidError, WorkspaceError
from remit.faults import Fault, Path

ResolveCommit = Callable[[str, str], str]  # (repository NAME, revision) -> full commit; raises WorkspaceError
StoreFile = Callable[[str], tuple[str, int]]  # path -> (sha256, size); raises OSError or ArtefactError
FindAlias = Callable[[str], str]  # alias -> sha256; raises ArtefactError


@dataclass(frozen=True)
class Open:
    """A reference of a document that still has to be resolved, and where it stands."""

    path: Path
    reference: Reference


def unresolved(document: Mapping[str, Any], schemes: Collection[str] = ()) -> tuple[Open, ...]:
    """The references of a contract document that `submit` must resolve, in file order."""
    return tuple(
        Open(path, found)
        for path, text in _inputs(document)
        if (found := parse_reference(text, schemes)) and not found.is_resolved
    )


def _inputs(document: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    yield from _texts(document.get("inputs"), ("inputs",))
    yield from _texts(document.get("input_refs"), ("input_refs",))
    tasks = document.get("tasks")
    for task_id, task in tasks.items() if isinstance(tasks, Mapping) else ():
        if isinstance(task, Mapping):
            yield from _texts(task.get("inputs"), ("tasks", task_id, "inputs"))


def _texts(part: object, path: Path) -> Iterator[tuple[Path, str]]:
    items = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
    yield from (((*path, key), text) for key, text in items if isinstance(text, str))


def resolve(
    document: Mapping[str, Any],
    *,
    resolve_commit: ResolveCommit,
    store_file: StoreFile,
    find_alias: FindAlias,
    schemes: Collection[str] = (),
) -> dict[str, Any]:
    """The document with every reference resolved; raises ContractInvalidError with one fault per reference that isn't.

    Only a document that passed the gate should be resolved: files are stored on the way.
    """
    resolved: dict[str, Any] = copy.deepcopy(dict(document))
    faults: list[str] = []
    for open_ in unresolved(document, schemes):
        try:
            _put(resolved, open_.path, _resolved(open_.reference, resolve_commit, store_file, find_alias))
        except (WorkspaceError, ArtefactError, OSError):
            faults.append(str(Fault(open_.path, _RULES[open_.reference.kind])))
    if faults:
        raise ContractInvalidError(faults)
    return resolved


_RULES = {
    "repo": "is not a commit of that repository",
    "file": "can't be read or stored",
    "alias": "is not the alias of a stored artefact",
}


def _resolved(found: Reference, resolve_commit: ResolveCommit, store_file: StoreFile, find_alias: FindAlias) -> str:
    if found.kind == "repo":
        return repo_reference(found.name, resolve_commit(found.name, found.detail))
    if found.kind == "file":
        return artefact_reference(store_file(found.name)[0])
    return artefact_reference(find_alias(found.name))


def _put(document: Any, path: Path, text: str) -> None:  # noqa: ANN401  (a value of the document)
    for part in path[:-1]:
        document = document[part]
    document[path[-1]] = text
