"""One picture and one question: what a model said, whether it sees, how fast it was."""

import itertools

import pytest

from servers.openai_stub import OpenAIStub
from vidence.engine.tryout import Tryout, tryout
from vidence.errors import UsageError
from vidence.records import Reply, Usage


def ticking():
    """A clock that goes on by a second whenever it is looked at."""
    return itertools.count(0.0, 1.0).__next__


def test_a_model_that_names_the_colour_sees(tmp_path):
    with OpenAIStub(answer="Blue.") as server:
        tried = tryout(f"openai:m?base_url={server.base_url}", memory=tmp_path / "m", clock=ticking())
        assert server.n_requests == 2
        sent = server.requests[0].body["messages"][-1]["content"]
    assert [part["type"] for part in sent] == ["image_url", "text"]
    assert (tried.sees, tried.failure, tried.first_s, tried.second_s) == (True, "", 1.0, 1.0)
    assert tried.tokens_per_s == tried.second.usage.output_tokens


def test_one_that_says_something_else_does_not(tmp_path):
    tried = tryout("scripted:A", memory=tmp_path / "m")
    assert (tried.sees, tried.first.text) == (False, "A")
    assert tried.tokens_per_s is None


def test_why_there_was_no_reply_is_kept(tmp_path):
    tried = tryout("scripted:A?fail=500", memory=tmp_path / "m", clock=ticking())
    assert (tried.first, tried.second, tried.first_s) == (None, None, 1.0)
    assert tried.failure.startswith("TransientModelError: scripted failure 500")


def test_nothing_is_tried_again(tmp_path):
    with OpenAIStub(failure_rate=1.0) as server:
        tried = tryout(f"openai:m?base_url={server.base_url}", memory=tmp_path / "m", clock=ticking())
        assert server.n_requests == 1
    assert (tried.first, tried.second_s) == (None, 0.0)


def test_a_spec_that_is_none_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="Did you mean"):
        tryout("scriptet:A", memory=tmp_path / "m")


def test_the_second_reply_says_how_fast_a_model_is_and_either_that_it_sees():
    slow, fast = Reply(text="It is BLUE.", usage=Usage(output_tokens=8)), Reply(text="red")
    counted = Tryout(first=fast, second=slow, first_s=9.0, second_s=4.0)
    assert (counted.tokens_per_s, counted.sees) == (2.0, True)
    assert Tryout(first=slow, second=fast, first_s=9.0, second_s=4.0).tokens_per_s is None
    assert Tryout(first=slow, second=fast, first_s=9.0, second_s=4.0).sees
    assert Tryout(first=slow, second=None, first_s=9.0, second_s=4.0).tokens_per_s is None
    assert Tryout(first=slow, second=slow, first_s=9.0, second_s=0.0).tokens_per_s is None
    assert not Tryout(first=None, second=fast, first_s=1.0, second_s=1.0).sees
