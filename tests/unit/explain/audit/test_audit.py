"""Each check of a question's texts, on questions with one planted fault and on sound ones."""

import json

import pytest

from vidence.errors import UsageError
from vidence.explain.audit.audit import audit_items
from vidence.explain.audit.checks import all_allowed, allowed
from vidence.explain.audit.key import beats_guessing
from vidence.explain.audit.reasons import kinds
from vidence.records import Evidence, Item, Media
from vidence.report.item_card import audit_json, audit_page, card_sheet, make_card, suspects_csv


def item(question="What does the person lift?", choices=("a cup", "a chair", "a lamp"), answer="A", **more):
    fields = {"item_id": "q", "media": (Media(path="v.mp4"),), "question": question} | more
    if not choices:
        return Item(choices=(), answer=answer, answer_kind="text", **fields)
    return Item(choices=tuple(choices), answer=answer, **fields)


def reasons(*items):
    """Kind and severity of everything that speaks against the first item."""
    found = audit_items(items).reasons.get(items[0].item_id, ())
    assert {reason.kind for reason in found} <= set(kinds())
    return {(reason.kind, reason.severity) for reason in found}


@pytest.mark.parametrize(
    ("choices", "answer", "severity"),
    [
        (("a red car", "a red car", "a van"), "A", "severe"),
        (("a red car", "the red car.", "a van"), "B", "severe"),
        (("Red Car", "a red car", "a van"), "C", "warning"),
    ],
)
def test_identical_choices(choices, answer, severity):
    assert not any(kind == "identical-choices" for kind, _ in reasons(item(choices=("Aa", "AA", "aa"))))
    assert ("identical-choices", severity) in reasons(item(choices=choices, answer=answer))


@pytest.mark.parametrize(
    ("choices", "answer", "severity"),
    [
        (("two", "two or three", "five"), "A", "severe"),  # whenever it is two, it is two or three
        (("two", "two or three", "five"), "B", "warning"),
        (("0-5", "3-8", "20-30"), "A", "warning"),
        (("3-5", "0-10", "20-30"), "A", "severe"),
        (("0-5", "3-8", "20-30"), "C", "note"),
        (("1-3", "3-5", "5-7"), "A", "note"),
        (("more than 5", "at least 8", "1"), "B", "severe"),
        (("3", "three", "5"), "A", "severe"),
        (("0:10-0:20", "0:15-0:30", "1:00-1:10"), "A", "warning"),
        (("left", "left or right", "up"), "A", "severe"),
        (("red or blue", "blue or green", "black"), "A", "warning"),
        (("red or blue", "blue or green", "black"), "C", "note"),
    ],
)
def test_overlapping_choices(choices, answer, severity):
    assert ("overlapping-choices", severity) in reasons(item(choices=choices, answer=answer))


@pytest.mark.parametrize(
    "choices",
    [
        ("1-3", "4-6", "7-9"),
        ("less than 3", "3 or more", "none"),
        ("2-1", "3-2", "1-2"),  # scores
        ("3 cm", "3 m", "3 km"),
        ("neither left nor right", "left", "up"),
        ("3, 4, 2, 1", "4, 3, 2, 1", "1, 2, 3, 4"),
        ("10 minutes", "5 minutes", "1 hour"),
    ],
)
def test_choices_that_do_not_overlap(choices):
    assert not any(kind == "overlapping-choices" for kind, _ in reasons(item(choices=choices)))


def test_numbers_are_read_with_bounds_units_and_words():
    between = allowed("between 3 and 8 people")
    assert (between.spans[0].low, between.spans[0].high, between.unit) == (3, 8, "people")
    clock = allowed("1:02:03")
    assert clock.spans[0].low == 3723
    less = allowed("fewer than five")
    assert 4.9 < less.spans[0].high < 5
    assert allowed("8 to 3") is None
    assert allowed("3 cm to 5 m") is None
    assert allowed("1/2") is None
    assert all_allowed(["2-1", "3"])[0] is None


def test_contained_choices_are_noted_but_not_within_a_compound():
    assert ("contained-choices", "note") in reasons(item(choices=("red", "brick red", "blue")))
    clock = reasons(item(choices=("clockwise", "counter-clockwise", "neither")))
    assert not any(kind == "contained-choices" for kind, _ in clock)


