"""Makes the record of an attempt's outcome, and sees that it fits into the log. Only the service imports it."""

import dataclasses

from msgspec.structs import replace

from remit.events.inputs import ErrorClass, Malformed, ResultStatus
from remit.events.service import Dispatch
from remit.log.protocols import Message

from .attempt import Malformation, Outcome
from .writing import Author

MAX_RESULT_BYTES = 768 * 1024  # a supervisor's record embeds it and must fit into 2 MiB itself


def result_message(author: Author, dispatch: Dispatch, outcome: Outcome, submission: int = 1) -> Message:
    """The record; one that is too large becomes a recorded failure that names size, limit and a way out."""
    made = _message(author, dispatch, outcome, submission)
    size = len(made.value)
    if size <= MAX_RESULT_BYTES:
        return made
    if isinstance(outcome, Malformation):
        fault = f"size: the record has {size} bytes, at most {MAX_RESULT_BYTES}"
        return _message(author, dispatch, dataclasses.replace(outcome, text="", faults=(fault,)), submission)
    words = (
        f"the result has {size} bytes, at most {MAX_RESULT_BYTES}: "
        "put long outputs and evidence into files, so that they become artefacts"
    )
    small = replace(
        outcome,
        status=ResultStatus.FAILED,
        error_class=ErrorClass.RETRYABLE_FAILED,
        message=words,
        output="{}",
        artefact_ref=None,
        evidence=(),
        blocked_reason=None,
    )
    return _message(author, dispatch, small, submission)


def _message(author: Author, dispatch: Dispatch, outcome: Outcome, submission: int) -> Message:
    if isinstance(outcome, Malformation):
        wrong = Malformed(text=outcome.text, faults=outcome.faults, usage=outcome.usage)
        return author.malformed(dispatch, wrong, submission)
    return author.submitted(dispatch, outcome, submission)
