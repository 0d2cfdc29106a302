"""The inspector: a thread pool beside the loop that answers open requests and writes one record for each."""

import logging
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import datetime
from uuid import UUID

from remit.errors import LogError
from remit.events.envelope import message, new_event
from remit.events.inputs import Answer, Inspection, InspectionKind, Question
from remit.log.protocols import Writer
from remit.topics import Topic

from ..state import AwaitingReview
from ..step import inspection_id

log = logging.getLogger("remit.supervisor")
Look = Callable[[Question], Answer]
THREADS = 4


class Inspector:
    """Answers each request once per process; a takeover asks the open ones again, the fold takes the first answer."""

    def __init__(
        self, writer: Writer, look: Look, clock: Callable[[], datetime], name: str, pool: Executor | None = None
    ) -> None:
        """`writer` is its own, outside the supervisor's transactions; `pool` runs `look`, by default in threads."""
        self._writer, self._look, self._clock = writer, look, clock
        self._producer = f"inspector/{name}"
        self._pool = pool or ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="inspect")
        self._asked: set[UUID] = set()
        self._busy: set[UUID] = set()  # attempts whose questions lie or run here

    def ask(self, tenant_id: str, workflow_id: str, task_id: str, phase: AwaitingReview) -> None:
        """Answer this request soon, unless the same questions were asked already and still wait for their answer."""
        if phase.request_id in self._asked or (phase.attempt_id in self._busy and len(phase.asked) > 1):
            return
        self._asked.add(phase.request_id)
        self._busy.add(phase.attempt_id)
        self._pool.submit(self._answer, tenant_id, workflow_id, task_id, phase)

    def close(self) -> None:
        """Finish what runs, drop the rest."""
        self._pool.shutdown(cancel_futures=True)
        self._writer.close()

    def _answer(self, tenant_id: str, workflow_id: str, task_id: str, phase: AwaitingReview) -> None:
        try:
            answers = tuple(map(self._look, phase.questions))
            event = new_event(
                Inspection,
                tenant_id=tenant_id,
                workflow_id=workflow_id,
                producer=self._producer,
                clock_now=self._clock(),
                event_id=inspection_id(phase.request_id, phase.tries, answers),
                kind=InspectionKind.INSPECTED,
                request_id=phase.request_id,
                task_id=task_id,
                attempt_id=phase.attempt_id,
                answers=answers,
            )
            self._writer.append([message(event, Topic.INSPECTIONS)])
        except LogError as error:
            log.warning("an inspection could not be written and will be asked again: %s", error)
            self._asked.discard(phase.request_id)
        except Exception:
            # A fault here must not end the pool silently: the request is asked again when its time is over.
            log.exception("an inspection failed")
            self._asked.discard(phase.request_id)
        finally:
            self._busy.discard(phase.attempt_id)
