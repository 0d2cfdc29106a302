"""The first steps, exactly as `remit init` prints them, on the real broker."""

import os
import signal
import subprocess

import pytest

from tests.crash.rig import REMIT, Rig

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(180)]


@pytest.fixture
def rig(rig: Rig) -> Rig:
    """With `remit` on the path."""
    rig.env["PATH"] = f"{REMIT.parent}{os.pathsep}{rig.env['PATH']}"
    return rig


def test_what_init_prints_runs(rig: Rig) -> None:
    """The service starts, the workflow is accepted, and its logs and budget can be looked at; Ctrl-C ends it with 0."""
    printed = [line.strip() for line in rig.run("init", "first").splitlines() if line.startswith("  ")]
    cd, service, _, *person = printed
    assert (cd, service.split()[:2]) == ("cd first", ["remit", "dev"])
    with (rig.home / "service.log").open("wb") as log:
        dev = subprocess.Popen(
            ["/bin/sh", "-c", f"{cd}; exec {service}"],
            env=rig.env,
            cwd=rig.home,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        rig.until(lambda: True if "serving shards" in _text(rig) else None, "a supervisor that serves")
        ran = subprocess.run(
            ["/bin/sh", "-e", "-c", "\n".join([cd, *person])],
            env=rig.env,
            cwd=rig.home,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr + _text(rig)
        assert "development_acceptance: approved" in ran.stdout
        assert "first-1: accepted" in ran.stdout
        assert "working on greet" in ran.stdout
        assert "reconciles: sum of 2 bookings" in ran.stdout
    finally:
        os.kill(dev.pid, signal.SIGINT)
        assert dev.wait(60) == 0, _text(rig)


def _text(rig: Rig) -> str:
    return (rig.home / "service.log").read_text("utf-8")
