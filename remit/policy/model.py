"""The policy: what operators allow, and at which price. Frozen pydantic models, strict; anyone may import it, pure.

A policy file is `schema_version: policy-v1`; its exact text is on the log and its SHA-256 is pinned by each workflow.
"""

import re
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

SCHEMA_VERSION = "policy-v1"


DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MONEY_PATTERN = r"^-?[0-9]{1,24}(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?$"


def _money(value: object) -> object:
    """Money arrives as text: a float has lost its digits already, so it is refused."""
    if isinstance(value, Decimal):
        return value
    if isinstance(value, str) and re.fullmatch(MONEY_PATTERN, value):
        number = Decimal(format(Decimal(value), "f"))  # 1E+3 is written as 1000
        return number or abs(number)  # no negative zero
    raise ValueError("must be money as text, like '0.25'")


Money = Annotated[
    Decimal,
    BeforeValidator(_money),
    Field(ge=0, max_digits=18, decimal_places=6),
    WithJsonSchema({"type": "string", "pattern": MONEY_PATTERN}),
]


def _day(value: object) -> object:
    """A day arrives as text too: YAML 1.2 knows no dates."""
    if isinstance(value, date):
        return value
    if isinstance(value, str) and DAY.fullmatch(value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    raise ValueError("must be a day as text, like '2026-07-01'")


Day = Annotated[date, BeforeValidator(_day)]
Seconds = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=1)]
Permission = Annotated[str, Field(pattern=r"^(none|read-only|execute|read-write:[A-Za-z0-9._/*-]+)$")]


class Model(BaseModel):
    """Base of all policy parts: frozen, strict, no unknown key."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


class CommandModel(Model):
    """A command line; `report` names the format of the file at `{report}`."""

    argv: list[str] = Field(min_length=1)
    report: Literal["junit", "bandit"] | None = None
    retest: list[str] | None = None


class CheckModel(Model):
    """One check of a requirement, as a workflow file or the policy spells it.

    `holds_at` left out: `final` where the check's task makes or takes a revision of a workflow that makes one (but
    `own` for a document), else `own`, or `none` for a task without inputs.
    """

    id: str
    kind: Literal["revision", "test_run", "scan", "command", "review", "document"]
    task: str | None = None
    command: str | None = None
    cases: list[str] = []
    output: str | None = None
    holds_at: Literal["final", "own", "none"] | None = None


class LimitsModel(Model):
    """Limits of a workflow or a task; what is left out comes from the policy."""

    deadline_seconds: Seconds | None = None
    max_cost_gbp: Money | None = None
    max_tokens: Count | None = None
    max_tool_calls: Count | None = None
    max_attempts: Count | None = None
    max_reworks: Annotated[int, Field(ge=0)] | None = None
    max_tasks: Count | None = None
    max_depth: Annotated[int, Field(ge=0)] | None = None
    max_workers: Count | None = None
    max_turns: Count | None = None


class Pool(Model):
    """What the workers of a pool may be: a registration only narrows this."""

    capabilities: list[str] = Field(min_length=1)
    tools: list[str] = []
    permissions: dict[str, list[Permission]] = {}
    paths: list[str] = []  # globs of repository paths that its tasks may touch; empty = all
    risk_class: Literal["low", "medium", "high"] = "low"
    data_classification: str | None = None  # the most sensitive of the policy's that it may see; None = all
    max_parallel: Count = 16


class SpawnModel(Model):
    """What further tasks a worker may propose with its result; left out, none."""

    types: Annotated[list[str], Field(min_length=1, max_length=200)]
    max_subtasks: Annotated[int, Field(ge=1, le=10_000)]  # of one task
    max_cost_gbp: Money | None = None  # of all its subtasks together


class TaskType(Model):
    """What a task of this type is when its contract does not say: pool, capability, what the articles leave out."""

    pool: str
    capability: str | None = None  # the type's own name unless given
    tools: list[str] = []
    permissions: dict[str, Permission] = {}
    outputs: dict[str, str] = {}
    output_schema: str | None = None
    definition_of_done: list[str] = []
    limits: LimitsModel = LimitsModel()
    risk_class: Literal["low", "medium", "high"] = "low"
    objective: str | None = None
    spawn: SpawnModel | None = None


class Price(Model):
    """What one use costs, in pounds."""

    per_1k_tokens_in: Money = Decimal(0)
    per_1k_tokens_out: Money = Decimal(0)
    per_tool_call: Money = Decimal(0)
    per_worker_second: Money = Decimal(0)


class Prices(Model):
    """Price entries by name (`default` must exist; a registration names its entry), and people's time.

    All are pounds. Where they were made of prices in dollars, `source` says whose, `usd_gbp` and `as_of` at which rate
    of which day.
    """

    entries: dict[str, Price] = {"default": Price()}
    human_minute: Money = Decimal(0)
    source: str | None = None
    usd_gbp: Money | None = None  # pounds for one dollar
    as_of: Day | None = None


class Verification(Model):
    """Which tasks' recorded commands a verifier runs again, under another identity; the type `verify` says where.

    `sample` takes `percent` of the tasks, by a digest of their names: the same contract always gives the same ones.
    """

    mode: Literal["never", "sample", "always"] = "never"
    percent: Annotated[int, Field(ge=1, le=100)] | None = None
    types: Annotated[list[str], Field(min_length=1)] | None = None  # task types; None = all tasks about code
    risk_classes: Annotated[list[Literal["low", "medium", "high"]], Field(min_length=1)] | None = None  # None = all


class PolicyLimits(Model):
    """The most a contract may ask for, and what it gets when it asks for nothing."""

    max: LimitsModel
    default: LimitsModel


class Timeouts(Model):
    """Seconds for each wait; a renewal must come well inside its lease."""

    offer_seconds: Seconds = 10
    lease_seconds: Seconds = 30
    renewal_seconds: Seconds = 5
    no_progress_seconds: Seconds = 300
    queue_wait_seconds: Seconds = 600
    liveness_seconds: Seconds = 15
    backoff_min_seconds: Seconds = 1
    backoff_max_seconds: Seconds = 60
    inspection_seconds: Seconds = 60
    correction_seconds: Seconds = 60
    grant_grace_seconds: Seconds = 30


class Policy(Model):
    """A whole policy file."""

    schema_version: Literal["policy-v1"]
    environment: Literal["development", "staging", "production"]
    default_tenant: str
    default_owner: str
    repositories: dict[str, str] = {}  # NAME -> path or URL
    reference_schemes: list[str] = []  # further schemes of input references, such as `sku`
    data_classifications: list[str] = []  # what a contract may name, least sensitive first
    pools: dict[str, Pool]
    task_types: dict[str, TaskType]
    commands: dict[str, CommandModel] = {}
    checks: dict[str, list[CheckModel]] = {}
    output_schemas: dict[str, dict[str, Any]] = {}
    prices: Prices = Prices()
    limits: PolicyLimits
    timeouts: Timeouts = Timeouts()
    verification: Verification = Verification()
    roles: dict[str, list[str]] = {}
