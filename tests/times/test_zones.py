"""The machine's own zone decides nothing.

Besides what stands here, each process of a parallel run has a zone of its own (tests/conftest.py), so that the whole
suite is run in zones that are not UTC.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ZONES

ROOT = Path(__file__).parents[2]
SENSITIVE = (
    "tests/contract/test_contract_deadlines.py",
    "tests/contract/test_contract_cli.py",
    "tests/codec/test_codec_strict.py",
)


def _in(zone: str, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, env=_env(zone), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _env(zone: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "REMIT", "COV"))}
    return {**kept, "TZ": zone}


def test_bytes_digests_and_metrics_are_the_same_in_every_zone() -> None:
    """TIME-1: events, contracts, transitions, state, views, metrics and shown times, made in three processes."""
    reports = {zone: json.loads(_in(zone, "tests.times.zone_report")) for zone in ZONES}
    first = reports[ZONES[0]]
    assert all(report == first for report in reports.values()), reports
    assert len(first["contracts"]) == 1  # three ways to write one deadline
    assert first["shown"] == "2026-07-19 12:00:00 UTC (13:00:00 BST)"


@pytest.mark.parametrize("zone", ZONES[:2])  # in the third, most machines run all of them
def test_what_speaks_of_times_passes_in_every_zone(zone: str) -> None:
    """TIME-1: the tests of deadlines, of the check command and of the codec, in a process on that zone's time."""
    ran = _in(zone, "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *SENSITIVE)
    assert " passed" in ran


def test_a_parallel_run_is_spread_over_the_zones() -> None:
    """TIME-1: so that each test meets a zone that is not UTC; a single process keeps the machine's."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        assert time.tzname[0] not in {"", "UTC"}
    assert len(set(ZONES)) == 3
