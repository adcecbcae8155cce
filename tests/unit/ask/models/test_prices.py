"""The table of prices: which models it holds, what replies cost by it, and what it does not know."""

import re

import pytest

from vidence.ask.models.prices import Prices, given_prices, listed_prices, price_table
from vidence.engine.limits import Budget
from vidence.errors import BudgetSpentError
from vidence.records import Reply, Usage


def listed(spec: str) -> Prices:
    found = listed_prices([spec])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("spec", "usage", "dollars"),
    [
        # 600 x 2.00 + 400 x 0.50 + 10 x 8.00
        ("openai:gpt-4.1", Usage(input_tokens=1000, cached_tokens=400, output_tokens=10), 1480e-6),
        # 5 x 1.00 + 20 x 0.10 + 100 x 1.25 + 3 x 5.00
        (
            "anthropic:claude-haiku-4-5-20251001",
            Usage(input_tokens=125, cached_tokens=20, cache_write_tokens=100, output_tokens=3),
            147e-6,
        ),
        # above 200,000 tokens: (150,000 x 1.25 + 100,000 x 0.125) x 2 + 1,000 x 10 x 1.5
        (
            "gemini:gemini-2.5-pro",
            Usage(input_tokens=250_000, cached_tokens=100_000, output_tokens=1000),
            0.415,
        ),
        ("gemini:gemini-2.5-pro", Usage(input_tokens=200_000, output_tokens=1000), 0.26),
        # no price for the cache: as other input; more cached than read is as much as was read
        ("openai:gpt-5-pro", Usage(input_tokens=100, cached_tokens=1000), 1500e-6),
        ("openai:gpt-4.1", Usage(), 0.0),
    ],
)
def test_what_a_reply_costs_by_hand(spec: str, usage: Usage, dollars: float):
    assert listed(spec).cost(usage) == pytest.approx(dollars)


def test_names_match_the_longest_with_a_date_behind_it_and_nothing_else():
    assert listed("openai:gpt-4o-2024-05-13").input == 5.0
    assert listed("openai:gpt-4o-2024-08-06?image_detail=low") == listed("openai:gpt-4o")
    assert listed("anthropic:claude-opus-4-1-20250805").input == 15.0
    assert listed("gemini:gemini-3.1-pro-preview").output == 12.0
    for unknown in ("openai:gpt-5-ultra", "anthropic:claude-opus-5-6", "scripted:A", "openai:gpt-4o-audio"):
        assert listed_prices([unknown]) is None
    assert listed_prices(["openai:gpt-4.1", "openai:gpt-4.1"]) == listed("openai:gpt-4.1")
    assert listed_prices(["openai:gpt-4.1", "openai:gpt-4o"]) is None
    assert listed_prices([]) is None


def test_another_address_or_a_dearer_service_has_no_listed_price(monkeypatch: pytest.MonkeyPatch):
    model = "openai:gpt-4.1"
    assert listed(f"{model}?base_url=https://api.openai.com/v1") == listed(model)
    assert listed_prices([f"{model}?base_url=http://localhost:8000/v1"]) is None
    assert listed_prices([f'{model}?extra={{"service_tier":"priority"}}']) is None
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert listed_prices([model]) is None


def test_every_row_has_its_day_and_its_source():
    assert len(price_table()) > 30
    for name, prices in price_table().items():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", prices.date), name
        assert prices.source.startswith("https://")
        assert (prices.cached or 0) <= prices.input <= prices.output
        assert prices.date in prices.summary
        assert prices.batch == 0.5


def test_given_prices_win_and_a_listed_limit_stops():
    assert given_prices(0, 0) is None
    assert given_prices(1.0, 0) == Prices(input=1.0, output=0.0, batch=0.5)
    budget = Budget(prices=listed("openai:gpt-4.1"), max_cost=0.002)
    reply = Reply(text="A", usage=Usage(input_tokens=1000, cached_tokens=400, output_tokens=10))
    budget.add(reply)
    budget.check()
    budget.add(reply)
    assert budget.cached_tokens == 800
    with pytest.raises(BudgetSpentError, match=r"spent 0\.0030 US dollars"):
        budget.check()
