"""What a handler returns. Pure data; worker authors import it through `remit.sdk`."""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Completed:
    """The work is done: one value for each declared output; what is left out, the runner infers where it can."""

    output: dict[str, Any] = field(default_factory=dict)
    message: str | None = None

    def envelope(self) -> dict[str, Any]:
        """The envelope that says so."""
        return {"status": "completed", "output": self.output, "message": self.message}


@dataclass(frozen=True)
class Blocked:
    """The work can't go on, and why."""

    reason: Literal["capability", "permission", "input", "ambiguity"]
    message: str | None = None

    def envelope(self) -> dict[str, Any]:
        """The envelope that says so."""
        return {"status": "blocked", "blocked_reason": self.reason, "output": {}, "message": self.message}


@dataclass(frozen=True)
class Failed:
    """The work failed; `retryable` where another try may help, `retry_after` seconds from now."""

    message: str
    retryable: bool = True
    retry_after: int | None = None

    def envelope(self) -> dict[str, Any]:
        """The envelope that says so."""
        error_class = "RETRYABLE_FAILED" if self.retryable else "PERMANENT_FAILED"
        return {
            "status": "failed",
            "error_class": error_class,
            "retry_after": self.retry_after,
            "output": {},
            "message": self.message,
        }


@dataclass(frozen=True)
class NeedsReview:
    """A person must look at it."""

    message: str
    output: dict[str, Any] = field(default_factory=dict)

    def envelope(self) -> dict[str, Any]:
        """The envelope that says so."""
        return {"status": "needs_review", "output": self.output, "message": self.message}


Outcome = Completed | Blocked | Failed | NeedsReview
