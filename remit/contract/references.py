"""References of inputs: their forms, and which of them `submit` still has to resolve. Pure; anyone may import it.

`repo://NAME@commit:HEX`, `repo://NAME@BRANCH`, `artefact://sha256/HEX`, `artefact://ALIAS`, `file://PATH`,
`input://NAME`, `task://TASK/OUTPUT`, and `scheme:rest` for the policy's own schemes.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

RESERVED_SCHEMES = frozenset({"repo", "artefact", "file", "input", "task"})
_NAME = r"[A-Za-z0-9._-]{1,128}"
_REVISION = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}"
_REPO = re.compile(rf"repo://(?P<name>{_NAME})@(?:commit:(?P<commit>[0-9a-f]{{4,64}})|(?P<branch>{_REVISION}))")
_DIGEST = re.compile(r"artefact://sha256/(?P<digest>[0-9a-f]{64})")
_ALIAS = re.compile(r"artefact://(?P<alias>(?!sha256/)[A-Za-z0-9][A-Za-z0-9._/-]{0,255})")
_FILE = re.compile(r"file://(?P<path>[^\x00-\x1f]{1,1024})")
_INPUT = re.compile(r"input://(?P<name>[A-Za-z0-9._:-]{1,128})")
_TASK = re.compile(r"task://(?P<task>[A-Za-z0-9._:-]{1,128})/(?P<output>[A-Za-z0-9._:-]{1,128})")
_OTHER = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*):(?P<rest>[^\s\x00-\x1f]{1,256})")
_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

ReferenceKind = Literal["repo", "artefact", "alias", "file", "input", "task", "external"]


@dataclass(frozen=True)
class Reference:
    """A reference taken apart.

    `name` and `detail`: repository and commit or branch; artefact and digest; alias; file path; input name; task and
    output; scheme and rest.
    """

    kind: ReferenceKind
    name: str
    detail: str = ""

    @property
    def is_resolved(self) -> bool:
        """Whether nothing is left for `submit` to look up."""
        if self.kind == "repo":
            return is_full_commit(self.detail)
        return self.kind not in ("alias", "file")


def is_full_commit(text: str) -> bool:
    """Whether `text` is a whole commit hash, lower-case (a branch of that name can't be told apart: the hash wins)."""
    return _FULL_COMMIT.fullmatch(text) is not None


def repo_reference(name: str, commit: str) -> str:
    """The resolved reference of a commit."""
    return f"repo://{name}@commit:{commit}"


def is_artefact(text: str) -> bool:
    """Whether a text is a reference to stored bytes by their hash."""
    return _DIGEST.fullmatch(text) is not None


def artefact_reference(sha256: str) -> str:
    """The resolved reference of stored bytes."""
    return f"artefact://sha256/{sha256}"


def parse_reference(text: str, schemes: Collection[str] = ()) -> Reference | None:  # noqa: PLR0911  (one line per form)
    """The reference that `text` is, or None if it has no known form; `schemes` are the policy's own."""
    if found := _REPO.fullmatch(text):
        return Reference("repo", found["name"], found["commit"] or found["branch"])
    if found := _DIGEST.fullmatch(text):
        return Reference("artefact", "sha256", found["digest"])
    if found := _ALIAS.fullmatch(text):
        return Reference("alias", found["alias"])
    if found := _FILE.fullmatch(text):
        return Reference("file", found["path"])
    if found := _INPUT.fullmatch(text):
        return Reference("input", found["name"])
    if found := _TASK.fullmatch(text):
        return Reference("task", found["task"], found["output"])
    return _external(text, schemes)


def _external(text: str, schemes: Collection[str]) -> Reference | None:
    found = _OTHER.fullmatch(text)
    if not found or found["scheme"] not in schemes:
        return None
    return Reference("external", found["scheme"], found["rest"])
