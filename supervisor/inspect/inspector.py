"""The inspector: a thread pool beside the loop that answers open requests and writes one record for each."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from uuid import UUID

from remit.artefacts import ArtefactStore
from remit.errors import LogError
from remit.events.envelope import message, new_event
from remit.events.inputs import Inspection, InspectionKind
from remit.log.protocols import Writer
from remit.topics import Topic

from ..state import AwaitingReview
from ..step import inspection_id
from .questions import answer

log = logging.getLogger("remit.supervisor")


class Inspector:
    """Answers each request once per process; a takeover asks the open ones again, the fold takes the first answer."""

    def __init__(
        self, writer: Writer, store: ArtefactStore, clock: Callable[[], datetime], name: str, threads: int = 4
    ) -> None:
        """`writer` is its own, outside the supervisor's transactions."""
        self._writer, self._store, self._clock = writer, store, clock
        self._producer = f"inspector/{name}"
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="inspect")
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
            answers = tuple(answer(question, self._store) for question in phase.questions)
            event = new_event(
                Inspection,
                tenant_id=tenant_id,
                workflow_id=workflow_id,
                producer=self._producer,
                clock_now=self._clock(),
                event_id=inspection_id(phase.request_id, phase.tries),
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
