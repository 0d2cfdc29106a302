"""`remit supervisor run`: one supervisor process."""

import gc
import logging
import socket
from datetime import UTC, datetime

import click

from remit.artefacts import ArtefactStore
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.serving import readable_log, stop_on_signals
from remit.errors import SettingsError
from remit.grants import key_id
from remit.ids import ID_PATTERN, is_id
from remit.keys import own_key, supervisor_key
from remit.leaks import RULE
from remit.log.kafka.admin import require_topics
from remit.redaction import finds
from remit.roles import role

log = logging.getLogger("remit.supervisor")


@click.group()
def supervisor() -> None:
    """Run the supervisor."""


@supervisor.command()
@click.option("--name", help="Its stable name: a restart under it takes over at once. By default HOSTNAME-0.")
@pass_invocation
def run(invocation: Invocation, name: str | None) -> None:
    """Decide, dispatch and verify until Ctrl-C or SIGTERM. Exit 1 if the topics are not as agreed."""
    name = name or f"{socket.gethostname()}-0"
    if not is_id(name):
        raise SettingsError(f"--name must match {ID_PATTERN}")
    if finds(name):
        raise SettingsError(f"--name {RULE}")
    readable_log()
    settings = invocation.connected
    require_topics(settings)
    stop = stop_on_signals()
    key = own_key(supervisor_key(settings.home))
    service = role("supervisor.service").Supervisor(
        invocation.log, name, ArtefactStore(settings.artefact_url), lambda: datetime.now(UTC), key
    )
    gc.freeze()  # states are frozen and hold no cycles: the collector has little to find and much to walk through
    gc.set_threshold(100_000, 50, 100)
    log.info(
        "supervisor %s serves %s, grants are signed with key %s", name, settings.bootstrap, key_id(key.public_key())
    )
    try:
        service.run(stop)
    finally:
        service.close()
        log.info("supervisor %s stopped", name)
