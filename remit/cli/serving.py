"""What every long-running command shares: a log that people can read, and a clean end on Ctrl-C or SIGTERM.

Only `remit.cli` imports it.
"""

import logging
import signal
import threading
from types import FrameType

FORMAT = "%(asctime)s %(levelname)-7s %(message)s"


def readable_log(level: int = logging.INFO) -> None:
    """Send Remit's own log to stderr; the Kafka library's chatter about passing states stays out."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(FORMAT, "%H:%M:%S"))
    logger = logging.getLogger("remit")
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logging.getLogger("remit.kafka").propagate = False


def stop_on_signals() -> threading.Event:
    """An event that Ctrl-C and SIGTERM set; only the main thread may ask for it."""
    stop = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    return stop
