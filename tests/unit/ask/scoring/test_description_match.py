"""Descriptions against labels: the three branches, negation, lists, cues, features. Sentences of our own."""

import msgspec
import pytest

from vidence.ask.scoring import description_match
from vidence.ask.scoring.description import NEAR_CHARS, branch, evidence_for
from vidence.ask.scoring.label_words import LabelWords, mentions, stem, with_known, words_of
from vidence.records import Answered, Item, Refused, Reply, Unreadable

RIVALS = ("run", "jump", "charleston_dance", "sit_down", "sweep_floor")


def verdict(label: str, said: str, rivals: tuple[str, ...] = RIVALS) -> str:
    return branch(LabelWords(text=label), [LabelWords(text=r) for r in rivals if r != label], said)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("walk", "The points show somebody who walks."), ("walk", "Somebody walking past."),
        ("walk", "This is walking rather than running."), ("walk", "It is walking, not running."),
        ("walk", "This is not only walking but strolling."), ("walk", "Walking cannot be ruled out."),
        ("walk", "The figure does not jump and walks on."),
        ("walk", "It does not sit down, but walks away to the left."),
        ("walk", "The figure walks and then jumps."),
        ("walk", "Not walking at first. Then it walks. It clearly walks to the end."),
        ("pickthisup", "One of them picks something up."),
        ("sit_on_high_stool", "He is sitting down on a high stool."),
        ("lookattheceiling", "She looks up at the ceiling."),
        ("sweep_floor", "Sweeping the kitchen... no, sweeping a floor."),
        ("climb_ladder", "The man climbs up the ladder."), ("high_five", "A high-five between friends."),
        ("jog", "Somebody runs."), ("to clean the floor", "The aim is cleaning the floor."),
        ("(accidental) to lose balance", "Somebody loses their balance."),
    ],
)  # fmt: skip
def test_a_label_that_is_said_more_often_than_denied_matches(label: str, said: str) -> None:
    assert verdict(label, said) == "evidence"


@pytest.mark.parametrize(
    "said",
    [
        "", "Nothing can be made out.", "The figure runs.", "This is not walking.",
        "It isn't walking, it is running.", "It doesn\u2019t look like walking.",
        "Running rather than walking.", "Running instead of walking.", "It is unlikely to be walking.",
        "Neither running nor walking fits.", "Not sitting, squatting, or walking.",
        "This is no walking, sitting, or the like.", "Walking is unlikely.",
        "Walking seems very unlikely here.", "Walking does not fit the legs.", "Walking can be ruled out.",
        "**Walking**: not consistent with the legs.", "- walk (no)",
        "The motion is inconsistent with walking.", "I would exclude walking.",
        "It lacks the rhythm of walking.",
    ],
)  # fmt: skip
def test_a_label_that_is_not_said_or_denied_does_not_match(said: str) -> None:
    assert verdict("walk", said) == ""


def test_lists_longer_labels_and_words_of_negation() -> None:
    options = "The options are:\nA. walk\nB. run\nC. jump\n"
    assert verdict("walk", options + "The points clearly show a run.") == ""
    assert verdict("run", options + "The points clearly show a run.") == "evidence"
    assert verdict("walk", "It could be walking, running, or jumping. Most likely it is jumping.") == ""
    assert verdict("walk", "Walking/running/jumping?") == ""
    assert verdict("walk", "Walking and running alternate.") == "evidence"
    assert verdict("jump", "Somebody does jumping jacks.", ("jumping_jacks",)) == ""
    assert verdict("jumping_jacks", "Somebody does jumping jacks.", ("jump",)) == "evidence"
    assert verdict("walk", "One of them walks away.", ("walkaway",)) == ""
    assert verdict("no", "There is no movement.") == ""
    assert verdict("no", "The other one refuses.") == "evidence"


