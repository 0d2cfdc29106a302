"""The line between the runner and a handler that uses the SDK: commands to observe, tools, checkpoints, progress.

JSON, never pickles. The runner runs what the handler asks for, in the handler's own workspace and environment, and
records what it saw; such evidence speaks to no check. Only this role imports it.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from typing import Any

from remit.errors import RefusedError

from .gateway import Asked, Gateway, sayable
from .job import Bench, Job
from .meter import Meter
from .process import MARKER, Ended, Stop, run
from .views import confined, of_handler

VARIABLE = "REMIT_CHANNEL"
_MAX_BYTES = 1 << 20


@dataclass
class Channel:
    """One handler's line; serve it while the handler runs."""

    job: Job
    bench: Bench
    asked: list[Asked] = field(default_factory=list)
    save: Callable[[], str | None] = lambda: None  # keeps the checkpoint there is now; what is wrong with it, if any
    variables: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def served(self, environment: Mapping[str, str], meter: Meter, gateway: Gateway) -> Iterator[tuple[int, ...]]:
        """Answer until the handler has ended; yields the descriptors that it inherits."""
        ours, theirs = Pipe()
        self.variables[VARIABLE] = str(theirs.fileno())
        thread = threading.Thread(
            target=self._serve, args=(ours, environment, meter, gateway), name="channel", daemon=True
        )
        thread.start()
        try:
            yield (theirs.fileno(),)
        finally:
            theirs.close()
            gateway.stop.set("ended")  # what it still runs for a handler that is gone
            thread.join()
            ours.close()

    def _serve(self, line: Connection, environment: Mapping[str, str], meter: Meter, gateway: Gateway) -> None:
        while True:
            try:
                answer = self._answer(json.loads(line.recv_bytes(_MAX_BYTES)), environment, meter, gateway)
                line.send_bytes(json.dumps(answer).encode())
            except (EOFError, OSError):
                return
            except (ValueError, TypeError, KeyError, RecursionError):
                return  # not our SDK: it gets no answer

    def _answer(
        self, request: Mapping[str, Any], environment: Mapping[str, str], meter: Meter, gateway: Gateway
    ) -> dict[str, Any]:
        if request["op"] == "progress":
            meter.advance(note=sayable(request.get("note") or "") or None)
            return {}
        if request["op"] == "checkpoint":
            meter.advance()
            return {"error": fault} if (fault := self.save()) else {}
        argv = [sayable(word) for word in request["argv"]]
        if not argv:
            return {"error": "it names neither a command nor a tool"}
        try:
            if request["op"] == "tool":
                ended = gateway.call(argv[0], argv[1:])
            else:
                ended = gateway.observed(argv, lambda: self._run(argv, environment, meter, gateway.stop))
        except RefusedError as error:
            return {"error": str(error)}
        return {"exit_status": ended.exit_status, "output": ended.output[-_MAX_BYTES // 2 :].decode(errors="replace")}

    def _run(self, argv: list[str], environment: Mapping[str, str], meter: Meter, stop: Stop) -> Ended:
        # Without the attempt's marker: the end of this command must not end the handler that asked for it.
        seen = {name: value for name, value in environment.items() if name not in {MARKER, VARIABLE}}
        try:
            return run(
                confined(argv, of_handler(self.job, self.bench), self.bench),
                folder=self.job.ground.workspace,
                environment=seen,
                until=self.job.until,
                stop=stop,
                printed=meter.advance,
            )
        except (OSError, ValueError) as error:
            return Ended(127, f"{argv[:1]} can't be started: {type(error).__name__}\n".encode())
