"""Every set of prompts, in every style, for both kinds of questions.

The files in ``tests/golden/prompts`` were read by a person. To change a prompt on purpose, change its
template, write the new text there by hand and read it again.
"""

from pathlib import Path

import pytest

from vidence import catalog
from vidence.ask.prompting.templates import ASIDES, QUESTION_NAMES, Templates, choices_of, sets
from vidence.records import Answered, Item, Reply

GOLDEN = Path(__file__).parents[1] / "golden" / "prompts"
CHOICE = Item(
    item_id="q1",
    question="Who leaves the room first?\nCount from the moment the door opens.",
    choices=("The cook", "The woman in grey", "Nobody {yet}", "A dog & its owner"),
    answer="B",
)
OPEN = Item(item_id="q2", question="What does the cook carry?", answer="a pan", answer_kind="text")

# The line that each prompt asks for, as the papers fix it; "{}" is where the answer goes.
# Empty where the reply is to be the answer alone.
ASKED_BY_SET = {  # of choice-direct, choice-cot, open-direct, open-cot
    "plain": ("Answer: {}",) * 4,
    "mmvu": ("", "Therefore, the final answer is: ${}", "", "Therefore, the final answer is: Answer: ${}"),
    "perceptioncomp": ("<answer>{}</answer>", "<think>…</think>\n<answer>{}</answer>") * 2,
    "perceptioncomp-custom": ("Answer: {}",) * 4,
    "herbench": ("", "Answer: {}", "", "Answer: {}"),
    "humanpcr": ("", "FINAL ANSWER: ${}", "", 'Therefore, the final answer is: "Answer: ${}"'),
    "actpld": ("Answer: {}", "Answer: {}", "", "Answer: {}"),
}
NAMES = ("choice-direct", "choice-cot", "open-direct", "open-cot")
ASKED = {(s, n): said for s, every in ASKED_BY_SET.items() for n, said in zip(NAMES, every, strict=True)}
OFFICIAL_READERS = {
    "herbench": ("herbench-official",),
    "perceptioncomp": ("perceptioncomp-api", "perceptioncomp-gemini", "perceptioncomp-custom"),
    "perceptioncomp-custom": ("perceptioncomp-api", "perceptioncomp-gemini", "perceptioncomp-custom"),
}
CASES = [(set_name, name) for set_name in sets() for name in QUESTION_NAMES]


def rendered(set_name: str, name: str) -> str:
    item = CHOICE if name.startswith("choice") else OPEN
    return Templates.load(set_name).fill(name, item, n_frames=16, duration_s=12.5)


def line_asked_for(set_name: str, name: str) -> str:
    """The line as the template shows it to the model."""
    asked = ASKED[set_name, name]
    if "${}" in asked:
        return asked.replace("{}", "LETTER" if name.startswith("choice") else "ANSWER")
    return asked.replace("{}", "X")


@pytest.mark.parametrize(("set_name", "name"), CASES)
def test_the_question_its_choices_and_the_marker_are_there(set_name: str, name: str) -> None:
    text = rendered(set_name, name)
    item = CHOICE if name.startswith("choice") else OPEN
    assert item.question in text
    lines = text.split("\n")
    for letter, choice in zip(item.letters, item.choices, strict=True):
        assert f"{letter}. {choice}" in lines or f"{letter}: {choice}" in lines
    assert "\n\n\n" not in text
    assert text == text.strip()
    asked = line_asked_for(set_name, name)
    assert asked in rendered(set_name, name)
    others = {line_asked_for(set_name, n) for n in QUESTION_NAMES} - {asked, ""}
    assert all(other in asked or other not in rendered(set_name, name) for other in others)
    expected = (GOLDEN / f"{set_name}.{name}.txt").read_text("utf-8")
    assert rendered(set_name, name) + "\n" == expected


@pytest.mark.parametrize("dollar", ["$", ""])
@pytest.mark.parametrize(("set_name", "name"), [case for case in CASES if case[1].startswith("choice")])
def test_a_reply_that_does_as_asked_is_read(set_name: str, name: str, dollar: str) -> None:
    asked = (ASKED[set_name, name] or "{}").replace("$", dollar)
    for parser in ("robust", *OFFICIAL_READERS.get(set_name, ())):
        scorer = catalog.create("parser", parser)
        for letter in CHOICE.letters:
            reply = asked.format(letter)
            if name.endswith("cot"):
                reply = f"The cook stays.\n{reply}"
            outcome = scorer.read(CHOICE, Reply(text=reply))
            assert isinstance(outcome, Answered), (parser, reply)
            assert outcome.answer == letter, (parser, reply)


@pytest.mark.parametrize("name", ASIDES)
def test_what_is_asked_besides_is_what_was_read_by_a_person(name: str) -> None:
    """Scores and objects that models named before are remembered by these words."""
    values = {
        "question": CHOICE.question,
        "n_frames": 8,
        "hints": "Look for what happens just before.\nSomebody else has a part in it.",
        "choices": choices_of(CHOICE),
        "reply": '<reply id="0123456789abcdef">\n"The cook.\\nAnswer: A"\n</reply id="0123456789abcdef">',
        "n_replies": "2",
        "block_id": "0123456789abcdef",
        "problem": "'score' is missing; expected a whole number from 0 to 4",
        "trail": "[Answer 1]\nAnswer: A\n\n[Review 1]\nLook at the door again.",
        "has_review": "yes",
        "n": "3",
        "first": "<first>",
        "second": "<second>",
        "log": "<log>",
        "is_all": "",
        "subtitles": "The water boils.\nNow add {the salt}.",
    }
    expected = (GOLDEN / f"every-set.{name}.txt").read_text("utf-8")
    assert Templates.load("plain").say(name, values) + "\n" == expected


def test_every_golden_prompt_belongs_to_a_template() -> None:
    names = [f"{s}.{n}" for s, n in CASES] + [f"every-set.{name}" for name in ASIDES]
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == sorted(names)