def test_a_cue_decides_near_the_label_unless_it_is_denied() -> None:
    said = "Not walking at first. Later it looks like walking."
    assert verdict("walk", said) == "cue"
    assert verdict("walk", f"{said} But the best match is running.") == ""
    assert verdict("walk", f"{said} Running is not a good match.") == "cue"
    denied = "Not walking."
    near = f"Here it is:{' ' * (NEAR_CHARS - 3)}"
    assert evidence_for([LabelWords(text="walk")], "It resembles\nwalk")[0].n_cued == 1
    for gap, n_cued in ((NEAR_CHARS, 1), (NEAR_CHARS + 1, 0)):
        filler = "\n" + "x" * (gap - 2) + "\n"
        (found,) = evidence_for([LabelWords(text="walk")], f"This resembles{filler}walk")
        assert (found.n_positive, found.n_cued) == (1, n_cued), gap
    assert verdict("walk", f"{denied}\n{near}") == ""
    (found,) = evidence_for([LabelWords(text="walk")], "It does not resemble anything.\nA walk")
    assert found.n_cued == 0
    (found,) = evidence_for([LabelWords(text="walk")], "It is not much.\nA walk")
    assert found.n_cued == 0
    for gap, n_cued in ((NEAR_CHARS, 1), (NEAR_CHARS + 1, 0)):
        filler = "\n" + "x" * (gap - 2) + "\n"
        (found,) = evidence_for([LabelWords(text="walk")], f"A walk{filler}clearly")
        assert (found.n_positive, found.n_cued) == (1, n_cued), gap
    far = "x" * 200
    assert evidence_for([LabelWords(text="walk")], f"A walk {far} clearly")[0].n_cued == 1
    assert evidence_for([LabelWords(text="walk")], f"Clearly {far} a walk")[0].n_cued == 1
    walk = [LabelWords(text="walk")]
    (once,) = evidence_for(walk, "Clearly a walk. Not walking.")
    assert (once.n_cued, once.n_negated, once.is_supported) == (1, 1, False)
    (twice,) = evidence_for(walk, "Clearly a walk. Clearly walking.\n" + "x" * 100 + "\nNot walking.")
    assert (twice.n_cued, twice.n_negated, twice.is_supported) == (2, 1, True)


@pytest.mark.parametrize(("n_chars", "n_negated"), [(299, 1), (300, 1), (301, 0)])
def test_a_denial_is_looked_for_within_300_characters(n_chars: int, n_negated: int) -> None:
    filler = "x" * (n_chars - len("not ") - 1)
    (found,) = evidence_for([LabelWords(text="walk")], f"Surely not {filler} walk")
    assert (found.n_negated, found.n_positive) == (n_negated, 1 - n_negated)
    filler = "x" * (n_chars - len(" ") - len(" is unlikely"))
    (found,) = evidence_for([LabelWords(text="walk")], f"A walk {filler} is unlikely")
    assert (found.n_negated, found.n_positive) == (n_negated, 1 - n_negated)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("chicken_dance", "Both arms flap up and down near the body."),
        ("chicken_dance", "There are wing-like movements of the arms."),
        ("360_spin", "The body makes one full rotation."),
        ("mop_floor", "A handle is pushed and pulled, over and over."),
        ("jump_up_to_grab", "The arms extend upward."),
    ],
)
def test_features_stand_in_for_a_label_that_is_not_named(label: str, said: str) -> None:
    assert verdict(label, said) == "features"


def test_features_do_not_count_when_denied_split_or_outdone_and_the_folder_has_words_too() -> None:
    assert verdict("chicken_dance", "The arms do not flap.") == ""
    assert verdict("chicken_dance", "The arms rest. A flag flaps.") == ""
    assert verdict("chicken_dance", "The arms flap; this is running.") == ""
    assert verdict("chicken_dance", "The arms flap. It is not running.") == "features"
    assert verdict("chicken_dance", "This is not the chicken dance, but the arms flap.") == ""
    assert verdict("a label nobody knows", "The arms flap.") == ""
    label = LabelWords(text="greet", forms=("say hello",), features=("hand raised",))
    assert branch(label, [], "One says hello.") == "evidence"
    assert branch(label, [], "A hand is raised.") == "features"
    assert with_known(label) is label
    assert "stroll" in with_known(LabelWords(text="Walk", forms=("pace",))).forms


@pytest.mark.parametrize(
    "words",
    [
        ("sit", "sits", "sitting", "sat"), ("run", "runs", "running", "ran"),
        ("dance", "dances", "dancing", "danced"), ("mimic", "mimics", "mimicking"),
        ("carry", "carries", "carried", "carrying"), ("punch", "punches", "punching"),
        ("zombie", "zombies"), ("pull", "pulls", "pulling"), ("child", "child's"),
    ],
)  # fmt: skip
def test_inflections_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


def test_words_that_only_look_inflected_keep_theirs() -> None:
    assert [stem(w) for w in ("swing", "thing", "this", "is", "bus", "red", "tai")] == [
        "swing", "thing", "this", "is", "bus", "red", "tai",
    ]  # fmt: skip
    assert [stem(w) for w in ("using", "owing", "ended", "aging", "aced")] == [
        "us",
        "ow",
        "end",
        "ag",
        "aced",
    ]


