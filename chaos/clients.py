"""The clients of a run: a thread that submits workflows as fast as they end, resends, cancels and amends some.

What the log did not acknowledge is sent again, the same event, until it is: a client that wants an answer does that.
"""

import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from remit import ids
from remit.artefacts import ArtefactStore
from remit.client.policies import InForce
from remit.client.submission import prepare
from remit.errors import LogError
from remit.events.base import Event
from remit.events.envelope import message, new_event
from remit.events.inputs import Contract, ContractKind, Decision, DecisionKind
from remit.log.protocols import Log, Writer
from remit.topics import Topic

from .watcher import Watcher
from .workload import tighter, whim, workflow

APPEND_S = 6.0
Key = tuple[str, str]


class Clients:
    """Submits until told to stop; `submitted` then holds the keys of all that the log acknowledged."""

    def __init__(
        self, log: Log, rules: InForce, watcher: Watcher, *, seed: int, rate: float, open_at_once: int
    ) -> None:
        """At most `rate` workflows a second, and `open_at_once` that have not ended."""
        self._log, self._rules, self._watcher, self._seed = log, rules, watcher, seed
        self._rate, self._most = rate, open_at_once
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clients", daemon=True)
        self._writer: Writer | None = None
        self.submitted: list[Key] = []
        self.cancelled: set[Key] = set()
        self.resent = 0
        self.amended = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, within: float) -> bool:
        """Submit no more, and wait until what was begun is acknowledged; whether it was."""
        self._stop.set()
        self._thread.join(within)
        return not self._thread.is_alive()

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            if len(self.submitted) - self._watcher.ended() < self._most:
                self._submit(number)
                number += 1
            self._stop.wait(1 / self._rate)
        if self._writer is not None:
            self._writer.close()

    def _submit(self, number: int) -> None:
        document = workflow(self._seed, number)
        event = prepare(document, document["workflow_id"], self._rules, ArtefactStore("memory://chaos"), Path())
        does = whim(self._seed, number)
        for _ in range(2 if does == "resend" else 1):
            self._send(event, Topic.CONTRACTS)
        key = (event.tenant_id, event.workflow_id)
        self.submitted.append(key)
        self.resent += does == "resend"
        if does == "cancel":
            self._send(_cancel(key), Topic.DECISIONS)
            self.cancelled.add(key)
        if does == "amend":
            self._send(_amendment(event, tighter(document)), Topic.CONTRACTS)
            self.amended += 1

    def _send(self, event: Event, topic: Topic) -> None:
        sent = message(event, topic)
        while True:
            try:
                self._writer = self._writer or self._log.writer()
                self._writer.append([sent], APPEND_S)
            except LogError:
                self._give_up()
            else:
                return

    def _give_up(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        self._stop.wait(0.5)


def _amendment(event: Contract, changes: dict[str, Any]) -> Contract:
    return new_event(
        Contract,
        tenant_id=event.tenant_id,
        workflow_id=event.workflow_id,
        producer="client",
        clock_now=datetime.now(UTC),
        kind=ContractKind.AMENDED,
        document=json.dumps(changes),
        content_digest=ids.digest(changes),
        submitter=event.submitter,
        base_version=1,
        reason="less will do",
    )


def _cancel(key: Key) -> Decision:
    return new_event(
        Decision,
        tenant_id=key[0],
        workflow_id=key[1],
        producer="client",
        clock_now=datetime.now(UTC),
        kind=DecisionKind.CANCEL,
        person="unverified:chaos",
        reason="no longer wanted",
    )
