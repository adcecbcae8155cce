"""Estimates before a run: the rules of images against figures of their providers, and what is not known."""

import pytest

from vidence.ask.models.prices import image_rule, price_table


@pytest.mark.parametrize(
    ("spec", "size", "tokens"),
    [
        # the examples of OpenAI's guide; 128 x 64 as billed in its forum, less 12 tokens of words
        ("openai:gpt-4o", (1024, 1024), 765),
        ("openai:gpt-4o-2024-08-06", (2048, 4096), 1105),
        ("openai:gpt-4.1", (128, 64), 255),
        ("openai:gpt-4o-mini", (128, 64), 8500),
        ("openai:gpt-4.1-mini", (1024, 1024), 1024 * 1.62),
        # as measured: https://community.openai.com, June 2026
        ("openai:gpt-5-mini", (1280, 720), 1104),
        ("openai:gpt-5-mini", (2048, 768), 1843.2),
        # 1,000 x 1,000 pixels are 36 x 36 squares of 28
        ("anthropic:claude-sonnet-4-5", (1000, 1000), 1296),
        ("anthropic:claude-sonnet-4-5", (4000, 3000), 1600),
    ],
)
def test_images_are_counted_as_their_providers_do(spec, size, tokens):
    assert image_rule(spec).tokens(*size) == pytest.approx(tokens)


@pytest.mark.parametrize(
    "spec",
    [
        "openai:gpt-6-sol",
        "anthropic:claude-opus-4-7",  # takes larger images; its limit was not seen
        "openai:gpt-4o?image_detail=low",
        "gemini:gemini-2.5-pro",  # the rule is not on the pages that were read
        "openai:gpt-4o?base_url=http://localhost:8000/v1",
        "baseline:random",
    ],
)
def test_models_without_a_rule_have_none(spec):
    assert image_rule(spec) is None


def test_every_rule_is_for_models_with_prices():
    from vidence.ask.models.prices import ImageRules
    from vidence.installation import packaged

    named = [
        name
        for rule in packaged("vidence.ask.models", "images.toml", ImageRules)["rules"]
        for name in rule.models
    ]
    assert len(named) == len(set(named))
    assert set(named) <= set(price_table())
