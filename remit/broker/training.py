"""Makes the cache of `warm`: a broker of its own, started for nothing else. Run as `python -m remit.broker.training`.

`remit up` starts it in the background after a start without a cache. It runs with the lowest priority, in a folder
beside the jars, apart from any log; whatever goes wrong, the next starts are as slow as the first and no worse.
"""

import contextlib
import os
import shutil
from pathlib import Path

from filelock import FileLock, Timeout

from remit.broker import config, process
from remit.broker.jars import ensure_jars
from remit.broker.java import find_java
from remit.broker.warm import training_flags, warm_file, warm_folder
from remit.errors import BrokerError

WRITING_S = 300.0
"""Writing takes seconds on an idle machine; at the lowest priority of a busy one it may take minutes."""


def train() -> bool:
    """Make the cache that this machine's Java and jars need; False if there is one, or another process makes it."""
    jars = ensure_jars(lambda _line: None)
    file = warm_file(find_java(), config.class_path(jars))
    if file is None or file.exists():
        return False
    try:
        with FileLock(warm_folder() / "training.lock", timeout=0):
            return _made(file, warm_folder() / "home")
    except Timeout:
        return False


def _made(file: Path, home: Path) -> bool:
    _clear(home)
    draft = home / "cache.aot"
    try:
        process.up(home, flags=training_flags(draft))
        process.down(home, within=WRITING_S)
        draft.replace(file)
    finally:
        _clear(home)
    return True


def _clear(home: Path) -> None:
    """Stop what a killed predecessor left running, and drop its files."""
    with contextlib.suppress(BrokerError):
        process.down(home)
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    os.nice(19)
    train()
