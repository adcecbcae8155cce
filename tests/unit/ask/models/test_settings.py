"""The identity of a model: a spec of what changes its replies, as it was written since the first release."""

from typing import Annotated

import pytest
from msgspec import Meta, field

from servers.model_asks import maker
from vidence.ask.models.settings import Count, spec_of
from vidence.records import Record


class Options(Record):
    name: str = "x"
    share: float = 0.5
    limit: Annotated[Count | None, Meta(description="most")] = None
    fast: bool = False
    extra: dict[str, object] = field(default_factory=dict)


FIELDS = ("share", "limit", "fast", "extra")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(), "m:x?"),
        (Options(share=0.25, limit=3, fast=True), "m:x?share=0.25&limit=3&fast=true"),
        (Options(extra={"b": 1, "a": "&"}), "m:x?extra={%22a%22:%22%26%22,%22b%22:1}"),
        (Options(name="other"), "m:x?"),
    ],
)
def test_only_what_is_not_the_default_is_named(options: Options, expected: str):
    assert spec_of("m:x", options, FIELDS) == expected
    assert spec_of("m:x", Options(), FIELDS, always=("share",)) == "m:x?share=0.5"


@pytest.mark.parametrize(
    ("provider", "options", "expected"),
    [
        ("openai", {"api": "responses", "reasoning_effort": "low", "image_detail": "high"},
         "&api=responses&image_detail=high&max_tokens_field=max_output_tokens&reasoning_effort=low"),
        ("anthropic", {"thinking_budget": "2000", "structured": "off", "extra": '{"top_k": 5}'},
         "&thinking_budget=2000&structured=off&extra={%22top_k%22:5}"),
        ("gemini", {"thinking_budget": "0", "video_fps": "0.5", "api_version": "v1beta", "poll_s": "1"},
         "&api_version=v1beta&thinking_budget=0&video_fps=0.5"),
    ],
)  # fmt: skip
def test_identities_stay_what_they_are_so_that_stored_replies_are_found(provider, options, expected):
    found = maker("model", provider)("n", {"base_url": "http://h", **options}).identity
    assert found == f"{provider}:n?base_url=http://h{expected}"
