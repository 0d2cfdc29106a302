"""What one run of the command line knows: its flags, its settings, the cluster it speaks to.

Every command may take it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from remit.log.protocols import Log
    from remit.settings import Settings


@dataclass
class Invocation:
    """The global flags of this run; settings and cluster are looked up when first asked for."""

    bootstrap: str | None = None

    @cached_property
    def settings(self) -> "Settings":
        """Environment and global flags; `bootstrap` is None while no cluster is named."""
        from remit.settings import load  # noqa: PLC0415 - keeps start-up quick

        return load(bootstrap=self.bootstrap)

    @cached_property
    def connected(self) -> "Settings":
        """Settings with a cluster: the one that is named, else the embedded broker, started if need be."""
        if self.settings.bootstrap:
            return self.settings
        from remit.cli.embedded import started  # noqa: PLC0415 - keeps start-up quick

        return started(self.settings)

    @cached_property
    def log(self) -> "Log":
        """The log of that cluster."""
        from remit.log.kafka.log import KafkaLog  # noqa: PLC0415 - keeps start-up quick

        return KafkaLog.from_settings(self.connected)

    def create_topics(self, topics: Sequence[str]) -> None:
        """Create those of `topics` (names without prefix) that are missing."""
        from remit.cli.embedded import create_topics  # noqa: PLC0415 - keeps start-up quick

        create_topics(self.connected, topics)


pass_invocation = click.make_pass_decorator(Invocation)
"""Hands the Invocation to a command as its first argument."""
