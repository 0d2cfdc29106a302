"""What follows from an envelope's status: one table. Pure; anyone may import it."""

from remit.events.inputs import BlockedReason, ErrorClass, ResultStatus

_OF_STATUS = {
    ResultStatus.COMPLETED: (ErrorClass.COMPLETED,),
    ResultStatus.NEEDS_REVIEW: (ErrorClass.NEEDS_REVIEW,),
    ResultStatus.FAILED: (ErrorClass.RETRYABLE_FAILED, ErrorClass.PERMANENT_FAILED),
}
_OF_REASON = {
    BlockedReason.CAPABILITY: ErrorClass.PERMANENT_FAILED,
    BlockedReason.PERMISSION: ErrorClass.PERMANENT_FAILED,
    BlockedReason.INPUT: ErrorClass.NEEDS_REVIEW,
    BlockedReason.AMBIGUITY: ErrorClass.NEEDS_REVIEW,
}


def allowed(status: ResultStatus, reason: BlockedReason | None) -> tuple[ErrorClass, ...]:
    """The error classes that a status allows, its default first; none where a blocked reason is missing."""
    if status is ResultStatus.BLOCKED:
        return (_OF_REASON[reason],) if reason in _OF_REASON else ()
    return _OF_STATUS.get(status, ())


def classify(
    status: ResultStatus, reason: BlockedReason | None = None, claimed: ErrorClass | None = None
) -> ErrorClass | None:
    """The error class of an envelope; None where status, blocked reason and claimed class contradict each other."""
    classes = allowed(status, reason)
    if claimed is None:
        return classes[0] if classes else None
    return claimed if claimed in classes else None
