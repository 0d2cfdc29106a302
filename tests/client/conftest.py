"""A supervisor that serves in a thread, over the log in memory, so that a client can wait for its word."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.supervisor.world import World


@contextmanager
def serving(world: World) -> Iterator[None]:
    """The world's supervisor at work until the block ends; it must end in time."""
    stop = threading.Event()
    thread = threading.Thread(target=world.supervisor.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A log with a policy, and a supervisor that does not serve yet."""
    return World(tmp_path)


@pytest.fixture
def served(world: World) -> Iterator[World]:
    """The same, its supervisor at work."""
    with serving(world):
        yield world
