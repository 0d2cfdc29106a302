"""What the views must say after a run: the same as the log, and the same as a rebuild; and the artefacts behind it."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from remit.artefacts import ArtefactStore
from remit.errors import ArtefactError, RefusedError
from remit.reading import open_copy, view_files

from .history import History, Key
from .invariants.books import booked
from .worker import content

REBUILD_S = 300.0
CATCH_UP_S = 60.0
STATUSES = "SELECT tenant_id, workflow_id, status FROM workflows"
COSTS = "SELECT tenant_id, workflow_id, coalesce(sum(cost_gbp), 0) FROM costs GROUP BY ALL"


def catch_up(home: Path, history: History) -> list[str]:
    """Wait until the published copy holds every transition; what is missing if it doesn't come to it."""
    deadline = time.monotonic() + CATCH_UP_S
    while True:
        held = _held(home)
        if held == len(history.transitions):
            return []
        if time.monotonic() > deadline:
            return [f"{held} transitions are in the views, {len(history.transitions)} on the log"]
        time.sleep(0.5)  # between two looks at a file


def _held(home: Path) -> int:
    try:
        with open_copy(view_files(home).published) as copy:
            return int(copy.query("SELECT count(*) FROM transitions").rows[0][0])
    except RefusedError:
        return -1


def rebuilt(home: Path, env: Mapping[str, str]) -> list[str]:
    """`remit rebuild --check`: the differences that it names, or what else it says."""
    ran = subprocess.run(
        [sys.executable, "-m", "remit.cli", "rebuild", "--check", "--json"],
        env=dict(env),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=REBUILD_S,
    )
    try:
        verdict = json.loads(ran.stdout)
    except ValueError:
        return [f"rebuild --check ended with exit code {ran.returncode}: {ran.stderr.strip()[-300:]}"]
    return [f"{each['table']} {each['row']}: {each['how']}" for each in verdict["differences"]]


def agree(home: Path, history: History) -> list[str]:
    """Status and cost of each workflow in the views = those on the log, to the penny."""
    with open_copy(view_files(home).published) as copy:
        statuses = {
            (t, w): status for t, w, status in copy.query("SELECT tenant_id, workflow_id, status FROM workflows").rows
        }
        costs = {(t, w): cost for t, w, cost in copy.query(COSTS).rows}
    found = []
    for key, events in history.workflows.items():
        status, cost = events[-1].workflow_status.value, booked(events).cost
        if statuses.get(key) != status:
            found.append(f"{'/'.join(key)}: {statuses.get(key)} in the views, {status} on the log")
        if costs.get(key, Decimal(0)) != cost:
            found.append(f"{'/'.join(key)}: £{costs.get(key)} in the views, £{cost} on the log")
    strays = set(statuses) - set(history.workflows)
    return found + [f"{'/'.join(key)} is in the views only" for key in strays]


def stored(folder: Path, history: History) -> list[str]:
    """The bytes of every accepted report lie in the store, and are those of its workflow and task."""
    store = ArtefactStore(folder.as_uri())
    return [
        f"{'/'.join(key)} {event.task_id}: {fault}"
        for key, events in history.workflows.items()
        for event in events
        for output in (event.accepted.outputs if event.accepted else ())
        if output.artefact is not None and (fault := _fault(store, output.artefact.sha256, key, event.task_id))
    ]


def _fault(store: ArtefactStore, sha256: str, key: Key, task_id: str | None) -> str | None:
    try:
        data = store.get(sha256)
    except ArtefactError as error:
        return str(error)
    return None if data == content(key[1], task_id or "") else "another report than the one that was accepted"
