"""Further tasks that a worker proposes with its result. Pure; the envelope, the runner and the supervisor import it.

A proposal grants nothing: it has no command lines, no checks and no pool of its own, and what it asks for is judged
against the spawn plan and the contract of the task that proposes it.
"""

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from remit.contract.file import Kind, Name, Names, PermissionsModel, References, RiskClass, Text, Texts
from remit.documents import parse_value
from remit.errors import EnvelopeInvalidError
from remit.faults_pydantic import faults_of
from remit.ids import ID_PATTERN
from remit.policy.model import LimitsModel

MAX_SUBTASKS = 100


class Subtask(BaseModel):
    """One proposed task; what it leaves out comes from its type, its limits are at most its parent's."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)

    id: Annotated[str, Field(pattern=f"^{ID_PATTERN}$")]
    task_type: Name
    objective: Text | None = None
    depends_on: Names = []
    inputs: References = {}
    outputs: Annotated[dict[str, Kind], Field(max_length=64)] | None = None
    permissions: PermissionsModel = PermissionsModel()
    tools: Names | None = None
    limits: LimitsModel = LimitsModel()
    risk_class: RiskClass | None = None
    output_schema: Name | None = None
    definition_of_done: Texts | None = None


Subtasks = Annotated[list[Subtask], Field(max_length=MAX_SUBTASKS)]
_LIST: TypeAdapter[list[Subtask]] = TypeAdapter(Subtasks)


class _Whole(BaseModel):
    subtasks: Subtasks


def read_subtasks(text: str) -> list[Subtask]:
    """The proposals whose JSON text a result carries; raises EnvelopeInvalidError with each fault by its path."""
    document = {"subtasks": parse_value(text, error=EnvelopeInvalidError)}
    try:
        return _Whole.model_validate(document).subtasks
    except ValidationError as error:
        faults = [str(fault) for fault in faults_of(error, _Whole, most=20)]
    # Outside the handler: the driver's error holds the rejected values and must not ride along as a context.
    raise EnvelopeInvalidError(faults)


def write_subtasks(proposed: list[Subtask]) -> str:
    """The JSON text that a result carries."""
    return json.dumps(_LIST.dump_python(proposed, mode="json", exclude_unset=True), ensure_ascii=False)
