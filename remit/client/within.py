"""A bound on how long the log may keep a caller waiting. `remit.client` imports it.

Clients of a cluster that went away block for longer than anyone asked for; so the work runs in a thread of its own.
"""

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns or raises; TimeoutError after `seconds`, when it is left behind, whatever becomes of it."""
    answers: queue.SimpleQueue[tuple[list[T], BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put(([work()], None))
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            answers.put(([], error))

    threading.Thread(target=run, daemon=True, name="remit-client").start()
    try:
        found, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return found[0]
