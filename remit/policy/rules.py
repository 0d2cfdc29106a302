"""Rules of a policy that look across its fields: what is named exists, and nothing contradicts itself. Pure.

Only `remit.policy.load` imports it.
"""

import re
from collections.abc import Iterator, Mapping

from remit.faults import Fault, Path, unknown_key
from remit.ids import is_id
from remit.policy.checks import check_faults, command_faults
from remit.policy.model import LimitsModel, Policy, Pool, Prices, TaskType, Timeouts
from remit.policy.output_schemas import schema_faults
from remit.policy.permissions import covers, is_path_glob
from remit.policy.verification import verification_faults

_OUTPUT_KINDS = ("revision", "diff", "document", "report", "log", "value", "contract")
_RISK = ("low", "medium", "high")
_RESERVED_SCHEMES = frozenset({"repo", "artefact", "file", "input", "task"})
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_LONGEST_S = 10**10  # about 300 years: added to a time of today it still is a time
_MOST = 10**15  # a number that JSON's readers hold exactly, and an event's 64 bits
_NO_ID = "is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -"


def policy_faults(policy: Policy) -> Iterator[Fault]:
    """Every fault of a policy whose fields are right by themselves."""
    yield from _names(policy)
    yield from _schemes(policy)
    for name, pool in policy.pools.items():
        yield from _pool(policy, name, pool)
    for name, task_type in policy.task_types.items():
        yield from _task_type(policy, name, task_type)
    for name, command in policy.commands.items():
        yield from command_faults(command, ("commands", name))
    yield from _checks(policy)
    for name, schema in policy.output_schemas.items():
        yield from schema_faults(schema, ("output_schemas", name))
    yield from _prices(policy.prices)
    yield from _limits(policy)
    yield from _timeouts(policy)
    yield from _ceilings(policy)
    yield from verification_faults(policy)


def _names(policy: Policy) -> Iterator[Fault]:
    if not is_id(policy.default_tenant):
        yield Fault(("default_tenant",), _NO_ID)
    if not policy.default_owner.strip():
        yield Fault(("default_owner",), "must name a person or a team")
    for part in ("repositories", "pools", "task_types", "commands"):
        for key in getattr(policy, part):
            if not is_id(key):
                yield Fault((part, key), _NO_ID)


def _schemes(policy: Policy) -> Iterator[Fault]:
    for number, scheme in enumerate(policy.reference_schemes):
        if scheme in _RESERVED_SCHEMES:
            yield Fault(("reference_schemes", number), "is Remit's own")
        elif not _SCHEME.fullmatch(scheme):
            yield Fault(("reference_schemes", number), "must be a scheme: a-z, then a-z 0-9 + . -")


def _pool(policy: Policy, name: str, pool: Pool) -> Iterator[Fault]:
    path: Path = ("pools", name)
    for number, glob in enumerate(pool.paths):
        if not is_path_glob(glob):
            yield Fault((*path, "paths", number), "must be a glob inside the repository")
    known = policy.data_classifications
    if pool.data_classification is not None and pool.data_classification not in known:
        yield unknown_key(
            (*path, "data_classification"), known, "one of data_classifications", pool.data_classification
        )


def _task_type(policy: Policy, name: str, task_type: TaskType) -> Iterator[Fault]:
    path: Path = ("task_types", name)
    pool = policy.pools.get(task_type.pool)
    if pool is None:
        yield unknown_key((*path, "pool"), policy.pools, "a pool of this policy", task_type.pool)
    else:
        yield from _within_pool(path, name, task_type, pool)
    for output, kind in task_type.outputs.items():
        if not is_id(output):
            yield Fault((*path, "outputs", output), _NO_ID)
        if kind not in _OUTPUT_KINDS:
            yield unknown_key((*path, "outputs", output), _OUTPUT_KINDS, "an output kind", kind)
    schema = task_type.output_schema
    if schema is not None and schema not in policy.output_schemas:
        yield unknown_key((*path, "output_schema"), policy.output_schemas, "an output schema of this policy", schema)
    for number, text in enumerate(task_type.definition_of_done):
        if not policy.checks.get(text):
            yield Fault((*path, "definition_of_done", number), "has no check")
    yield from _below(task_type.limits, policy.limits.max, (*path, "limits"))
    for number, other in enumerate(task_type.spawn.types if task_type.spawn else ()):
        if other not in policy.task_types:
            place = (*path, "spawn", "types", number)
            yield unknown_key(place, policy.task_types, "a task type of this policy", other)


