"""A contract in its normal form: what the gate yields, `contract_accepted` embeds and the supervisor folds. Pure data.

A storage format: these structures are written as canonical JSON inside `contracts` and `transitions`, and their
digests are named by proposals; a field may be added with a default, never renamed or removed.
"""

from decimal import Decimal
from enum import StrEnum
from functools import cached_property, lru_cache

import msgspec

from remit.ids import digest
from remit.typed_json import read_json

SCHEMA_VERSION = "workflow-v1"


class OutputKind(StrEnum):
    """What a declared output is."""

    REVISION = "revision"  # a full commit of a repository
    DIFF = "diff"  # a stored patch
    DOCUMENT = "document"  # a stored file that people read
    REPORT = "report"  # a stored machine-written report
    LOG = "log"  # stored output of a run
    VALUE = "value"  # a small JSON value, inline
    CONTRACT = "contract"  # a drafted contract, inline


class EvidenceKind(StrEnum):
    """What kind of evidence meets a check."""

    REVISION = "revision"  # the commit exists, descends from its base, touches only allowed paths
    TEST_RUN = "test_run"  # the runner ran the command; its report names the cases
    SCAN = "scan"  # the runner ran a scanner
    COMMAND = "command"  # the runner ran a command; its exit status counts
    REVIEW = "review"  # a declared output by a worker other than the subject's author
    DOCUMENT = "document"  # a declared output with a verified hash


class HoldsAt(StrEnum):
    """Which subject a check's evidence must speak of."""

    FINAL = "final"  # the final revision
    OWN = "own"  # the subject of the task that yields it
    NONE = "none"  # no subject


class ReportFormat(StrEnum):
    """Formats of a command's report that the runner can read."""

    JUNIT = "junit"
    BANDIT = "bandit"


class Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base of all normal forms."""


class Limits(Frozen, frozen=True, kw_only=True):
    """Hard limits; None where the policy sets none of that kind. Seconds, pounds, counts."""

    deadline_seconds: int | None = None
    deadline: str | None = None  # absolute, UTC, ISO 8601 with Z
    max_cost_gbp: Decimal | None = None
    max_tokens: int | None = None
    max_tool_calls: int | None = None
    max_attempts: int | None = None
    max_reworks: int | None = None
    max_tasks: int | None = None
    max_depth: int | None = None
    max_workers: int | None = None
    max_turns: int | None = None


class Check(Frozen, frozen=True, kw_only=True):
    """One piece of evidence that a requirement needs."""

    id: str
    kind: EvidenceKind
    task: str
    holds_at: HoldsAt
    command: str | None = None  # a key of the workflow's `commands`
    cases: tuple[str, ...] = ()  # globs over the report's test ids
    output: str | None = None  # a declared output of `task`, for document and review


class Requirement(Frozen, frozen=True, kw_only=True):
    """One string of the contract's definition of done, with the checks that show it holds."""

    id: str
    text: str
    source: str  # definition_of_done, must_preserve or security
    mandatory: bool
    security: bool
    checks: tuple[Check, ...]
    task: str | None = None  # the task whose own definition of done it stands in; None = the workflow's


class Command(Frozen, frozen=True, kw_only=True):
    """A command line that checks may name; `{report}` and `{failing}` are filled in by the runner."""

    argv: tuple[str, ...]
    report: ReportFormat | None = None
    retest: tuple[str, ...] | None = None


class Input(Frozen, frozen=True, kw_only=True):
    """One input of a task: a resolved reference, or an output of another task that is resolved at dispatch."""

    reference: str  # repo://NAME@commit:HEX, artefact://sha256/HEX, task://TASK/OUTPUT or a policy scheme
    kind: str  # git, artefact, task or external
    sha256: str | None = None  # of an artefact's bytes
    location: str | None = None  # where the policy says that repository is


class Permissions(Frozen, frozen=True, kw_only=True):
    """What the task may touch: per resource `none`, `read-only`, `execute` or `read-write:BRANCH`."""

    grants: dict[str, str]
    paths: tuple[str, ...] = ()  # globs of the repository that a commit may touch; empty = all


class OutputSchema(Frozen, frozen=True, kw_only=True):
    """The JSON Schema (2020-12) that a task's output must meet."""

    name: str
    text: str


class SpawnPlan(Frozen, frozen=True, kw_only=True):
    """What further tasks a worker may propose with its result; the workflow's depth and count bound them too."""

    types: tuple[str, ...]  # task types, and no other
    max_subtasks: int  # of one task, over all its attempts and rounds
    max_cost_gbp: Decimal | None = None  # of all its subtasks together, pounds


