"""Remit: a supervisor and many workers, and nothing counts as done until it is verified."""

from typing import Any

__version__ = "0.1.0"

_SDK = frozenset({"Attempt", "Blocked", "Completed", "Failed", "NeedsReview", "worker"})


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    """What worker authors use, imported when first asked for: `@remit.worker`, `remit.Completed` ..."""
    if name not in _SDK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from remit import sdk  # noqa: PLC0415 - keeps `import remit` light

    return getattr(sdk, name)
