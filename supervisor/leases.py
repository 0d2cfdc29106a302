"""Soft state of the leases: what renewals told since this supervisor took the shard. Never folded, no transition."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from remit.contract.references import is_artefact
from remit.events.base import Usage
from remit.events.inputs import Lease


@dataclass(frozen=True, slots=True)
class Held:
    """One lease: last sign of life, last progress."""

    seen_at: datetime
    moved_at: datetime
    progress: int | None = None


class LeaseBook:
    """The leases of one shard, by attempt."""

    def __init__(self) -> None:
        """Start empty: at takeover every running lease starts afresh, in full."""
        self._held: dict[UUID, Held] = {}
        self._usage: dict[UUID, Usage] = {}
        self._saved: dict[UUID, str] = {}
        self.ignored = 0  # renewals that named an attempt or token that is gone

    def start(self, attempt_id: UUID, at: datetime, usage: Usage | None = None) -> None:
        """A claim, or a takeover: the lease runs from here."""
        self._held[attempt_id] = Held(seen_at=at, moved_at=at)
        self._usage.pop(attempt_id, None)
        self._tell(attempt_id, usage)

    def renew(self, event: Lease, at: datetime) -> None:
        """A renewal of a lease that is held; one that moves its progress counts as progress."""
        held = self._held.get(event.attempt_id)
        if held is None:
            self.ignored += 1
            return
        moved = event.progress is not None and event.progress != held.progress
        self._held[event.attempt_id] = replace(
            held,
            seen_at=max(held.seen_at, at),
            moved_at=max(held.moved_at, at) if moved else held.moved_at,
            progress=event.progress if moved else held.progress,
        )
        self._tell(event.attempt_id, event.usage)
        if event.checkpoint is not None and is_artefact(event.checkpoint):
            self._saved[event.attempt_id] = event.checkpoint

    def _tell(self, attempt_id: UUID, usage: Usage | None) -> None:
        if usage is not None:
            self._usage[attempt_id] = usage

    def restart(self, attempt_id: UUID, at: datetime) -> None:
        """Let a held lease run in full from here; what it told is kept."""
        if (held := self._held.get(attempt_id)) is not None:
            self._held[attempt_id] = replace(held, seen_at=max(held.seen_at, at), moved_at=max(held.moved_at, at))

    def get(self, attempt_id: UUID) -> Held | None:
        """The lease, if it is held."""
        return self._held.get(attempt_id)

    def forget(self, ended: set[UUID]) -> None:
        """Forget the leases of attempts that run no more."""
        for attempt_id in ended:
            self._held.pop(attempt_id, None)
            self._usage.pop(attempt_id, None)

    def close(self, attempts: set[UUID]) -> None:
        """Forget what attempts saved that have come to their end, their review included."""
        for attempt_id in attempts:
            self._saved.pop(attempt_id, None)

    def usage(self) -> Mapping[UUID, Usage]:
        """What renewals told of usage, by attempt: a view of it as it stands."""
        return MappingProxyType(self._usage)

    def saved(self) -> Mapping[UUID, str]:
        """References of what handlers saved last, by attempt: a view of it as it stands."""
        return MappingProxyType(self._saved)
