"""Decimals as they lie in the log: 18 digits, six of them after the point, never rounded. Pure.

A storage format. Only `remit.codec` imports it.
"""

from decimal import Context, Decimal, Inexact, InvalidOperation

PRECISION = 18
SCALE = 6
LIMIT = 10**PRECISION
_EXACT = Context(prec=PRECISION * 3, traps=[Inexact, InvalidOperation])
_UNIT = Decimal(1).scaleb(-SCALE)
BOUND = Decimal(LIMIT).scaleb(-SCALE)
"""What the log can hold is below this, and above its negative."""


def to_bytes(value: Decimal) -> bytes:
    """The unscaled value, big-endian, in as few bytes as hold it; ValueError with the rule that it breaks."""
    if not value.is_finite():
        raise ValueError("must be a finite number")
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -SCALE:
        raise ValueError(f"more than {SCALE} digits after the point")
    if abs(value) >= BOUND:
        raise ValueError(f"out of range: at most {PRECISION - SCALE} digits before the point")
    unscaled = int(value.scaleb(SCALE, _EXACT))
    return unscaled.to_bytes((unscaled.bit_length() + 8) // 8, "big", signed=True)


def in_range(value: Decimal) -> bool:
    """Whether the log can hold it."""
    return -BOUND < value < BOUND
