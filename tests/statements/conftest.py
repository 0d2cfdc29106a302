"""The supervisor's bench, for results that were really judged."""

from tests.supervisor.conftest import lab

__all__ = ["lab"]