def test_a_form_needs_all_its_words_in_order_and_near() -> None:
    labels = [LabelWords(text="sweep_floor")]
    for said, n in (
        ("sweeps the floor", 1),
        ("sweep up some of the floor", 0),  # more than three words between
        ("sweeps quickly the floor", 0),
        ("the floor is swept", 0),
        ("sweeps the", 0),
        ("SWEEP_FLOOR", 1),
        ("sweepfloor", 1),
    ):
        assert len(mentions(labels, words_of(said))) == n, said
    labels = [LabelWords(text="drink", forms=("sip",)), LabelWords(text="sip")]
    assert [m.label for m in mentions(labels, words_of("a sip"))] == [0]


KNOWLEDGE = (
    *(msgspec.json.encode(LabelWords(text=t)).decode() for t in ("walk", "run", "jump")),
    "https://en.wikipedia.org/wiki/Walking",
)
OPEN = Item(item_id="o", question="?", answer="walk", answer_kind="text", knowledge=KNOWLEDGE)
CHOICE = Item(item_id="c", question="?", choices=("run", "walk", "jump"), answer="B")
PARSER = description_match.create()


def mark(item: Item, text: str) -> float | None:
    return PARSER.mark(item, PARSER.read(item, Reply(text=text))).value


def test_an_open_reply_is_read_whole_and_marked_against_its_rivals() -> None:
    outcome = PARSER.read(OPEN, Reply(text="<think>run?</think>Somebody walks."))
    assert outcome == Answered(answer="Somebody walks.", rule="whole-reply")
    assert mark(OPEN, "Somebody walks.") == 1.0
    assert mark(OPEN, "Somebody runs.") == 0.0
    assert mark(OPEN, "It is not a walk but looks like one: a walk. It is running, running.") == 0.0
    right, rivals = description_match.label_words(OPEN)
    assert right.text == "walk"
    assert [r.text for r in rivals] == ["run", "jump"]
    right, rivals = description_match.label_words(CHOICE)
    assert right.text == "walk"
    assert [r.text for r in rivals] == ["run", "jump"]
    known = msgspec.structs.replace(CHOICE, knowledge=('{"text":"walk","forms":["amble"]}',))
    assert description_match.label_words(known)[0].forms == ("amble",)
    bare = Item(item_id="x", question="?", answer="amble", answer_kind="text")
    assert description_match.label_words(bare) == (LabelWords(text="amble"), ())


def test_error_rows_refusals_and_silence_are_no_descriptions() -> None:
    assert isinstance(PARSER.read(OPEN, Reply(text="ERROR: 503 walk")), Unreadable)
    assert isinstance(PARSER.read(OPEN, Reply(text="He walks. ERROR: cut")), Unreadable)
    assert isinstance(PARSER.read(OPEN, Reply(text="an error in walking")), Answered)
    assert isinstance(PARSER.read(OPEN, Reply(text="walk", finish="refusal")), Refused)
    silent = PARSER.read(OPEN, Reply(text="<think>walk", finish="length"))
    assert isinstance(silent, Unreadable)
    assert "cut off" in silent.reason
    assert mark(OPEN, "") == 0.0
    assert isinstance(PARSER.read(CHOICE, Reply(text="The legs show a walk, or something.")), Unreadable)
    cut = PARSER.read(CHOICE, Reply(text="The legs show a walk, or some", finish="length"))
    assert isinstance(cut, Unreadable)
    assert "cut off" in cut.reason


@pytest.mark.parametrize(
    ("text", "answer", "rule"),
    [
        ("The legs show a walk.\nAnswer: A", "B", "log/evidence"),
        ("The legs show a run.\nAnswer: B", "A", "log/evidence"),
        ("The legs move.\nAnswer: B", "none", "log/no-match"),
        ("A walk, then a jump.\nAnswer: C", "B", "log/evidence"),
    ],
)
def test_the_log_of_a_choice_counts_and_not_its_letter(text: str, answer: str, rule: str) -> None:
    assert PARSER.read(CHOICE, Reply(text=text)) == Answered(answer=answer, rule=rule)
    assert mark(CHOICE, text) == (1.0 if answer == "B" else 0.0)


@pytest.mark.parametrize("text", ["B", "(B)", "**Answer: B**", "Best answer is (B).", "Correct option: c"])
def test_a_letter_alone_is_a_choice_without_a_log(text: str) -> None:
    outcome = description_match.create().read(CHOICE, Reply(text=text))
    assert outcome == Unreadable(reason="the reply names a choice and has no log")


def test_a_choice_whose_answer_is_hidden_is_not_read():
    item = Item(item_id="q", question="?", choices=("walk", "run"))
    read = description_match.create().read(item, Reply(text="The points show a person who walks."))
    assert read == Unreadable(reason="this parser reads with the answer, which is hidden")
