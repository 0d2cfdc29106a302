"""Open workflows that stand still. Pure."""

from collections.abc import Iterable

from remit.doctor.facts import StandsStill
from remit.doctor.finding import Finding


def standing_still(found: Iterable[StandsStill]) -> tuple[Finding, ...]:
    """Each workflow, or task, that has no next event, or one whose time is long past."""
    return tuple(_finding(each) for each in found)


def _finding(each: StandsStill) -> Finding:
    named = f"{each.tenant_id}/{each.workflow_id}" + (f" task {each.task_id}" if each.task_id else "")
    mend = (
        "remit supervisor run, if none runs; then "
        f"remit show {each.workflow_id} --tenant {each.tenant_id}, and remit cancel if it should not go on"
    )
    return Finding("stalled-workflow", named, each.why, mend, {"task_id": each.task_id})
