"""Everything that reads what a stranger may have written, each as a target. The watcher and its children import it."""

from ..target import Target
from . import (
    artefacts,
    avro,
    command_line,
    grants,
    offers,
    policies,
    projection,
    reports,
    schemas,
    secrets,
    settings,
    shard,
    words,
    worker,
    workflows,
)

_ROOMS = (
    *(avro, shard, projection, workflows, policies, worker, reports, offers, grants),
    *(schemas, secrets, words, artefacts, settings, command_line),
)
TARGETS: tuple[Target, ...] = tuple(target for room in _ROOMS for target in room.TARGETS)
"""In the order of the table; names are unique."""
