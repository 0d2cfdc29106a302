"""The three documents that people and workers hand in: a workflow file, a bare contract, a task envelope.

Frozen pydantic models, strict, no unknown key; their JSON Schemas are published. Rules that need the policy or
look across fields stand in `remit.contract.rules`. Pure; the contract room and the published schemas use it.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from remit.policy.model import CheckModel, CommandModel, LimitsModel, Model, SpawnModel

Text = Annotated[str, Field(min_length=1, max_length=8192)]
Name = Annotated[str, Field(min_length=1, max_length=128)]
# Ceilings on counts keep the gate quick whatever it is handed, and its faults few enough for one record.
Names = Annotated[list[Name], Field(max_length=200)]
Texts = Annotated[list[Text], Field(max_length=200)]
Checks = Annotated[list[CheckModel], Field(max_length=50)]
References = Annotated[dict[str, Name], Field(max_length=200)]
Kind = Literal["revision", "diff", "document", "report", "log", "value", "contract"]
Grant = Annotated[str, Field(pattern=r"^(none|read-only|execute|read-write:[A-Za-z0-9._/-]+)$")]
RiskClass = Literal["low", "medium", "high"]


class ContractLimits(LimitsModel):
    """Limits of a workflow or a task; `deadline` is absolute: RFC 3339 with a zone."""

    deadline: str | None = None


class Constraints(Model):
    """What the work must respect; each text of the two lists becomes a requirement."""

    language: Text | None = None
    framework: Text | None = None
    must_preserve: Texts = []
    security: Texts = []


class PermissionsModel(Model):
    """Per resource of the pool one grant; `paths` are globs that a commit may touch."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Grant] = Field(init=False)

    paths: Names = []

    @property
    def grants(self) -> dict[str, str]:
        """Grant by resource, in file order."""
        return dict(self.__pydantic_extra__)


class EffectModel(Model):
    """A change of the outside world, applied after approval."""

    id: Name
    kind: Literal["git_merge", "ledger", "http", "command"]
    source: Name
    target: Name
    key: Name | None = None


class TaskModel(Model):
    """One task of a workflow file; what it leaves out comes from its `task_type`."""

    task_type: Name
    depends_on: Names = []
    inputs: References = {}
    outputs: Annotated[dict[str, Kind], Field(max_length=64)] | None = None
    permissions: PermissionsModel = PermissionsModel()
    limits: ContractLimits = ContractLimits()
    output_schema: Name | None = None
    rework: Name | None = None
    objective: Text | None = None
    pool: Name | None = None
    capability: Name | None = None
    tools: Names | None = None
    risk_class: RiskClass | None = None
    definition_of_done: Texts | None = None
    spawn: SpawnModel | None = None  # given as null: none, whatever its type has


class WorkflowFile(Model):
    """A workflow file (`workflow-v1`)."""

    schema_version: Literal["workflow-v1"]
    workflow_id: Name | None = None
    workflow_type: Name | None = None
    tenant_id: Name | None = None
    owner: Name | None = None
    objective: Text
    data_classification: Name | None = None
    inputs: References = {}
    constraints: Constraints = Constraints()
    definition_of_done: Texts = []
    limits: ContractLimits = ContractLimits()
    effects: Annotated[list[EffectModel], Field(max_length=100)] = []
    commands: Annotated[dict[str, CommandModel], Field(max_length=200)] = {}
    checks: Annotated[dict[str, Checks], Field(max_length=1000)] = {}
    output_schemas: Annotated[dict[str, dict[str, Any]], Field(max_length=200)] = {}
    tasks: dict[str, TaskModel] = Field(min_length=1, max_length=1000)


class TaskContractFile(Model):
    """A bare contract (`task-contract-v1`): one task; what it leaves out comes from the policy's `task_types`."""

    schema_version: Literal["task-contract-v1"]
    workflow_id: Name | None = None
    tenant_id: Name | None = None
    owner: Name | None = None
    task_type: Name | None = None
    objective: Text
    data_classification: Name | None = None
    inputs: References = {}
    constraints: Constraints = Constraints()
    permissions: PermissionsModel = PermissionsModel()
    output_schema: Name
    definition_of_done: Texts = []
    limits: ContractLimits = ContractLimits()


class TaskEnvelopeFile(Model):
    """A task envelope: one task of a named type, with its inputs by reference; it carries no `schema_version`."""

    schema_version: Literal["task-envelope-v1"] = "task-envelope-v1"
    task_id: Name
    tenant_id: Name | None = None
    owner: Name | None = None
    task_type: Name
    input_refs: Names = []
    allowed_tools: Names | None = None
    deadline: str | None = None
    max_attempts: Annotated[int, Field(ge=1)] | None = None
    output_schema: Name | None = None
