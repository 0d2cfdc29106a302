"""How rows of each table come together: keys, and which columns move together. Pure; the projector's rooms import it.

A keyed table's row is built from several transitions, each with a part of its columns. `statements` makes of the same
data what joins the parts of a batch, and what joins their row with the stored one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Values = Mapping[str, Any]

PROJECTION_VERSION = 2
"""Raised whenever a table's columns or the meaning of one change."""


@dataclass(frozen=True)
class Keyed:
    """A table with one row per key.

    A column takes the newest value that is said; one of `first` keeps its first; the columns of a group are replaced
    together, nulls included, with the group's guard, which is never null then.
    """

    key: tuple[str, ...]
    first: frozenset[str] = frozenset()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def guard_of(self, column: str) -> str | None:
        """The guard of the group that a column belongs to."""
        return next((guard for guard, columns in self.groups.items() if column in columns), None)


_BUDGET = frozenset({"max_cost_gbp", "max_tokens", "max_tool_calls"})
_CONTRACT = _BUDGET | {
    "contract_version",
    "workflow_type",
    "owner",
    "objective",
    "data_classification",
    "contract_sha256",
    "content_digest",
    "proposed_by",
    "approved_by",
    "deadline_at",
}
_TASK_CONTRACT = _BUDGET | {
    "contract_version",
    "ordinal",
    "task_type",
    "capability",
    "pool",
    "objective",
    "risk_class",
    "depends_on",
    "max_attempts",
    "deadline_seconds",
}
_TASK_STATUS = frozenset({"sequence", "status", "round", "reason", "waits_for", "since"})
_REQUIREMENT = frozenset({"contract_version", "text", "source", "mandatory", "security", "checks", "tasks"})
_GATE = frozenset({"judged_at", "held"})

KEYED: Mapping[str, Keyed] = {
    "streams": Keyed(("stream",)),
    "workflows": Keyed(
        ("tenant_id", "workflow_id"),
        first=frozenset({"submitted_at", "submitter", "accepted_at", "settled_at"}),
        groups={"contract_version": _CONTRACT},
    ),
    "tasks": Keyed(
        ("tenant_id", "workflow_id", "task_id"),
        groups={"contract_version": _TASK_CONTRACT, "sequence": _TASK_STATUS},
    ),
    "attempts": Keyed(("attempt_id",)),
    "requirements": Keyed(
        ("tenant_id", "workflow_id", "requirement_id"),
        groups={"contract_version": _REQUIREMENT, "judged_at": _GATE},
    ),
}
"""Tables whose rows are joined from parts."""

ONCE: Mapping[str, tuple[str, ...]] = {
    "decisions": ("tenant_id", "workflow_id", "event_id"),
    "policies": ("policy_sha256",),
    "dead_letters": ("source_topic", "source_partition", "source_offset"),
}
"""Tables whose rows are whole at once: the first of a key is kept, a repeat is the same event again."""

APPENDED: Mapping[str, tuple[str, ...]] = {
    "transitions": ("stream", "sequence"),
    "task_changes": ("tenant_id", "workflow_id", "sequence", "task_id"),
    "evidence": ("tenant_id", "workflow_id", "sequence", "ordinal"),
    "routes": ("tenant_id", "workflow_id", "sequence", "ordinal"),
    "costs": ("tenant_id", "workflow_id", "sequence"),
    "skipped": ("topic", "partition", "offset"),
    "gaps": ("topic", "partition"),
}
"""Tables that only grow, and what names a row of theirs: the fold's guard lets each in once."""

IDENTITY: Mapping[str, tuple[str, ...]] = {
    **{name: keyed.key for name, keyed in KEYED.items()},
    **ONCE,
    **APPENDED,
    "offsets": ("topic", "partition"),
    "meta": (),
}
"""What names a row, for every table."""
