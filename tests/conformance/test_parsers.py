"""What every parser in the catalog must do."""

from pathlib import Path

import pytest

from vidence import catalog
from vidence.contracts import Scorer
from vidence.records import Answered, Failed, Item, Outcome, Refused, Reply, Score, Unreadable

NAMES = catalog.names("parser")
FUNCTIONS = Path(__file__).parents[1] / "subjects" / "functions.py"
ARGUMENTS = {"python": f"python:{FUNCTIONS}:letter"}
CHOICE = Item(item_id="q1", question="Which?", choices=("cat", "dog", "cow", "hen", "pig"), answer="B")
OPEN = Item(item_id="q2", question="Which?", answer="dog", answer_kind="text")
NUMBER = Item(item_id="q3", question="How many?", answer="7", answer_kind="text")
REPLIES = (
    "B", "", " ", "\n", "B.", "<answer>B</answer>", "Answer: B", "dog", "ERROR: 429", "x" * 5000, "\u0000",
    "\ud800", "A or B", "<think>", "{}", "\\boxed{", "(" * 500, "B " * 500, "не знаю", "🐕",
)  # fmt: skip


def make(name: str) -> Scorer:
    return catalog.create("parser", ARGUMENTS.get(name, name))


def item_for(name: str) -> Item:
    if name == "mra":
        return NUMBER
    return OPEN if name in {"needs-judge", "description-match", "same-text"} else CHOICE


@pytest.mark.parametrize("text", REPLIES)
@pytest.mark.parametrize("name", NAMES)
def test_any_reply_has_an_outcome_and_a_score(name: str, text: str) -> None:
    scorer, item = make(name), item_for(name)
    outcome = scorer.read(item, Reply(text=text))
    assert isinstance(outcome, Answered | Unreadable)
    if isinstance(outcome, Answered):
        assert outcome.answer
        assert outcome.rule
    else:
        assert outcome.reason
    score = scorer.mark(item, outcome)
    assert (score.outcome, score.scorer, score.scorer_version) == (outcome, scorer.name, scorer.version)
    assert score.value in (0.0, 1.0) or (score.value is None and name == "needs-judge")


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_answer_is_read_twice_the_same_and_a_refusal_is_one(name: str) -> None:
    plain = "7" if name == "mra" else "B"
    reply = Reply(text=plain, choice_logps={"A": -3.0, "B": -0.1})
    outcome = make(name).read(item_for(name), reply)
    assert isinstance(outcome, Answered)
    assert outcome.answer == plain
    scorer, item = make(name), item_for(name)
    assert scorer.read(item, Reply(text="Answer: B")) == scorer.read(item, Reply(text="Answer: B"))
    scorer, item = make(name), item_for(name)
    for reply in (Reply(text="B", finish="refusal"), Reply(text="B", refusal="no")):
        assert isinstance(scorer.read(item, reply), Refused)
    scorer = make(name)
    assert scorer.name.partition(":")[0] == name
    assert scorer.version >= 1
    assert isinstance(scorer.reads_letters, bool)


@pytest.mark.parametrize(
    "outcome",
    [Unreadable(reason="x"), Refused(reason="x"), Failed(stage="media", error="MediaError", message="x")],
)
@pytest.mark.parametrize("name", NAMES)
def test_no_answer_counts_nothing(name: str, outcome: Outcome) -> None:
    scorer = make(name)
    expected = Score(outcome=outcome, value=0.0, scorer=scorer.name, scorer_version=scorer.version)
    assert scorer.mark(item_for(name), outcome) == expected
