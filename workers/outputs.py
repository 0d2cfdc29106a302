"""Turns what a worker declares and what it left behind into outputs: files stored without their secrets, values inline.

What the worker does not name itself is inferred: the revision and its diff, the log, a command's report, a file of
`$REMIT_OUT` that bears the output's name. Only this role imports it.
"""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from remit.contract.normal import OutputKind
from remit.documents import parse_value
from remit.errors import EnvelopeInvalidError
from remit.events.base import ArtefactRef
from remit.ids import sha256
from remit.result.envelope import FileOutput, StoredOutput

from .job import Bench, Ground
from .left import read_left
from .observe import Observed

MAX_FILE_BYTES = 64 << 20
_STORED = frozenset({OutputKind.DIFF, OutputKind.DOCUMENT, OutputKind.REPORT, OutputKind.LOG})


@dataclass(frozen=True)
class Leftovers:
    """What outputs can be inferred from."""

    revision: str | None  # the commit that HEAD came to be
    told_revision: str | None  # the same before trailers were added
    diff: bytes | None
    log: bytes  # what the command printed, and what each observed command printed
    observed: tuple[Observed, ...]


@dataclass(frozen=True)
class Outputs:
    """The outputs of a result, and the stored object of each that has one."""

    values: dict[str, Any]
    stored: dict[str, ArtefactRef]


@dataclass(frozen=True)
class Collector:
    """Collects the outputs of one attempt."""

    bench: Bench
    ground: Ground
    declared: Mapping[str, OutputKind]

    def keep(self, data: bytes) -> ArtefactRef:
        """Store bytes without their secrets."""
        return self.bench.store.put(self.bench.redactor.data(data))

    def named(self, value: FileOutput | StoredOutput) -> ArtefactRef:
        """The stored object that a worker names; raises EnvelopeInvalidError."""
        if isinstance(value, StoredOutput):
            return ArtefactRef(reference=value.artefact_ref, sha256=value.sha256, size=value.size)
        return self.keep(self.read(value))

    def read(self, value: FileOutput) -> bytes:
        """A file of the workspace or of `$REMIT_OUT`, compared with its hash if given; raises EnvelopeInvalidError."""
        path = self._place(value.file)
        data = read_left(path, MAX_FILE_BYTES + 1) if path is not None else None
        if data is None:
            raise EnvelopeInvalidError(["output: a file must lie in $REMIT_OUT or in the workspace, and be there"])
        if len(data) > MAX_FILE_BYTES:
            raise EnvelopeInvalidError([f"output: a file has more than {MAX_FILE_BYTES} bytes"])
        if value.sha256 is not None and value.sha256 != sha256(data):
            raise EnvelopeInvalidError(["output: a file has another sha256 than the envelope says"])
        return data

    def _place(self, name: str) -> Path | None:
        for root in (self.ground.out, self.ground.workspace):
            try:
                path = (root / name).resolve()
                if path.is_relative_to(root.resolve()) and path.is_file():
                    return path
            except (OSError, ValueError, RuntimeError):  # no name of a file: too long, a NUL, links in a circle
                continue
        return None

    def collect(self, given: Mapping[str, Any], left: Leftovers) -> Outputs:
        """The outputs: what the worker gave, then what can be inferred of the declared rest."""
        values: dict[str, Any] = {}
        kept = {name for name, kind in self.declared.items() if kind is OutputKind.REVISION}
        stored: dict[str, ArtefactRef] = {}
        for name in (*given, *(name for name in self.declared if name not in given)):
            found = self._given(name, given[name], left) if name in given else self._inferred(name, left)
            if isinstance(found, ArtefactRef):
                stored[name] = found
                values[name] = {"artefact_ref": found.reference, "sha256": found.sha256, "size": found.size}
            elif found is not None:
                values[name] = found
        return Outputs(self._clean(values, kept | stored.keys()), stored)

    def _clean(self, values: Mapping[str, Any], kept: AbstractSet[str]) -> dict[str, Any]:
        """The outputs without secrets, names included; references and commits under whatever name stay whole."""
        clean = self.bench.redactor.value({name: None if name in kept else value for name, value in values.items()})
        pairs = zip(values.items(), clean.items(), strict=True)
        return {new: value if name in kept else redacted for (name, value), (new, redacted) in pairs}

    def _given(self, name: str, value: Any, left: Leftovers) -> Any:  # noqa: ANN401 - a JSON value or a reference
        kind = self.declared.get(name)
        if kind is OutputKind.REVISION:
            return _revision(name, value, left)
        if (known := _as_stored(value)) is not None:
            return self.named(known)
        if kind in _STORED and value is not None:
            clean = self._clean({name: value}, frozenset()).popitem()[1]
            return self.keep(clean.encode() if isinstance(clean, str) else json.dumps(clean).encode())
        return value

    def _inferred(self, name: str, left: Leftovers) -> Any:  # noqa: ANN401 - a JSON value or a reference
        kind = self.declared[name]
        if kind is OutputKind.REVISION:
            return left.revision
        if (file := self._left_file(name)) is not None:
            data = self.read(FileOutput(file=str(file)))
            return self.keep(data) if kind in _STORED else _json(name, data)
        if kind is OutputKind.DIFF and left.diff is not None:
            return self.keep(left.diff)
        if kind is OutputKind.LOG:
            return self.keep(left.log)
        return _report(name, left) if kind is OutputKind.REPORT else None

    def _left_file(self, name: str) -> Path | None:
        own = {self.ground.result.name, self.ground.usage.name, self.ground.checkpoint.name}
        files = [path for path in sorted(self.ground.out.iterdir()) if path.is_file() and path.name not in own]
        return next((path for path in files if name in {path.name, path.stem}), None)


def document_of(collector: Collector, value: FileOutput | StoredOutput) -> dict[str, Any]:
    """The outputs that stand in a file or a stored object; raises EnvelopeInvalidError or ArtefactError."""
    data = collector.read(value) if isinstance(value, FileOutput) else collector.bench.store.get(value.sha256)
    found = _json("artefact_ref", data)
    if not isinstance(found, dict):
        raise EnvelopeInvalidError(["artefact_ref: must hold an object with one key per declared output"])
    return found


def _as_stored(value: Any) -> FileOutput | StoredOutput | None:  # noqa: ANN401 - any JSON value
    if not isinstance(value, dict):
        return None
    for model in (FileOutput, StoredOutput):
        try:
            return model.model_validate(value)
        except ValidationError:
            continue
    return None


def _revision(name: str, value: Any, left: Leftovers) -> str:  # noqa: ANN401 - any JSON value
    """What is kept alive is the workspace's HEAD, so nothing else can be the revision."""
    if left.revision is None or value not in (left.told_revision, left.revision):
        raise EnvelopeInvalidError([f"output.{name} must be the commit that the workspace's HEAD moved to"])
    return left.revision


def _report(name: str, left: Leftovers) -> ArtefactRef | None:
    """The report of the command of that name, else of the first that has one; of the whole command first."""
    reports = [each for each in left.observed if each.report is not None]
    ranked = sorted(reports, key=lambda each: (each.run.name != name, each.run.failing != ()))
    return ranked[0].report if ranked else None


def _json(name: str, data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value in a file, by the rules that the supervisor reads the output by; raises EnvelopeInvalidError."""
    try:
        return parse_value(data, error=EnvelopeInvalidError)
    except EnvelopeInvalidError as error:
        raise EnvelopeInvalidError([f"output.{name}: in its file: {fault}" for fault in error.faults]) from None
