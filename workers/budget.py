"""Whether an attempt has used more than is reserved for it, as far as the runner can know. Pure; for this role.

Money is left to the supervisor, which has the prices.
"""

from remit.events.base import Amounts, Usage


def beyond(usage: Usage, reserved: Amounts) -> str | None:
    """The first reserved amount that the usage passes: tokens, tool_calls or turns; None while it is within all."""
    used = {
        "tokens": usage.tokens_in + usage.tokens_out,
        "tool_calls": usage.tool_calls,
        "turns": usage.turns,
    }
    limits = {name: getattr(reserved, name) for name in used}
    return next((name for name, count in used.items() if limits[name] is not None and count > limits[name]), None)
