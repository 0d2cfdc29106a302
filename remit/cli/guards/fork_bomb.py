"""A worker proposes twenty tasks like its own, each of which would do the same, and leaves processes behind."""

import psutil

from .arena import Arena
from .guard import Fact, Guard
from .handlers import NEVER_S
from .workflows import workflow

MOST = 4
LEFT_BEHIND = f"import time; time.sleep({NEVER_S})"


def run(arena: Arena) -> list[Fact]:
    arena.worker("breeder", "bomb", "--slots", "4")
    plan = {"types": ["part"], "max_subtasks": MOST - 1}
    limits = {"deadline_seconds": 300, "max_depth": 1, "max_tasks": MOST}
    arena.submit(workflow("fork-bomb", {"root": {"spawn": plan}}, limits=limits))
    arena.until(lambda folded: folded.ended, "acceptance")
    accepted = [each.accepted for each in arena.transitions("result_accepted") if each.accepted]
    refused = [one for each in accepted for one in each.refused_subtasks]
    reasons = {each.reason for each in refused}
    return [
        Fact(
            f"of {len(refused) + MOST - 1} proposals {MOST - 1} became tasks", len(arena.folded.workflow.tasks) == MOST
        ),
        Fact(
            f"each other one was refused with its reason: {', '.join(sorted(reasons))}",
            {"depth_exceeded", "task_limit"} <= reasons,
        ),
        Fact("a kind of task that the plan does not name was refused", "type_not_granted" in reasons),
        Fact("no process that a handler left behind runs any more", not _left()),
    ]


def _left() -> list[psutil.Process]:
    return [each for each in psutil.process_iter(["cmdline"]) if LEFT_BEHIND in (each.info["cmdline"] or ())]


GUARD = Guard(
    name="fork-bomb",
    tries="every worker proposes twenty-one further tasks, and starts processes that are to outlive it",
    stopped_by="the spawn plan and the limits of depth and count; the runner, which ends all that a handler started",
    run=run,
)
