"""This machine: brokers without a record, disks, the artefact store. Pure."""

from collections.abc import Iterable

from remit.doctor.facts import Disk, Processes, Store
from remit.doctor.finding import Finding

GIB = 1024**3
LEAST_FREE = GIB
MOST_ASKED = 20 * GIB
SHARE = 0.05


def orphans(processes: Processes) -> tuple[Finding, ...]:
    """Embedded brokers that no record knows, and a record of one that is gone."""
    found = [
        Finding(
            "orphaned-broker",
            f"process {pid}",
            f"an embedded broker of {home} runs, and its record (broker.json) is gone or names another",
            f"kill {pid}",
            {"pid": pid},
        )
        for pid, home in processes.orphans
    ]
    if processes.stale is not None:
        found.append(_stale(processes, processes.stale))
    return tuple(found)


def full_disks(disks: Iterable[Disk]) -> tuple[Finding, ...]:
    """Disks with less than 5 % free; never less than 1 GiB is wanted, never more than 20."""
    return tuple(_full(each) for each in disks if each.free < wanted(each.total))


def wanted(total: int) -> int:
    """Bytes that must be free on a disk of `total` bytes."""
    return min(max(int(total * SHARE), LEAST_FREE), MOST_ASKED)


def unreadable_store(store: Store) -> tuple[Finding, ...]:
    """An artefact store that can't be read, or no longer gives what the log refers to."""
    if store.fault is None:
        return ()
    mend = "mount it or restore it from its backup, or name the right one with REMIT_ARTEFACTS; then remit doctor"
    return (Finding("artefact-store", store.url, store.fault, mend),)


def _stale(processes: Processes, pid: int) -> Finding:
    says = f"broker.json names process {pid}, which is gone: the broker was killed"
    return Finding("stale-broker", str(processes.home), says, "remit up", {"pid": pid})


def _full(each: Disk) -> Finding:
    says = f"the disk has {each.free / GIB:.1f} GiB free, required are {wanted(each.total) / GIB:.1f} GiB"
    mend = (
        f"make room (du -sh {each.folder}/* shows what lies there), "
        f"or move it to another disk with remit down and {each.setting}"
    )
    return Finding("disk", str(each.folder), says, mend, {"free": each.free, "total": each.total})
