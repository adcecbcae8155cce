"""The baselines answer by their rules, and say nothing where a rule does not apply."""

from collections import Counter

import anyio
import pytest

from servers.model_asks import maker
from vidence.ask.models.baseline import RULES
from vidence.contracts import Request
from vidence.errors import UnknownNameError, UsageError
from vidence.records import Prompt, Reply, Sampling

create = maker("model", "baseline")


def say(
    spec: str, choices: tuple[str, ...], *, item_id: str = "q", sample: int = 0, seed: int | None = None
) -> Reply:
    name, _, query = spec.partition("?")
    options = dict(pair.split("=") for pair in query.split("&") if pair)
    request = Request(
        item_id=item_id, prompt=Prompt(parts=(), choices=choices), sampling=Sampling(seed=seed), sample=sample
    )
    return anyio.run(create(name, options).reply, request)


FOUR = ("10", "2", "7 men", "300")


def test_rules():
    assert say("constant?letter=c", FOUR).text == "C"
    assert say("constant", FOUR).text == "A"
    assert say("longest", FOUR).text == "C"
    assert say("median", ("9", "1", "4")).text == "C"
    ranges = ("3 to 5", "0 to 2", "10 to 30", "6 to 9")
    for name, letter in zip(
        ("smallest", "second-smallest", "second-largest", "largest"), "BADC", strict=True
    ):
        assert say(name, ranges).text == letter


def test_a_rule_that_does_not_apply_says_nothing_and_why():
    reply = say("median", ("red", "blue"))
    assert (reply.text, reply.finish) == ("", "stop")
    silent = "not every choice holds one number or range, or several have the same"
    assert reply.reasoning == f"baseline:median does not apply: {silent}"
    assert say("smallest", ("1", "1", "2")).text == ""
    tied = say("longest", ("red", "one", "a"))
    assert tied.text == ""
    assert tied.reasoning == "baseline:longest does not apply: several choices are the longest"
    for name in RULES:
        reply = say(name, ())
        assert reply.text == ""
        assert "no choices" in reply.reasoning


def test_random_depends_on_seed_item_and_sample_alone():
    letters = [say("random", FOUR, item_id=str(n)).text for n in range(400)]
    first = letters[:40]
    assert first == [say("random", FOUR, item_id=str(n)).text for n in range(40)]
    assert first == [say("random", FOUR, item_id=str(n), seed=0).text for n in range(40)]
    for other in ({"seed": 1}, {"sample": 1}):
        assert first != [say("random", FOUR, item_id=str(n), **other).text for n in range(40)]
    seeded = [say("random?seed=3", FOUR, item_id=str(n), seed=9).text for n in range(40)]
    assert seeded == [say("random", FOUR, item_id=str(n), seed=3).text for n in range(40)] != first
    counts = Counter(letters)
    assert set(counts) == set("ABCD")
    assert all(60 <= count <= 140 for count in counts.values())  # 100 expected, 4.6 standard deviations


def test_bad_uses_are_refused_and_identities_differ():
    with pytest.raises(UnknownNameError, match=r"no baseline named 'longst'.*Did you mean 'longest'"):
        create("longst", {})
    for name, options in [
        ("constant", {"letter": "AB"}),
        ("constant", {"letter": "1"}),
        ("random", {"seed": "x"}),
        ("random", {"letter": "A"}),
        ("median", {"seed": "1"}),
    ]:
        with pytest.raises(UsageError):
            create(name, options)
    assert create("random", {"seed": "1"}).identity != create("random", {}).identity
    assert create("constant", {"letter": "B"}).identity != create("constant", {}).identity
    assert (create("random", {}).looks, create("random", {}).by_item) == (False, True)