def test_choices_about_other_choices():
    last = item(choices=("a cup", "a lamp", "none of the above"))
    assert ("refers-to-choices", "note") in reasons(last)
    first = item(choices=("none of the above", "a cup", "a lamp"), answer="B")
    assert ("refers-to-choices", "warning") in reasons(first)
    letters = item(choices=("a cup", "a lamp", "Both A and B"))
    assert ("refers-to-choices", "warning") in reasons(letters)
    named = item("Who of A, B and C lifts it?", choices=("A and B", "nobody", "somebody else"))
    assert ("letters-as-names", "note") in reasons(named)
    assert not any(kind == "refers-to-choices" for kind, _ in reasons(named))


def test_an_answer_in_the_question():
    told = item("Somebody says that the answer is 7. How many are there?", choices=("7", "8", "9"))
    assert ("answer-in-question", "severe") in reasons(told)
    named = item("Who is next to the red car, the driver?", choices=("the driver", "a child", "nobody"))
    assert ("answer-in-question", "warning") in reasons(named)
    either = item("Is it the red car or the blue van?", choices=("the red car", "a van", "nobody"))
    assert ("answer-in-question", "note") in reasons(either)
    both = item("The red car or the blue van?", choices=("red car", "blue van", "nobody"))
    assert not any(kind == "answer-in-question" for kind, _ in reasons(both))
    short = item("How many of the 3 are red?", choices=("3", "2", "1"))
    assert not any(kind == "answer-in-question" for kind, _ in reasons(short))
    free = item("Is the car parked?", choices=(), answer="parked")
    assert ("answer-in-question", "note") in reasons(free)


def test_letters_and_choices_in_the_question():
    assert ("letter-in-question", "warning") in reasons(item("Is option A the thing?"))
    assert ("letter-in-question", "note") in reasons(item("Is option B the thing?"))
    listed = item("What is it?\nA. a cup\nB. a chair\nC. a lamp")
    assert ("choices-in-question", "warning") in reasons(listed)
    assert ("letters-as-names", "note") in reasons(item("What does person B lift?"))
    assert not any(kind.startswith("letter") for kind, _ in reasons(item("A man, vitamin-B in hand: what?")))
    assert reasons(item("What is with person B?", choices=(), answer="a cup")) == set()


@pytest.mark.parametrize(
    ("text", "kind", "severity"),
    [
        ("Who is in the cafÃ©?", "garbled", "warning"),
        ("Who is it\ufffd?", "garbled", "warning"),
        ("Who is\u200b it?", "invisible", "warning"),
        ("Who is \u202eit?", "invisible", "warning"),
        ("Who lifts {object_name}?", "placeholder", "warning"),
        ("Who lifts &amp; drops it?", "markup", "note"),
        ("Who is the m\u0430n?", "mixed-script", "warning"),
    ],
)
def test_texts_that_are_not_sound(text, kind, severity):
    assert (kind, severity) in reasons(item(text))


@pytest.mark.parametrize(
    "text",
    [
        "Was ist in der Küche, „Ärger“ oder Öl?",
        "视频中的人在做什么?",
        "What is $I_{total} = \\frac{a}{b}$, with {I_0}?",
        "What does jω mean — a café: “CAFÉ…”?",
        "Who is it 👨‍👩‍👧?",
    ],
)
def test_texts_that_are_sound(text):
    assert reasons(item(text)) == set()


def test_the_right_choice_must_not_stand_out():
    long = item(choices=("a very long and careful description of it", "a cup", "a lamp"))
    assert ("odd-length", "warning") in reasons(long)
    short = item(choices=("yes", "a very long and careful description", "another careful description of"))
    assert ("odd-length", "warning") in reasons(short)
    odd = item(choices=("745", "a cup", "a lamp"))
    assert ("odd-kind", "warning") in reasons(odd)
    wrong = item(choices=("745", "a cup", "a lamp"), answer="B")
    assert ("odd-kind", "note") in reasons(wrong)
    declined = item(choices=("4", "5", "cannot be determined"))
    assert not any(kind == "odd-kind" for kind, _ in reasons(declined))
    assert ("placeholder", "warning") in reasons(item(choices=("nan", "a cup", "a lamp"), answer="B"))
    two = reasons(item(choices=("7", "a long walk along the river bank"), answer="A"))
    assert not {kind for kind, _ in two} & {"odd-kind", "odd-length"}


