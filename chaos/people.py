"""The people of a run: a thread that works the inbox, and lets most of what waits be tried once more."""

import random
import threading
from contextlib import closing
from datetime import UTC, datetime

from remit.client.history import history
from remit.errors import LogError
from remit.events.envelope import message, new_event
from remit.events.inputs import Decision, DecisionKind
from remit.log.protocols import Log
from remit.topics import Topic
from supervisor.fold import fold
from supervisor.inbox import Item, inbox
from supervisor.state import State, Workflow, initial

from .watcher import Key, Watcher

APPEND_S = 6.0
LOOK_S = 2.0
MOST_AT_ONCE = 5  # each look at a workflow reads its whole shard


class People:
    """Decides what waits until told to stop; an item is decided once, unless the log did not take the decision."""

    def __init__(self, log: Log, watcher: Watcher, seed: int) -> None:
        """Nothing is decided yet."""
        self._log, self._watcher = log, watcher
        self._dice = random.Random(f"{seed}/people")  # noqa: S311 - variety, not a secret
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="people", daemon=True)
        self._done: set[str] = set()
        self.decided = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Decide no more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(LOOK_S):
            for key in self._watcher.waiting()[:MOST_AT_ONCE]:
                try:
                    self._decide(key)
                except LogError:
                    break  # looked at again

    def _decide(self, key: Key) -> None:
        state: State = initial(*key)
        for entry in history(self._log, *key):
            state = fold(state, entry.transition).state
        for item in inbox(state) if isinstance(state, Workflow) else ():
            if f"{key[0]}/{item.item_id}" not in self._done:
                self._send(key, item)

    def _send(self, key: Key, item: Item) -> None:
        decision = new_event(
            Decision,
            tenant_id=key[0],
            workflow_id=key[1],
            producer="people",
            clock_now=datetime.now(UTC),
            kind=DecisionKind.RESOLVE,
            person="unverified:chaos",
            item_id=item.item_id,
            content_sha256=item.content_sha256,
            resolution=self._dice.choices(("retry", "stop"), (9, 1))[0],
            reason="looked at it",
        )
        with closing(self._log.writer()) as writer:
            writer.append([message(decision, Topic.DECISIONS)], APPEND_S)
        self._done.add(f"{key[0]}/{item.item_id}")
        self.decided += 1
