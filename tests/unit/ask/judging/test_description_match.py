"""The judge of descriptions: what it asks, what it makes of verdicts, what it leaves alone."""

import re

import msgspec
import pytest

from vidence.ask.judging import description_match
from vidence.ask.scoring import description_match as parser
from vidence.ask.scoring.label_words import LabelWords
from vidence.records import Answered, Item, Reply, Unreadable

KNOWLEDGE = tuple(msgspec.json.encode(LabelWords(text=t)).decode() for t in ("chicken_dance", "run"))
OPEN = Item(item_id="o", question="What?", answer="chicken_dance", answer_kind="text", knowledge=KNOWLEDGE)
CHOICE = Item(item_id="c", question="What?", choices=("run", "chicken_dance", "sit_down"), answer="B")


def rules(item, text):
    scorer = parser.create()
    return scorer.mark(item, scorer.read(item, Reply(text=text)))


def saying(match: str, **more: str):
    """A judge model that signs its verdict with the id of the block it was shown."""

    def says(prompt):
        marked = re.search(r'<reply id="(\w+)">', prompt.text)
        return f'{{"id": "{marked[1]}", "described": "a dance", "reason": "arms", "match": {match}}}'

    return says


@pytest.mark.parametrize(("match", "value"), [("true", 1.0), ("false", 0.0)])
def test_a_description_is_judged(bench, match, value):
    text = "Somebody dances with wings for arms."
    done = bench.put(description_match.create(), OPEN, text, saying(match), rules=rules(OPEN, text))
    assert done.score.value == value
    assert done.score.scorer == "description-match"
    assert done.score.outcome == Answered(answer=text, rule="whole-reply")
    (given,) = done.score.verdicts
    assert (given.value, given.extracted, given.reason) == (value, "a dance", "arms")
    (prompt,) = done.prompts
    assert "The true label: chicken_dance" in prompt.text
    assert "Other words for it: dance like a chicken" in prompt.text
    assert "Labels that would be wrong: run" in prompt.text
    assert "flap" in prompt.text
    assert prompt.reply_schema is not None
    assert text in prompt.text


def test_a_label_without_known_words_leaves_their_lines_out(bench):
    item = Item(item_id="o", question="What?", answer="amble", answer_kind="text")
    done = bench.put(description_match.create(), item, "x", saying("true"), rules=rules(item, "x"))
    assert "Other words" not in done.prompts[0].text
    assert "Typical" not in done.prompts[0].text
    assert "would be wrong" not in done.prompts[0].text


@pytest.mark.parametrize(("match", "answer"), [("true", "B"), ("false", "none")])
def test_the_log_of_a_choice_is_judged_where_the_parser_marked_logs(bench, match, answer):
    text = "The arms flap.\nAnswer: A"
    done = bench.put(description_match.create(), CHOICE, text, saying(match), rules=rules(CHOICE, text))
    assert done.score.outcome == Answered(answer=answer, rule="log/judge")
    assert done.score.value == (1.0 if answer == "B" else 0.0)
    assert "Labels that would be wrong: run, sit_down" in done.prompts[0].text


def test_a_letter_that_was_read_stays(bench):
    letter = bench.ruled(CHOICE, Reply(text="Answer: A"))
    letter = msgspec.structs.replace(letter, outcome=Answered(answer="A"), value=0.0, scorer="robust")
    done = bench.put(description_match.create(), CHOICE, "Answer: A", saying("true"), rules=letter)
    assert done.score is letter
    assert done.prompts == []


@pytest.mark.parametrize("text", ["", "ERROR: 503", "<think>it dances"])
def test_rows_without_a_description_are_not_judged(bench, text):
    ruled = rules(OPEN, text)
    assert isinstance(ruled.outcome, Unreadable)
    done = bench.put(description_match.create(), OPEN, text, saying("true"), rules=ruled)
    assert done.score is ruled
    assert done.prompts == []
