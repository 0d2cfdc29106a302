"""The records that a worker writes: registration, liveness, lease and result. Only this role imports it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from remit.events.base import Cause
from remit.events.envelope import message, new_event
from remit.events.inputs import Lease, LeaseKind, Malformed, Result, ResultBody, ResultKind
from remit.events.service import Dispatch, Liveness, LivenessKind, Worker, WorkerKind
from remit.log.protocols import Message
from remit.topics import Topic

from .config import WorkerConfig


@dataclass(frozen=True)
class Author:
    """Who writes: the worker, and this process of it."""

    config: WorkerConfig
    incarnation: UUID
    clock: Callable[[], datetime]  # aware UTC
    public_key: str  # Base64: what its grants are bound to

    @property
    def worker_id(self) -> str:
        """The worker's id."""
        return self.config.worker_id

    def registration(self, kind: WorkerKind = WorkerKind.REGISTERED) -> Message:
        """That it is there, and what it can do; or that it is gone for good."""
        config = self.config
        event = self._new(
            Worker,
            kind=kind,
            pool=config.pool,
            capabilities=tuple(config.capabilities),
            tools=tuple(config.tools),
            permissions={name: tuple(each) for name, each in config.permissions.items()},
            output_schemas=tuple(config.output_schemas),
            risk_class=config.risk_class,
            price_entry=config.price_entry,
            slots=config.slots,
            public_key=self.public_key,
        )
        return message(event, Topic.WORKERS)

    def liveness(self, free_slots: int, kind: LivenessKind = LivenessKind.ALIVE) -> Message:
        """That it lives, with so many free slots."""
        return message(self._new(Liveness, kind=kind, pool=self.config.pool, free_slots=free_slots), Topic.LIVENESS)

    def lease(self, dispatch: Dispatch, kind: LeaseKind, **fields: Any) -> Message:  # noqa: ANN401 - of Lease
        """Claim, decline or renewal of what the dispatch offered."""
        return message(self._answer(Lease, dispatch, kind=kind, **fields), Topic.LEASES)

    def submitted(self, dispatch: Dispatch, body: ResultBody, submission: int = 1) -> Message:
        """The result of an attempt; submission 2 follows a correction."""
        return self._result(dispatch, ResultKind.SUBMITTED, submission, result=body)

    def malformed(self, dispatch: Dispatch, wrong: Malformed, submission: int = 1) -> Message:
        """An envelope that breaks its schema; its text redacted and at most 64 KiB."""
        return self._result(dispatch, ResultKind.MALFORMED, submission, malformed=wrong)

    def _result(self, dispatch: Dispatch, kind: ResultKind, submission: int, **parts: Any) -> Message:  # noqa: ANN401 - of Result
        offer = dispatch.offer
        event = self._answer(
            Result,
            dispatch,
            kind=kind,
            submission=submission,
            state_version=dispatch.state_version,
            contract_sha256=offer.contract_sha256 if offer else "",
            **parts,
        )
        return message(event, Topic.RESULTS)

    def _answer(self, cls: type[Any], dispatch: Dispatch, **fields: Any) -> Any:  # noqa: ANN401 - a Lease or a Result
        return self._new(
            cls,
            tenant_id=dispatch.tenant_id,
            workflow_id=dispatch.workflow_id,
            cause=Cause(event_id=dispatch.event_id),
            task_id=dispatch.task_id,
            attempt_id=dispatch.attempt_id,
            fencing_token=dispatch.fencing_token,
            **fields,
        )

    def _new(self, cls: type[Any], tenant_id: str = "", workflow_id: str = "", **fields: Any) -> Any:  # noqa: ANN401
        return new_event(
            cls,
            tenant_id=tenant_id,
            workflow_id=workflow_id,
            producer=f"worker/{self.worker_id}",
            clock_now=self.clock(),
            worker_id=self.worker_id,
            incarnation=self.incarnation,
            **fields,
        )
