"""Processes that a benchmark starts: output to a file each, stopped by their pid, the last one first."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parent.parent
STOP_S = 20.0
TAIL = 2000


class Processes:
    """A context manager that stops whatever was started in it."""

    def __init__(self, folder: Path) -> None:
        """`folder` takes their output."""
        self._folder = folder
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> Self:
        """Nothing runs yet."""
        return self

    def start(self, module: str, *words: str, env: Mapping[str, str] | None = None) -> int:
        """Run a module of this checkout in a process of its own; its pid."""
        with self._file(module).open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *words],
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._running.append((module, process))
        return process.pid

    def check(self) -> None:
        """Raise RuntimeError, with the end of its output, if one ended by itself."""
        for module, process in self._running:
            if process.poll() is not None:
                tail = self._file(module).read_text("utf-8", errors="replace")[-TAIL:]
                raise RuntimeError(f"{module} ended with exit code {process.returncode}:\n{tail}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop all: asked first, killed when they don't end in time."""
        for _, process in reversed(self._running):
            process.terminate()
        for _, process in reversed(self._running):
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _file(self, module: str) -> Path:
        return self._folder / f"{module}.log"
