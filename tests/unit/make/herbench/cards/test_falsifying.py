"""False cards of models: what is read, repaired, dropped."""

import json

import pytest

from vidence.make.herbench.cards.falsifying import perturb, read_false
from vidence.make.pipeline.material import Change, Dropped, SceneCard
from vidence.make.pipeline.writer import Objection
from vidence.records import Reply

TRUE = SceneCard(
    card_id="shot-0001-true",
    shot_id="shot-0001",
    text="A woman in a red coat walks past two cars.",
    frames=(4,),
)
FALSE = "A woman in a green coat walks past three cars."
LISTED = [
    {"kind": "modification", "before": "red", "after": "green"},
    {"kind": "modification", "before": "two", "after": "three"},
]
GOOD = json.dumps({"text": FALSE, "changes": LISTED})


def run(play, wording, *said):
    return play(perturb(TRUE, others=[TRUE], wording=wording, writer="model-x"), *said)


def test_a_good_reply_becomes_a_false_card(play, wording):
    played = run(play, wording, GOOD)
    card = played.made
    assert (card.card_id, card.shot_id, card.text) == ("shot-0001-false", "shot-0001", FALSE)
    assert card.changes == tuple(Change(**one) for one in LISTED)
    assert (card.frames, card.writer, card.is_faithful) == ((4,), "model-x", False)
    (prompt,) = played.prompts
    assert json.dumps(TRUE.text) in prompt.text
    assert prompt.reply_schema["required"] == ["text", "changes"]
    assert "at least 2 and at most 5" in prompt.text


@pytest.mark.parametrize(
    "said",
    [
        f"Here it is:\n```json\n{GOOD}\n```\nI hope this helps!",
        f"<think>{{'text': 'no', 'changes': []}}</think>{GOOD}",
        GOOD.replace("modification", "Modified"),
        "{'note': 'first'} " + GOOD,
    ],
)
def test_much_is_read(play, wording, said):
    assert run(play, wording, said).made.text == FALSE


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("A woman in a green coat walks past three cars.", "unreadable"),
        (GOOD[:40], "unreadable"),
        (json.dumps({"text": FALSE, "changes": "red to green"}), "unreadable"),
        (json.dumps({"text": FALSE, "changes": ["red to green"]}), "unreadable"),
        (
            json.dumps({"text": FALSE, "changes": [{"kind": "swap", "before": "a", "after": "b"}]}),
            "unreadable",
        ),
        (json.dumps({"text": "", "changes": LISTED}), "empty"),
        (json.dumps({"text": f"{FALSE} It rains.", "changes": LISTED}), "wrong-length"),
        (json.dumps({"text": FALSE, "changes": LISTED[:1]}), "wrong-number-of-changes"),
        (json.dumps({"text": FALSE.replace("walks", "runs"), "changes": LISTED}), "other-differences"),
        (json.dumps({"text": TRUE.text, "changes": LISTED}), "same-as-another"),
        ("I cannot write false statements.", "refused"),
        ("", "empty"),
        ("{" * 500, "unreadable"),
    ],
)
def test_what_cannot_be_used_is_asked_for_again_and_then_dropped(play, wording, said, reason):
    mended = run(play, wording, said, GOOD)
    assert mended.made.text == FALSE
    assert mended.prompts[1].parts[:-1] == mended.prompts[0].parts
    lost = run(play, wording, said, said).made
    assert isinstance(lost, Dropped)
    assert (lost.what, lost.stage, lost.reason) == ("shot-0001-false", "false-scenes", reason)
    assert lost.detail


def test_a_false_card_equal_to_a_true_one_of_another_shot_is_dropped(play, wording):
    other = SceneCard(card_id="shot-0002-true", shot_id="shot-0002", text=FALSE)
    lost = play(perturb(TRUE, others=[TRUE, other], wording=wording), GOOD, GOOD).made
    assert lost.reason == "same-as-another"


def test_a_refusal_is_dropped_at_once(play, wording):
    assert run(play, wording, Reply(text="", refusal="no")).made.detail == "no"


def test_a_change_without_a_before_is_an_addition():
    text = "A woman in a red coat walks past two cars with a dog and a cat."
    listed = [{"kind": "add", "before": None, "after": "with a dog"}, {"kind": "add", "after": "a cat"}]
    found = read_false(json.dumps({"text": text, "changes": listed}))
    assert not isinstance(found, Objection)
    assert [(c.kind, c.before) for c in found.changes] == [("addition", ""), ("addition", "")]