def _within_pool(path: Path, name: str, task_type: TaskType, pool: Pool) -> Iterator[Fault]:
    whose = f"of pool {task_type.pool}"
    capability = task_type.capability or name
    if capability not in pool.capabilities:
        yield unknown_key((*path, "capability"), pool.capabilities, f"a capability {whose}", capability)
    for number, tool in enumerate(task_type.tools):
        if tool not in pool.tools:
            yield unknown_key((*path, "tools", number), pool.tools, f"a tool {whose}", tool)
    for resource, grant in task_type.permissions.items():
        place = (*path, "permissions", resource)
        if resource not in pool.permissions:
            yield unknown_key(place, pool.permissions, f"a resource {whose}")
        elif not covers(pool.permissions[resource], grant):
            yield Fault(place, f"is more than pool {task_type.pool} allows")
    if _RISK.index(task_type.risk_class) > _RISK.index(pool.risk_class):
        yield Fault((*path, "risk_class"), f"must be at most {pool.risk_class} (pool {task_type.pool})")


def _checks(policy: Policy) -> Iterator[Fault]:
    for text, checks in policy.checks.items():
        path = ("checks", text)
        if not checks:
            yield Fault(path, "must have at least 1 entry")
        ids = [check.id for check in checks]
        for number, check in enumerate(checks):
            if not is_id(check.id):
                yield Fault((*path, number, "id"), _NO_ID)
            elif check.id in ids[:number]:
                yield Fault((*path, number, "id"), "stands twice")
            yield from check_faults(check, (*path, number), policy.commands)


def _prices(prices: Prices) -> Iterator[Fault]:
    if "default" not in prices.entries:
        yield Fault(("prices", "entries", "default"), "is required")
    if prices.usd_gbp == 0:
        yield Fault(("prices", "usd_gbp"), "must be above 0")
    if prices.usd_gbp is not None and prices.as_of is None:
        yield Fault(("prices", "as_of"), "is required beside usd_gbp: a rate is one of a day")


def _limits(policy: Policy) -> Iterator[Fault]:
    """Nothing is ever unlimited: both sides name every limit."""
    sides: Mapping[str, LimitsModel] = {"max": policy.limits.max, "default": policy.limits.default}
    for side, limits in sides.items():
        for field in LimitsModel.model_fields:
            if getattr(limits, field) is None:
                yield Fault(("limits", side, field), "is required")
    yield from _below(policy.limits.default, policy.limits.max, ("limits", "default"))


def _below(limits: LimitsModel, most: LimitsModel, path: Path) -> Iterator[Fault]:
    for field in LimitsModel.model_fields:
        value, bound = getattr(limits, field), getattr(most, field)
        if value is not None and bound is not None and value > bound:
            yield Fault((*path, field), f"must be at most {bound} (limits.max)")


def _timeouts(policy: Policy) -> Iterator[Fault]:
    times = policy.timeouts
    if times.renewal_seconds * 2 > times.lease_seconds:
        rule = f"is {times.renewal_seconds}, at most half of lease_seconds, which is {times.lease_seconds}"
        yield Fault(("timeouts", "renewal_seconds"), rule)
    if times.backoff_min_seconds > times.backoff_max_seconds:
        rule = f"is {times.backoff_min_seconds}, at most backoff_max_seconds, which is {times.backoff_max_seconds}"
        yield Fault(("timeouts", "backoff_min_seconds"), rule)


def _ceilings(policy: Policy) -> Iterator[Fault]:
    """Numbers far beyond any use are refused here, where they stand, and not where they are first reckoned with."""
    for name, pool in policy.pools.items():
        yield from _at_most(pool.max_parallel, _MOST, ("pools", name, "max_parallel"))
    for field in LimitsModel.model_fields:
        value, path = getattr(policy.limits.max, field), ("limits", "max", field)
        if isinstance(value, int):
            yield from _at_most(value, _LONGEST_S if field == "deadline_seconds" else _MOST, path)
    for field in Timeouts.model_fields:
        yield from _at_most(getattr(policy.timeouts, field), _LONGEST_S, ("timeouts", field))


def _at_most(value: int, most: int, path: Path) -> Iterator[Fault]:
    if value > most:
        yield Fault(path, f"must be at most {most}")
