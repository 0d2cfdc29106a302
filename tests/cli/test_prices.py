"""`remit policy prices`: entries in pounds from the price list, exact to the policy's digits, which a policy takes."""

import json
import sys
from decimal import Decimal

import pytest

from remit import documents
from remit.cli.entry import run
from remit.cli.prices import ModelPrice, in_pounds, price_list, prices_of, snippet
from remit.errors import PolicyInvalidError
from remit.policy import load
from tests.supervisor.world import POLICY, START


def test_the_snippet_is_what_a_policy_takes(capsys: pytest.CaptureFixture[str]) -> None:
    """Source, rate and day are recorded beside the entries; merged, the policy is valid and its money exact."""
    words = ["policy", "prices", "gpt-5", "google/gemini-2.5-pro", "--usd-gbp", "0.79", "--as-of", "2026-03-01"]
    assert run(words) == 0
    made = documents.parse(capsys.readouterr().out, is_json=False, error=PolicyInvalidError)["prices"]
    assert (made["usd_gbp"], made["as_of"]) == ("0.79", "2026-03-01")
    assert made["source"].startswith("genai-prices ")
    policy = documents.parse(POLICY, is_json=False, error=PolicyInvalidError)
    policy["prices"] = {**made, "entries": policy["prices"]["entries"] | made["entries"]}
    prices = load.parse(json.dumps(policy)).prices
    assert prices.usd_gbp == Decimal("0.79")
    assert prices.entries["gpt-5"].per_1k_tokens_in > 0
    assert prices.entries["gpt-5"].per_1k_tokens_out > prices.entries["gpt-5"].per_1k_tokens_in


def test_a_price_is_rounded_up_and_never_a_float() -> None:
    """A budget never lasts longer than the money: 0.25 $ a million at 0.79 are £0.0001975 a thousand, so 0.000198."""
    assert in_pounds(Decimal("0.25"), Decimal("0.79")) == Decimal("0.000198")
    assert in_pounds(Decimal(3), Decimal("0.8")) == Decimal("0.002400")


def test_of_tiers_the_dearest_is_taken_and_said() -> None:
    """A price that rises with the length of the context."""
    listed, _ = price_list()
    (found,) = prices_of(["gemini-2.5-pro"], listed, Decimal(1), START.date())
    price = listed.find_provider_model("gemini-2.5-pro", None, None, None)[1].get_prices(START).input_mtok
    tiers = [tier.price for tier in getattr(price, "tiers", ())]
    assert tiers
    assert found.tiered
    assert found.per_1k_tokens_in == max(tiers) / 1000
    line = ModelPrice("m", "p", Decimal("0.1"), Decimal("0.2"), tiered=True)
    assert list(snippet([line], "s", Decimal(1), START.date()))[-1].endswith("# p, its dearest tier")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["no-such-model", "--usd-gbp", "0.79"], 1, "the price list knows no model no-such-model"),
        (["gpt-5", "--usd-gbp", "0"], 2, "--usd-gbp must be a number above 0"),
        (["gpt-5", "--usd-gbp", "NaN"], 2, "--usd-gbp must be a number above 0"),
        (["gpt-5", "--usd-gbp", "0.79", "--as-of", "soon"], 2, "--as-of must be a day"),
        (["gpt-5"], 2, "--usd-gbp"),
    ],
)
def test_what_can_t_be_priced(words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown model is refused, a rate or day that is none is invalid; nothing is printed."""
    assert run(["policy", "prices", *words]) == code
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True)


def test_without_the_list_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list is an extra."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert run(["policy", "prices", "gpt-5", "--usd-gbp", "0.79"]) == 2
    assert "pip install 'remit[prices]'" in capsys.readouterr().err
