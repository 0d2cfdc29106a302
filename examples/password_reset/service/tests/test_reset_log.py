"""Tokens and passwords reach no log, at any level of any logger."""

import contextlib
import io
import logging
from collections.abc import Callable, Iterator

from django.test import override_settings

from tests.support import NEW_PASSWORD, ResetCase


class Memory(logging.Handler):
    """Keep every line, as a file would."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record) + repr(record.args))


@contextlib.contextmanager
def everything_logged() -> Iterator[Callable[[], str]]:
    """Raise every logger to DEBUG and gather what they and the two streams say."""
    memory, stream, root = Memory(), io.StringIO(), logging.getLogger()
    loggers = [root, *(logging.getLogger(name) for name in logging.root.manager.loggerDict)]
    before = [(logger, logger.level) for logger in loggers]
    root.addHandler(memory)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield lambda: "\n".join([*memory.lines, stream.getvalue()])
    finally:
        root.removeHandler(memory)
        for logger, level in before:
            logger.setLevel(level)


@override_settings(DEBUG=True)  # so that every SQL statement is logged as well
class Logs(ResetCase):
    def test_no_token_logged(self) -> None:
        with everything_logged() as text:
            token = self.new_token()
            self.confirm(token, "short")
            self.confirm(token)
            self.confirm(token)
        self.assertIn("accounts", text())
        self.assertNotIn(token, text(), "token_logged")

    def test_no_password_logged(self) -> None:
        with everything_logged() as text:
            self.confirm(self.new_token())
        self.assertNotIn(NEW_PASSWORD, text(), "password_logged")

    def test_requests_and_changes_are_logged(self) -> None:
        with self.assertLogs("accounts", "INFO") as lines:
            self.confirm(self.new_token())
        self.assertGreaterEqual(len(lines.output), 2)
