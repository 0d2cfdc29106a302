"""Price entries in pounds, made of a maintained list of models' prices in dollars. Only `remit.cli` imports it.

The list comes with the extra `prices` and is read as it was installed; nothing is fetched. Decimal throughout.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from remit.errors import RefusedError, SettingsError

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

MISSING = "the price list is not installed: pip install 'remit[prices]'"
DIGITS = Decimal("0.000001")  # of the policy's money
RATE = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")
THOUSANDS = 1000  # of a million


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a model costs, in pounds for a thousand tokens; `tiered`: the dearest of several, by length of context."""

    name: str
    provider: str
    per_1k_tokens_in: Decimal
    per_1k_tokens_out: Decimal
    tiered: bool


class Rate(NamedTuple):
    """Pounds for one dollar, on a day."""

    usd_gbp: Decimal
    as_of: date

    @classmethod
    def of(cls, rate: str, as_of: str | None) -> Self:
        """As the flags spell it; SettingsError with the rule that they break."""
        try:
            usd_gbp = Decimal(rate) if RATE.fullmatch(rate) else Decimal(0)
            day = datetime.now(UTC).date() if as_of is None else date.fromisoformat(as_of)
        except ValueError:
            raise SettingsError("--as-of must be a day, like 2026-07-01") from None
        if usd_gbp == 0:
            raise SettingsError("--usd-gbp must be a number above 0 with at most 6 decimal places, like 0.79")
        return cls(usd_gbp, day)


def price_list() -> tuple["DataSnapshot", str]:
    """The list, and its name with its version; SettingsError where it is not installed."""
    try:
        from genai_prices import __version__  # noqa: PLC0415 - an extra
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415
    except ImportError:
        raise SettingsError(MISSING) from None
    return get_snapshot(), f"genai-prices {__version__}"


def prices_of(models: Iterable[str], listed: "DataSnapshot", usd_gbp: Decimal, as_of: date) -> list[ModelPrice]:
    """The prices of those models as of that day; RefusedError, naming each, if the list does not know them all."""
    found = {model: _find(listed, model) for model in dict.fromkeys(models)}
    unknown = [model for model, entry in found.items() if entry is None]
    if unknown:
        raise RefusedError(f"the price list knows no model {', '.join(unknown)}; name it as its provider does")
    at = datetime.combine(as_of, time(12), UTC)
    return [_price(*entry, usd_gbp, at) for entry in found.values() if entry is not None]


def _find(listed: "DataSnapshot", model: str) -> tuple[Any, Any] | None:
    """Provider and model, for `MODEL` or `PROVIDER/MODEL`."""
    provider, _, name = model.partition("/")
    for reference, provider_id in ((model, None), (name, provider)) if name else ((model, None),):
        try:
            return listed.find_provider_model(reference, None, provider_id, None)
        except LookupError:
            continue
    return None


def _price(provider: Any, model: Any, usd_gbp: Decimal, at: datetime) -> ModelPrice:  # noqa: ANN401 - the list's own types
    dollars = model.get_prices(at)
    inward, outward = dollars.input_mtok, dollars.output_mtok
    if inward is None or outward is None:
        raise RefusedError(f"the price list has no price for the tokens of {model.id}")
    return ModelPrice(
        name=model.id,
        provider=provider.id,
        per_1k_tokens_in=in_pounds(_dearest(inward), usd_gbp),
        per_1k_tokens_out=in_pounds(_dearest(outward), usd_gbp),
        tiered=bool(getattr(inward, "tiers", ()) or getattr(outward, "tiers", ())),
    )


def _dearest(price: Any) -> Decimal:  # noqa: ANN401 - a Decimal, or the list's tiers
    """Usage says nothing of the length of each context, so the dearest tier is taken: a budget never lasts too long."""
    if isinstance(price, Decimal):
        return price
    dearest: Decimal = max([price.base, *(tier.price for tier in price.tiers)])
    return dearest


def in_pounds(dollars_per_million: Decimal, usd_gbp: Decimal) -> Decimal:
    """Pounds for a thousand, rounded up to the policy's six digits."""
    return (dollars_per_million * usd_gbp / THOUSANDS).quantize(DIGITS, ROUND_CEILING)


def snippet(prices: Iterable[ModelPrice], source: str, usd_gbp: Decimal, as_of: date) -> Iterator[str]:
    """The lines of a policy's `prices`; its other entries, `default` among them, are left as they are."""
    yield "prices: # pounds; merge it into your policy, which also needs an entry `default`"
    yield f'  source: "{source}"'
    yield f'  usd_gbp: "{usd_gbp:f}"'
    yield f'  as_of: "{as_of.isoformat()}"'
    yield "  entries:"
    for each in prices:
        note = f" # {each.provider}{', its dearest tier' if each.tiered else ''}"
        money = f'per_1k_tokens_in: "{each.per_1k_tokens_in:f}", per_1k_tokens_out: "{each.per_1k_tokens_out:f}"'
        yield f'    "{each.name}": {{{money}}}{note}'