class Effect(Frozen, frozen=True, kw_only=True):
    """A change of the outside world that the committer applies after approval."""

    id: str
    kind: str
    source: str
    target: str
    key: str | None = None


class TaskContract(Frozen, frozen=True, kw_only=True):
    """One task's contract; its hash is over this form."""

    task_id: str
    task_type: str
    capability: str
    pool: str
    objective: str
    depends_on: tuple[str, ...] = ()
    inputs: dict[str, Input] = {}
    outputs: dict[str, OutputKind] = {}
    permissions: Permissions
    tools: tuple[str, ...] = ()
    limits: Limits
    risk_class: str = "low"
    output_schema: OutputSchema | None = None
    rework: str | None = None  # the task that mends what this one finds
    verifies: str | None = None  # the task whose recorded commands this one runs again, under another identity
    spawn: SpawnPlan | None = None  # None: it may propose no tasks
    parent: str | None = None  # the task whose worker proposed this one
    depth: int = 0  # of a proposed task: its parent's and one more


class Workflow(Frozen, frozen=True, kw_only=True, dict=True, gc=True):
    """A whole workflow in normal form; what is worked out of it is kept beside its fields."""

    schema_version: str = SCHEMA_VERSION
    tenant_id: str
    workflow_id: str
    workflow_type: str  # for views; `task_type` of a bare contract, else the file's `workflow_type` or "workflow"
    owner: str
    objective: str
    data_classification: str | None = None
    constraints: dict[str, str] = {}  # language, framework: what the runner's environment must meet
    inputs: dict[str, Input] = {}
    requirements: tuple[Requirement, ...]
    commands: dict[str, Command] = {}
    limits: Limits
    effects: tuple[Effect, ...] = ()
    tasks: dict[str, TaskContract]

    def checks_of(self, task_id: str) -> tuple[tuple[Requirement, Check], ...]:
        """The checks that `task_id` must yield evidence for, with their requirements, in order."""
        return self._checks.get(task_id, ())

    @cached_property
    def _checks(self) -> dict[str, tuple[tuple[Requirement, Check], ...]]:
        found: dict[str, list[tuple[Requirement, Check]]] = {}
        for requirement in self.requirements:
            for check in requirement.checks:
                found.setdefault(check.task, []).append((requirement, check))
        return {task_id: tuple(checks) for task_id, checks in found.items()}

    def dependants_of(self, task_id: str) -> tuple[str, ...]:
        """Ids of the tasks that depend on `task_id` directly, in file order."""
        return self._dependants.get(task_id, ())

    @cached_property
    def _dependants(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for other in self.tasks.values():
            for needed in dict.fromkeys(other.depends_on):
                found.setdefault(needed, []).append(other.task_id)
        return {task_id: tuple(others) for task_id, others in found.items()}


def encode(value: msgspec.Struct) -> str:
    """JSON text of a normal form, keys in declared order."""
    return msgspec.json.encode(value).decode()


def decode(text: str) -> Workflow:
    """The workflow whose normal form is `text`; raises msgspec.DecodeError on anything else."""
    return read_json(text, Workflow)


def task_hash(workflow: Workflow, task_id: str) -> str:
    """Digest of one task's contract: its normal form, its checks and their command lines."""
    return _digest_of(_hashed(workflow, task_id, workflow.tasks[task_id]))


def work_hash(workflow: Workflow, task_id: str) -> str:
    """Digest of what a task's work and evidence rest on: its contract without its limits and its spawn plan."""
    task = msgspec.structs.replace(workflow.tasks[task_id], limits=Limits(), spawn=None)
    return _digest_of(_hashed(workflow, task_id, task))


def _hashed(workflow: Workflow, task_id: str, task: TaskContract) -> bytes:
    checks = [check for _, check in workflow.checks_of(task_id)]
    commands = {check.command: workflow.commands[check.command] for check in checks if check.command}
    return msgspec.json.encode({"task": _as_hashed(task), "checks": checks, "commands": commands})


_LATER = {"verifies": None, "spawn": None, "parent": None, "depth": 0}
"""Fields that came after the first contracts were accepted: they count only where they are set."""


def _as_hashed(task: TaskContract) -> dict[str, object]:
    said = {name: getattr(task, name) for name in task.__struct_fields__}
    return {name: value for name, value in said.items() if name not in _LATER or value != _LATER[name]}


@lru_cache(maxsize=1024)
def _digest_of(text: bytes) -> str:
    """Digest of a JSON text; the same one is asked for at each offer, each result and each repeat of a contract."""
    return digest(msgspec.json.decode(text))
