"""For whoever writes a worker in Python: `@remit.worker` on a function from an Attempt to an outcome.

`remit worker run --module path:func` runs it: each attempt in its own process, under the same runner as any command.
"""

from remit.sdk.attempt import Attempt, Command, Correction
from remit.sdk.outcomes import Blocked, Completed, Failed, NeedsReview, Outcome
from remit.sdk.registration import Registration, registration_of, worker

__all__ = [
    "Attempt",
    "Blocked",
    "Command",
    "Completed",
    "Correction",
    "Failed",
    "NeedsReview",
    "Outcome",
    "Registration",
    "registration_of",
    "worker",
]