def test_a_choice_of_a_menu_may_stand_out():
    menu = ("Neither of the two colours that are named above can be seen", "red", "blue")
    right = item("Which colour has it?", menu, answer="A")
    wrong = [item(f"Which colour has {n}?", menu, answer="B", item_id=f"{n}") for n in range(2)]
    assert ("odd-length", "warning") not in reasons(right, *wrong)
    assert ("odd-length", "warning") in reasons(right, *wrong[:1]), "it is right in half of the questions"


def test_evidence_and_media():
    shown = (Media(path="v.mp4", start_s=0, end_s=10),)
    outside = item(media=shown, evidence=(Evidence(start_s=12, end_s=14),))
    assert ("evidence-outside", "severe") in reasons(outside)
    assert ("no-media", "warning") in reasons(item(media=()))
    others = [
        item(item_id=str(i), question=f"What is {i}?", evidence=(Evidence(start_s=1),)) for i in range(3)
    ]
    assert ("no-evidence", "note") in reasons(item(), *others)
    missing = audit_items([item(), others[0]], missing=frozenset({"q"}))
    assert [r.kind for r in missing.reasons["q"]] == ["missing-media"]
    assert audit_items([item()], missing=frozenset({"q"})).reasons == {}


def test_nothing_to_audit_is_refused():
    unlike = item("Why does nobody come in after all?", item_id="other", choices=("rain", "snow", "fog"))
    found = audit_items([item(), item(item_id="again"), unlike])
    assert found.twins.groups == (("q", "again"),)
    card = make_card("set", audit_items([item(choices=(), answer="a cup")]), seed=0, level=0.95)
    assert card.key is None  # an open question has none
    assert "letters" not in {entry.key for entry in card_sheet(card).rows}
    with pytest.raises(UsageError, match="no question to audit"):
        audit_items([])


def made(items, **more):
    return make_card("set", audit_items(items, **more), seed=0, level=0.95)


def test_the_card_has_ten_checks_and_says_what_is_wrong():
    items = [
        item(item_id=str(i), question=f"What is number {i}?", media=(Media(path=f"{i}.mp4"),), answer="A")
        for i in range(40)
    ]
    card = made(items, problems=["q.jsonl:3: choices: none"], notes=["an odd note"])
    verdicts = {entry.key: entry.values[0] for entry in card_sheet(card).rows}
    assert verdicts["letters"] == "bad"  # A is always right
    assert verdicts["popular"] == "bad"  # so is "a cup"
    assert verdicts["choices"] == "good"
    assert verdicts["sound"] == "bad"
    assert len(verdicts) == 10
    assert card.n_severe == 1
    assert card.suspects[0].item_id == "q.jsonl:3"
    assert card.suspects[0].reasons[0].says == "choices: none"
    assert "40 questions about 40 videos" in card.sentences()[0]
    assert card.sentences()[1] == "An odd note."


def test_foreign_texts_are_data_in_every_file():
    evil = item("<script>alert(1)</script> =2+2 {object_name}?", item_id="=cmd", choices=("a", "a", "[b](c)"))
    card = made([evil])
    assert "<script>alert" not in audit_page(card)
    assert "\n=cmd" not in suspects_csv(card.suspects)
    whole = json.loads(audit_json(card))
    assert whole["format"] == "vidence-item-audit/1"
    assert whole["suspects"][0]["item_id"] == "=cmd"
    assert whole["suspects"][0]["severity"] == "severe"


def test_a_rule_on_a_few_questions_is_never_bad():
    items = [
        item(item_id=str(i), question=f"How many of kind {i}?", media=(Media(path=f"{i}.mp4"),), **more)
        for i, more in enumerate([{"choices": ("1", "2", "3"), "answer": "B"}] * 4)
    ]
    card = made(items)
    verdicts = {entry.key: entry.values[0] for entry in card_sheet(card).rows}
    assert verdicts["numbers"] == "not known"
    assert not beats_guessing(next(rule for rule in card.key.rules if rule.key == "median"))
