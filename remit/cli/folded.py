"""A workflow as the supervisor itself sees it: its transitions, folded. Only `remit.cli` imports it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from remit.client.cancelling import unknown
from remit.client.history import Entry, Follower
from remit.errors import RefusedError
from remit.log.protocols import Log
from remit.roles import role

if TYPE_CHECKING:
    from supervisor.state import State, Workflow

CONFLICT = "history_conflict"
MOVING = frozenset({"running", "authorised", "committing"})


@dataclass
class Folded:
    """The state so far, the transitions that made it, and whether history forked."""

    tenant_id: str
    workflow_id: str
    state: "State" = field(init=False)
    entries: list[Entry] = field(default_factory=list)
    conflict: bool = False

    def __post_init__(self) -> None:
        """Begin unborn."""
        self.state = role("supervisor.state").initial(self.tenant_id, self.workflow_id)

    def take(self, entries: Iterable[Entry]) -> list[Entry]:
        """Fold more transitions in log order; those that were folded. A fork freezes what is shown."""
        taken = []
        for entry in entries:
            folded: Any = role("supervisor.fold").fold(self.state, entry.transition)
            self.conflict = self.conflict or folded.verdict.value == CONFLICT
            if folded.verdict.value == "folded" and not self.conflict:
                self.state = folded.state
                taken.append(entry)
        self.entries += taken
        return taken

    @property
    def workflow(self) -> "Workflow":
        """The state, once a contract was accepted; RefusedError otherwise."""
        if isinstance(self.state, role("supervisor.state").Workflow):
            return cast("Workflow", self.state)
        rejections = [entry.transition.rejection for entry in self.entries if entry.transition.rejection]
        faults = "".join(f"\n{fault}" for fault in (rejections[-1].faults if rejections else ()))
        raise RefusedError(f"no contract was accepted as {self.workflow_id} yet; what was submitted last:{faults}")

    @property
    def born(self) -> bool:
        """Whether a contract was accepted."""
        return isinstance(self.state, role("supervisor.state").Workflow)

    @property
    def ended(self) -> bool:
        """Whether nothing comes any more."""
        return self.conflict or (self.born and not self.workflow.open)

    @property
    def at_rest(self) -> bool:
        """Whether nothing more comes by itself: it ended, or a person has it."""
        return self.conflict or (self.born and self.workflow.status.value not in MOVING)


def fold_past(follower: Follower, tenant_id: str, workflow_id: str) -> Folded:
    """All of a workflow's past, folded."""
    folded = Folded(tenant_id, workflow_id)
    folded.take(follower.past())
    return folded


def fold_log(log: Log, tenant_id: str, workflow_id: str) -> Folded:
    """The workflow as the log has it now; RefusedError if the log knows nothing of it."""
    follower = Follower(log, tenant_id, workflow_id)
    try:
        folded = fold_past(follower, tenant_id, workflow_id)
    finally:
        follower.close()
    if not folded.entries:
        raise RefusedError(unknown(tenant_id, workflow_id))
    return folded
