"""Decimals as they lie in the log: 18 digits, six of them after the point, never rounded. Pure.

A storage format. Only `remit.codec` imports it.
"""

from decimal import Context, Decimal, InvalidOperation, Rounded

PRECISION = 18
SCALE = 6
LIMIT = 10**PRECISION
_EXACT = Context(prec=PRECISION, traps=[Rounded, InvalidOperation])
_UNIT = Decimal(1).scaleb(-SCALE)
BOUND = Decimal(LIMIT).scaleb(-SCALE)
"""What the log can hold is below this, and above its negative."""


def to_bytes(value: Decimal) -> bytes:
    """The unscaled value, big-endian, in as few bytes as hold it; ValueError with the rule that it breaks."""
    try:
        unscaled = int(value.quantize(_UNIT, context=_EXACT).scaleb(SCALE, _EXACT))
    except (ArithmeticError, ValueError):
        raise ValueError(_rule(value)) from None
    return unscaled.to_bytes((unscaled.bit_length() + 8) // 8, "big", signed=True)


def from_bytes(unscaled: bytes) -> Decimal:
    """The value of those bytes; ValueError when it is out of range, as only a foreign writer's can be."""
    value = int.from_bytes(unscaled, "big", signed=True)
    if not -LIMIT < value < LIMIT:
        raise ValueError("out of range")
    return Decimal(value).scaleb(-SCALE)


def _rule(value: Decimal) -> str:
    """What a value breaks that the log can't hold."""
    if not value.is_finite():
        return "must be a finite number"
    if value.copy_abs() >= BOUND:
        return f"out of range: at most {PRECISION - SCALE} digits before the point"
    return f"more than {SCALE} digits after the point"
