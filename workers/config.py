"""A worker's configuration: a file, flags, or both; read once at start. Faults name key and rule, never a value."""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from remit.documents import read
from remit.errors import FaultyDocumentError, InvalidInputError, SettingsError
from remit.faults_pydantic import faults_of
from remit.grants import read_public
from remit.ids import ID_PATTERN
from remit.leaks import no_secret

Id = Annotated[str, Field(pattern=rf"^{ID_PATTERN}$"), AfterValidator(no_secret)]
Word = Annotated[str, AfterValidator(no_secret)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Permission = Annotated[str, Field(pattern=r"^(none|read-only|execute|read-write(:[A-Za-z0-9._/*-]+)?)$")]
Argv = Annotated[list[str], Field(min_length=1)]


def _public_key(text: str) -> str:
    try:
        read_public(text)
    except InvalidInputError as error:
        raise ValueError(str(error)) from None
    return text


PublicKey = Annotated[str, AfterValidator(_public_key)]


def _absolute(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("must be absolute")
    return path


Place = Annotated[Path, AfterValidator(_absolute)]
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")


class WorkerConfig(BaseModel):
    """What one worker process is and does."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    worker_id: Id
    pool: Id
    argv: Annotated[list[str], Field(min_length=1)]  # the command that works on an attempt; no shell
    home: Annotated[Path, AfterValidator(Path.resolve)]  # spool, repositories and workspaces lie below it
    slots: Annotated[int, Field(ge=1, le=256)] = 1  # attempts at once
    capabilities: list[Id] = []  # empty = all of the pool
    tools: list[Word] = []  # empty = all of the pool
    permissions: dict[Word, list[Permission]] = {}  # empty = all of the pool
    output_schemas: list[Word] = []  # empty = any
    risk_class: Literal["low", "medium", "high"] = "high"  # the highest that it takes
    price_entry: Word = "default"  # entry of the policy's prices
    env_allow: list[Variable] = []  # variables that pass to the command and to checks; their values are redacted
    secrets_from: Path | None = None  # file of NAME=VALUE lines that pass to the command alone; redacted
    secrets_to: Literal["both", "handler", "tools"] = "both"  # who gets them: with `tools` the handler holds none
    sandbox: Literal["auto", "require", "off"] = "auto"  # bubblewrap where it works, else a warning, or a refusal
    read_only: list[Place] = []  # further files and folders that commands in the sandbox may read
    network: bool | list[Word] = []  # any entry opens the network to the handler; hosts are named, not filtered
    tool_commands: dict[Word, Argv] = {}  # tool to the command that runs it, outside the sandbox
    supervisor_keys: list[PublicKey] = []  # whose grants it takes; empty = whoever may write to its topic
    calls_no_model: bool = False  # then usage that isn't reported is none, instead of the whole reservation
    renewal_seconds: Seconds = 5.0  # at most this long between renewals
    lease_seconds: Seconds = 30.0  # the shortest lease it takes
    liveness_seconds: Seconds = 3.0
    drain_seconds: Annotated[float, Field(ge=0, le=86_400)] = 10.0  # what attempts get to end when it is told to stop
    correction_seconds: Seconds = 120.0  # how long a result may be sent back, and what its correction gets
    keep_workspaces: bool = False  # leave each attempt's folder, for looking at

    @model_validator(mode="after")
    def _renews_in_time(self) -> Self:
        if self.renewal_seconds >= self.lease_seconds:
            raise ValueError(
                f"renewal_seconds ({self.renewal_seconds:g}) must be below lease_seconds ({self.lease_seconds:g}), "
                "else every lease ends before its first renewal"
            )
        return self


def load_config(path: Path | None = None, **flags: Any) -> WorkerConfig:  # noqa: ANN401 - judged by the model
    """The configuration of a file, over which flags that are given win; raises SettingsError with every fault."""
    given = {name: value for name, value in flags.items() if value not in (None, (), [], {})}
    try:
        return WorkerConfig.model_validate({**(_document(path) if path else {}), **given})
    except ValidationError as error:
        faults = [f"worker configuration: {fault}" for fault in faults_of(error, WorkerConfig)]
    # Outside the handler: the driver's error holds the rejected values and must not ride along as a context.
    raise SettingsError("\n".join(faults))


def _document(path: Path) -> dict[str, Any]:
    try:
        return _rooted(read(path, error=FaultyDocumentError), path.absolute().parent)
    except FaultyDocumentError as error:
        raise SettingsError(f"worker configuration: {'; '.join(error.faults)}") from None
    except OSError as error:
        raise SettingsError(f"worker configuration: the file can't be read ({type(error).__name__})") from None


def _rooted(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same with programs that are given by a relative path, such as ./review.py, found from the file's folder."""
    found = dict(document)
    if "argv" in found:
        found["argv"] = _program(found["argv"], folder)
    if isinstance(tools := found.get("tool_commands"), dict):
        found["tool_commands"] = {name: _program(argv, folder) for name, argv in tools.items()}
    return found


def _program(argv: Any, folder: Path) -> Any:  # noqa: ANN401 - judged by the model
    if not isinstance(argv, list) or not argv or not isinstance(argv[0], str) or os.sep not in argv[0]:
        return argv
    return [str(folder / argv[0]), *argv[1:]]


def read_secrets(path: Path | None) -> dict[str, str]:
    """The variables of a file of NAME=VALUE lines; raises SettingsError that names the line."""
    if path is None:
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"secrets_from: the file can't be read ({type(error).__name__})") from None
    return dict(_secret(line.strip(), number) for number, line in enumerate(lines, 1) if _says_something(line))


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _secret(line: str, number: int) -> tuple[str, str]:
    found = _LINE.fullmatch(line)
    if found is None:
        raise SettingsError(f"secrets_from: line {number} must be NAME=VALUE")
    value = found[2].strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return found[1], value[1:-1] if is_quoted else value
