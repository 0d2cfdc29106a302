"""Amends the contract of a workflow: what the file says otherwise is laid over the version in force.

The command line imports it. The supervisor judges: what only tightens holds at once, the rest waits for the owner.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from remit import ids
from remit.artefacts import ArtefactStore
from remit.client.effects import TIMEOUT_S, carry_out
from remit.client.identity import who
from remit.client.policies import PRODUCER, InForce
from remit.client.references import resolved
from remit.contract.clean import cleaned
from remit.errors import ContractInvalidError, RefusedError
from remit.events.envelope import new_event
from remit.events.inputs import Contract, ContractKind
from remit.events.transitions import Transition, TransitionKind
from remit.faults import Fault, lines
from remit.log.protocols import Log
from remit.redaction import redact
from remit.topics import Topic

_LARGEST = 2**53 - 1
ANSWERS = frozenset({TransitionKind.CONTRACT_AMENDED, TransitionKind.AMENDMENT_PROPOSED, TransitionKind.DUPLICATE})
BEFORE = frozenset({TransitionKind.ATTEMPT_FAILED, TransitionKind.OFFER_EXPIRED})
"""What ends attempts that can't go on, in the same step and ahead of the version that they can't go on under."""


class Asked(NamedTuple):
    """The workflow, the version of its contract that an amendment was made on, and why."""

    tenant_id: str
    workflow_id: str
    base_version: int
    reason: str


def prepare(document: Mapping[str, Any], asked: Asked, rules: InForce, store: ArtefactStore, folder: Path) -> Contract:
    """The event that amends a contract: references resolved, prose without secrets; `folder` is where files count from.

    Raises ContractInvalidError for references that can't be resolved and for numbers that no contract can hold; files
    are stored on the way.
    """
    if faults := tuple(_large_numbers(document, ())):
        raise ContractInvalidError(lines(faults, document))
    whole = resolved(cleaned(document), rules.policy, store, folder)
    return new_event(
        Contract,
        tenant_id=asked.tenant_id,
        workflow_id=asked.workflow_id,
        producer=PRODUCER,
        clock_now=datetime.now(UTC),
        kind=ContractKind.AMENDED,
        document=json.dumps(whole, ensure_ascii=False),
        content_digest=ids.digest(whole),
        submitter=who(),
        base_version=asked.base_version,
        reason=redact(asked.reason),
    )


def _large_numbers(value: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:  # noqa: ANN401 - any JSON value
    """What canonical JSON refuses; the supervisor's gate, which knows each field's bound, never saw it then."""
    if isinstance(value, int) and abs(value) > _LARGEST:
        yield Fault(path, "is a number beyond 2**53")
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in parts:
        yield from _large_numbers(inner, (*path, key))


def send(log: Log, event: Contract, *, timeout: float = TIMEOUT_S) -> Transition:
    """Write an amendment; the transition that adopted it, put it to its owner, or knew it already.

    Raises ContractInvalidError with every fault, RefusedError (made on another version, a security requirement that it
    drops, unknown, ended) or UnconfirmedError.
    """
    ask = f"Ask with: remit show {event.workflow_id} --tenant {event.tenant_id}; to amend again is safe"
    found = carry_out(log, event, Topic.CONTRACTS, timeout=timeout, ask=ask, but=BEFORE)
    if found.kind in ANSWERS:
        return found
    faults = found.rejection.faults if found.rejection else ()
    if found.kind is TransitionKind.CONTRACT_REJECTED and found.reason == "invalid":
        raise ContractInvalidError(faults)
    differs = found.note.differs if found.note else ()
    why = "; ".join([*faults, *differs]) or found.reason or found.kind.value
    raise RefusedError(f"{event.workflow_id} was not amended ({found.reason or found.kind.value}): {why}")
