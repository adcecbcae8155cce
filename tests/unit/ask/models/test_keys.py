"""Keys are cut out of all that is kept or shown, and refused where they would be stored."""

import msgspec
import pytest

from vidence.ask.models import keys
from vidence.errors import TransientModelError, UsageError
from vidence.records import Reply

CANARY = "sk/canary-7f3e+55"


@pytest.fixture(autouse=True)
def _in_use(monkeypatch):
    monkeypatch.setattr(keys, "_IN_USE", set())
    keys.note_key(CANARY)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"your key is {CANARY}.", "your key is [key]."),
        ("escaped sk%2Fcanary-7f3e%2B55 too", "escaped [key] too"),
        (f"{CANARY}{CANARY}", "[key][key]"),
        ("nothing here", "nothing here"),
    ],
)
def test_a_key_is_cut_out_of_a_text(said, kept):
    assert keys.without_keys(said) == kept


def test_the_longer_of_two_keys_is_cut_out_whole_and_short_values_are_none():
    keys.note_key(CANARY + "-long")
    assert keys.without_keys(f"a {CANARY}-long b") == "a [key] b"
    keys.note_key("EMPTY")
    assert keys.without_keys("EMPTY") == "EMPTY"
    error = TransientModelError(f"said {CANARY}", retry_after_s=2.0)
    error.__cause__ = ValueError(f"bad header {CANARY}", 3)
    keys.clean_error(error)
    assert (str(error), error.retry_after_s) == ("said [key]", 2.0)
    assert error.__cause__.args == ("bad header [key]", 3)


def test_every_text_of_a_reply_is_cleaned_and_the_rest_stays(monkeypatch):
    reply = Reply(text=CANARY, reasoning=CANARY, refusal=CANARY, model=CANARY, choice_logps={CANARY: -1.0})
    cleaned = keys.clean_record(reply)
    assert CANARY.encode() not in msgspec.json.encode(cleaned)
    assert cleaned.choice_logps == {"[key]": -1.0}
    same = Reply(text="A", latency_s=0.5)
    assert keys.clean_record(same) is same
    monkeypatch.setattr(keys, "_IN_USE", set())
    reply = Reply(text=CANARY)
    assert keys.clean_record(reply) is reply


@pytest.mark.parametrize(
    "extra",
    [
        {"headers": {"Authorization": "Token abc"}}, {"extra_headers": {"x-api-key": "abc"}},
        {"x-goog-api-key": "abc"}, {"api_key": "abc"}, {"provider": [{"access_token": "abc"}]},
        {"metadata": {"note": f"{CANARY}"}}, {"note": "Bearer abcdef"},
        {"note": "sk-proj-A1b2C3d4E5f6G7h8I9j0"}, {"session-token": "abc"}, {"cookie": "a=b"},
    ],
)  # fmt: skip
def test_extra_that_looks_like_a_key_is_refused_without_showing_it(extra):
    with pytest.raises(UsageError, match="api_key_env=NAME") as refused:
        keys.check_no_key("openai:m", extra)
    assert "abc" not in str(refused.value)
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    "extra",
    [
        {"headers": {"x-trace": "a"}},
        {"max_tokens": 3, "stop_token_ids": [1], "api_key": ""},
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"secret": 3},
        {},
    ],
)
def test_other_extra_fields_pass(extra):
    keys.check_no_key("openai:m", extra)


@pytest.mark.parametrize("name", ["hf-internal-testing-tiny-random-llava", "sk-telecom/a.x-4.0-light-vl"])
def test_names_of_checkpoints_are_no_keys(name):
    assert not keys.looks_like_key(name)
