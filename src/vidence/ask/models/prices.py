"""Model prices: the dated table of providers, and prices given by the user."""

import functools
import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias
from urllib.parse import urlsplit

import msgspec

from vidence.ask.models.http import HttpSettings
from vidence.catalog import parse_spec, settings_type
from vidence.installation import packaged
from vidence.media.encode import Size
from vidence.records import Record, Usage

TABLE = "prices.toml"
_GIVEN_BATCH = 0.5  # the share of all three providers
_DATED = (
    r"(-\d{8}|-\d{4}-\d\d-\d\d|-\d{3}|-0|-latest|-preview(-[\d-]+)?)?"  # what follows the name of a model
)
_DEARER = re.compile("service_tier|inference_geo|speed")  # fields of `extra` that change the price


class Prices(Record, omit_defaults=True):
    """A model's price in US dollars per million tokens, with date and source.

    Input read from the provider's cache (`cached`) or written to it (`cache_write`) costs as much as other
    input if None. For prompts above `long_from` tokens (0: no limit), input costs `long_input` times and
    output `long_output` times as much. `batch` is the factor of the batch API.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    long_from: int = 0
    long_input: float = 2.0
    long_output: float = 1.5
    batch: float = 1.0
    date: str = ""
    source: str = ""

    def cost(self, usage: Usage) -> float:
        """Return a reply's cost in US dollars; tokens that the model did not report count as 0."""
        n_in, n_out = usage.input_tokens or 0, usage.output_tokens or 0
        n_cached = min(usage.cached_tokens or 0, n_in)
        n_new = min(usage.cache_write_tokens or 0, n_in - n_cached)
        read = (n_in - n_cached - n_new) * self.input
        read += n_cached * (self.input if self.cached is None else self.cached)
        read += n_new * (self.input if self.cache_write is None else self.cache_write)
        is_long = 0 < self.long_from < n_in
        wrote = n_out * self.output * (self.long_output if is_long else 1.0)
        return (read * (self.long_input if is_long else 1.0) + wrote) / 1e6

    def in_batches(self) -> "Prices":
        """Return the prices of the batch API."""
        whole = {name: getattr(self, name) for name in ("input", "output", "cached", "cache_write")}
        parts = {name: price and price * self.batch for name, price in whole.items()}
        return msgspec.structs.replace(self, **parts, batch=1.0)

    @property
    def says(self) -> str:
        """Return the source of the prices, for tables."""
        return f"prices of {self.date}, {self.source}" if self.source else "at the prices given"

    @property
    def summary(self) -> str:
        """Return the figures in one line."""
        parts = {"input": self.input, "cached": self.cached, "cache write": self.cache_write}
        figures = [f"{name} {price:g}" for name, price in parts.items() if price is not None]
        factors = f"input x{self.long_input:g}, output x{self.long_output:g}"
        longer = f"; {factors} above {self.long_from:,} tokens of input"
        return (
            f"{', '.join(figures)}, output {self.output:g}; batch x{self.batch:g}"
            f"{longer if self.long_from else ''}; {self.date}, {self.source}"
        )


class _Provider(Record):
    """A provider in the table; `variable` holds an address that replaces the provider's own."""

    source: str
    variable: str
    batch: float
    models: dict[str, Prices]


@functools.cache
def price_table() -> Mapping[str, Prices]:
    """Return prices by ``provider:model``; other models have no listed price."""
    return {
        f"{provider}:{name}": msgspec.structs.replace(prices, source=entry.source, batch=entry.batch)
        for provider, entry in _providers().items()
        for name, prices in entry.models.items()
    }


@functools.cache
def _providers() -> Mapping[str, _Provider]:
    return packaged("vidence.ask.models", TABLE, dict[str, _Provider])


def listed_prices(specs: Iterable[str]) -> Prices | None:
    """Return the listed price of all these models; None if one has none, or they differ.

    A name with a date or ``-latest`` costs as much as the longest name in the table that it starts with. A
    model at another address than its provider's has no listed price.

    >>> listed_prices(["openai:gpt-4.1-2025-04-14"]).input, listed_prices(["openai:gpt-4.1-ultra"])
    (2.0, None)
    """
    names = {listed_name(spec) for spec in specs}
    prices = {None if name is None else price_table()[name] for name in names}
    return prices.pop() if len(prices) == 1 else None


def listed_name(text: str) -> str | None:
    """Return the table's ``provider:model`` for a spec; see `listed_prices`."""
    spec = parse_spec(text)
    if (provider := _providers().get(spec.name)) is None:
        return None
    settings = settings_type("model", spec.name)
    if settings is None or not issubclass(settings, HttpSettings):
        return None
    address = spec.options.get("base_url") or os.environ.get(provider.variable) or settings.own_address
    if urlsplit(address).hostname != urlsplit(settings.own_address).hostname:
        return None
    if _DEARER.search(spec.options.get("extra", "")):
        return None
    names = sorted(provider.models, key=len, reverse=True)
    name = next((n for n in names if re.fullmatch(re.escape(n) + _DATED, spec.argument)), None)
    return None if name is None else f"{spec.name}:{name}"


class ImageRule(Record):
    """How the provider of `models` counts the tokens of an image; see the file for the fields."""

    models: tuple[str, ...]
    unit_px: int
    date: str
    source: str
    long_px: int = 0
    short_px: int = 0
    most: int = 0
    base: int = 0
    each: float = 1.0

    def tokens(self, width_px: int, height_px: int) -> float:
        """The tokens of an image of that size.

        >>> image_rule("openai:gpt-4o").tokens(1024, 1024), image_rule("openai:gpt-4.1-mini").tokens(64, 33)
        (765.0, 6.48)
        """
        sides = (width_px, height_px)
        for kind, limit in (("long", self.long_px), ("short", self.short_px)):
            sides = Size.parse(f"{kind}:{limit}").fit(*sides) if limit else sides
        n = math.prod(math.ceil(side / self.unit_px) for side in sides)
        return self.base + self.each * (min(n, self.most) if self.most else n)


ImageRules: TypeAlias = dict[str, tuple[ImageRule, ...]]


def image_rule(text: str) -> ImageRule | None:
    """Return the image-token rule for a model's spec; None if there is none, or an option changes it."""
    if {"image_detail", "media_resolution", "extra"} & parse_spec(text).options.keys():
        return None
    name, file = listed_name(text), packaged("vidence.ask.models", "images.toml", ImageRules)
    return next((rule for rule in file["rules"] if name in rule.models), None)


def given_prices(price_in: float, price_out: float) -> Prices | None:
    """Return the prices that a user gave; None without any."""
    return Prices(input=price_in, output=price_out, batch=_GIVEN_BATCH) if price_in or price_out else None


def needs_prices(specs: Iterable[str], *, how: str) -> str:
    """Return the message for a spending limit without prices; `how` says how to give them."""
    names = ", ".join(dict.fromkeys(text.partition("?")[0] for text in specs))
    return (
        f"max_cost needs prices: `vidence list prices` has none for {names}, or not the same for all of "
        f"them; give {how}, in US dollars per million tokens"
    )
