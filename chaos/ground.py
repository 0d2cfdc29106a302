"""What the actors stand on, and what fails below them: the broker of this run and the artefact store's folder."""

import contextlib
import os
import shutil
import signal
import threading
from collections import Counter
from pathlib import Path

import psutil

from remit import broker
from remit.errors import BrokerError

from .schedule import Act, Fault

RACES = 20
DEAD_S = 10.0


class Ground:
    """The broker and the store of one home; faults of theirs are done from here."""

    def __init__(self, home: Path, counts: Counter[str]) -> None:
        """Start the broker."""
        self._home, self._counts = home, counts
        self.bootstrap = broker.up(home).bootstrap
        self.store = home / "artefacts"
        self.store.mkdir(exist_ok=True)
        self._away = home / "artefacts.away"
        self._back_at: float | None = None
        self._stopped: tuple[int, float] | None = None
        self._starts_at: float | None = None
        self._starting: threading.Thread | None = None

    def take(self, fault: Fault, now: float) -> None:
        """Do what the schedule says; what fails already is left as it is."""
        if fault.target == "store":
            self._vanish(now + fault.lasts)
        elif (found := broker.running(self._home)) is None or self._stopped or self._busy():
            self._counts["missed"] += 1
        elif fault.act is Act.STOP:
            os.kill(found.pid, signal.SIGSTOP)
            self._stopped = (found.pid, now + fault.lasts)
            self._counts["stop broker"] += 1
        else:
            process = psutil.Process(found.pid)
            process.kill()
            process.wait(DEAD_S)
            self._starts_at = now + fault.lasts
            self._counts["kill broker"] += 1

    def watch(self, now: float) -> None:
        """Bring back what is due."""
        if self._stopped and now >= self._stopped[1]:
            os.kill(self._stopped[0], signal.SIGCONT)
            self._stopped = None
        if self._back_at is not None and now >= self._back_at:
            self._reappear()
        if self._starts_at is not None and now >= self._starts_at and not self._is_starting():
            self._starts_at = None
            self._starting = threading.Thread(target=self._up, name="broker")
            self._starting.start()

    def calm(self) -> None:
        """Bring everything back, and wait for it."""
        self.watch(float("inf"))
        while self._busy():
            if self._starting is not None:
                self._starting.join()
            self.watch(float("inf"))

    def close(self) -> None:
        """Stop the broker."""
        self.calm()
        broker.down(self._home)

    def _busy(self) -> bool:
        return self._starts_at is not None or self._is_starting()

    def _is_starting(self) -> bool:
        return self._starting is not None and self._starting.is_alive()

    def _up(self) -> None:
        try:
            broker.up(self._home)
        except BrokerError:
            self._counts["broker did not start at once"] += 1
            self._starts_at = 0.0

    def _vanish(self, until: float) -> None:
        if self._back_at is None:
            self.store.rename(self._away)
            self._back_at = until
            self._counts["vanish store"] += 1

    def _reappear(self) -> None:
        """Bring it back, and what was stored meanwhile to it: a volume that is mounted again hides nothing here."""
        self._back_at = None
        times = self._counts["vanish store"]
        meanwhile = [self._home / f"artefacts.meanwhile-{times}-{number}" for number in range(RACES)]
        for folder in meanwhile:
            if self.store.exists():  # made anew by whoever stored something
                self.store.rename(folder)
            with contextlib.suppress(OSError):  # made anew between the two
                self._away.rename(self.store)
                break
        for folder in meanwhile:
            with contextlib.suppress(FileNotFoundError, shutil.Error):  # a file half written when it was moved
                shutil.copytree(folder, self.store, copy_function=_whole, dirs_exist_ok=True)


def _whole(source: str, target: str) -> str:
    """Copy a file that is not there yet, whole or not at all: a store never shows a half-written object."""
    if not Path(target).exists():
        draft = Path(f"{target}.draft")
        shutil.copy2(source, draft)
        draft.replace(target)
    return target
