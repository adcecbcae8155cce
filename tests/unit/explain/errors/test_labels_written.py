"""A model labels a row: one ask, one repair, and quotes that have to be in the reply."""

import json
import re

import pytest

from vidence.explain.errors.labels import label_row
from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.records import ImagePart, Reply

HUMANPCR, CHAINS = load_taxonomy("humanpcr"), load_taxonomy("perceptioncomp")
TWO = "\u2460 A man waves. \u2461 The man of \u2460 sits. Where?"


def play(flow, *answers):
    """What comes of a flow whose asks are answered in turn with these fields; and what was asked."""
    asked = []
    wanted = next(flow)
    try:
        for fields in answers:
            (ask,) = wanted
            asked.append(ask.prompt)
            marked = re.search(r'<reply id="([0-9a-f]+)">', ask.prompt.text)[1]
            text = json.dumps({"id": marked, **fields}) if isinstance(fields, dict) else fields
            wanted = flow.send([Reply(text=text, refusal="" if text else "I must not.")])
    except StopIteration as stop:
        return stop.value, asked
    raise AssertionError("more was asked")


@pytest.fixture
def row(plant):
    def make(*, kinds=HUMANPCR, **more):
        kind = kinds.labels[0].name
        packet = plant({"a-run": {kind: 0.9}}, n=10, **more).packet
        shown = packet.rows[0]
        return lambda **also: label_row(
            shown, packet.key.reply_of()[shown.row], labeller="m", taxonomy=kinds, **also
        )

    return make


def test_one_ask_gives_a_label_with_its_quote(row):
    made, asked = play(row()(), {"quote": "opens the door", "reason": "it does", "kind": "missing-proactive"})
    told = (made.label.kind, made.label.quote, made.label.by)
    assert told == ("missing-proactive", "opens the door", "model")
    (prompt,) = asked
    assert "a-run" not in prompt.text
    assert "You are not shown the video." in prompt.text
    assert "Right answer: A" in prompt.text
    assert "Evidence e1 (proactive, 1.0 to 2.0 s): a door opens" in prompt.text
    assert "missing-proactive (Missing Proactive Evidences)" in prompt.text
    assert "visual-extraction" not in prompt.text
    picture = ImagePart(digest="0" * 64, width_px=8, height_px=8)
    made, (prompt,) = play(row()(pictures=[picture]), "")
    assert made.problem.startswith("the model declined")  # and is not asked again
    assert prompt.parts[0] == picture
    assert "The picture shows frames" in prompt.text


def test_a_quote_that_is_not_there_is_asked_for_again_and_then_left_out(row):
    bad = {"quote": "it rains", "reason": "", "kind": "knowledge"}
    made, asked = play(row()(), bad, bad)
    assert made.label is None
    assert made.problem.startswith("the quote 'it rains' is not in the reply")
    assert "could not be used: the quote 'it rains' is not in the reply" in asked[1].text
    made, _ = play(row()(), bad, {"quote": "So it is B", "reason": "", "kind": "knowledge"})
    assert made.label.kind == "knowledge"


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"quote": "", "reason": "", "kind": "knowledge"}, "no quote; a model's label needs words"),
        ({"quote": "So it is B", "reason": "", "kind": "clumsiness"}, "'kind'"),
        ("knowledge", "not the one JSON object"),
    ],
)
def test_what_is_no_label_has_a_reason(row, said, says):
    made, _ = play(row()(), said, said)
    assert made.label is None
    assert says in made.problem


def test_conditions_are_judged_one_by_one(row):
    flow = row(kinds=CHAINS, taxonomy="perceptioncomp", question=TWO)()
    said = {"quote": "So it is B", "reason": "", "verdicts": "right; wrong", "kind": "perceptual"}
    made, (prompt,) = play(flow, said)
    assert (made.label.verdicts, made.label.first_wrong) == (("right", "wrong"), 2)
    assert "Judge the conditions of the question one by one" in prompt.text
