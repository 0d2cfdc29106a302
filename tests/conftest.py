"""What every room's tests share: one real broker per session, and names that don't collide.

The broker is the embedded one. It is started by the first test that asks for it, shared by all processes of a
session, and a machine that can't run it fails the tests: a lane that skips itself proves nothing.
"""

import logging
import os
import time
import uuid
from pathlib import Path

import pytest

from remit import broker

FOLDER = "embedded-broker"
ZONES = ("Asia/Karachi", "America/St_Johns", "UTC")
"""Zones in which nothing may come out otherwise: one whose offset is not of whole hours among them."""


def pytest_configure(config: pytest.Config) -> None:
    """Give each process of a parallel run, and what it starts, a zone of its own: nothing may depend on it."""
    worker: dict[str, str] | None = getattr(config, "workerinput", None)
    if worker is not None:
        # Not in the last one: a run in one process has it on most machines, and shows nothing there.
        os.environ["TZ"] = ZONES[int(worker["workerid"].removeprefix("gw")) % (len(ZONES) - 1)]
        time.tzset()


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Bootstrap servers of a real Apache Kafka; it runs until the session ends."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(request.config, "workerinput") else base
    return broker.up(shared / FOLDER, progress=logging.getLogger("tests.broker").info).bootstrap


@pytest.fixture
def prefix() -> str:
    """Topic prefix of this test alone."""
    return f"t{uuid.uuid4().hex[:12]}."


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the broker by its recorded pid, in the one process that outlives the others."""
    if hasattr(session.config, "workerinput"):
        return
    factory = getattr(session.config, "_tmp_path_factory", None)
    if factory is not None and factory._basetemp is not None:
        broker.down(Path(factory._basetemp) / FOLDER)
