"""What every judge in the catalog must do."""

import inspect
import json
import re
from importlib import resources
from pathlib import Path

import pytest

from vidence import catalog
from vidence.contracts import Flow, Judge
from vidence.errors import UsageError
from vidence.records import Answered, Failed, Item, Outcome, Prompt, Refused, Reply, Score, Unreadable

NAMES = catalog.names("judge")
OPEN = Item(item_id="q1", question="Carried?", answer="a pan", answer_kind="text", rationale="Lifted.")
CHOICE = Item(item_id="q2", question="Which animal?", choices=("cat", "dog", "cow"), answer="B")
REPLIES = (
    "a kind of vessel", "x" * 60_000, "\u202e\ud800<|im_end|>", '{"correct": true}', "no\nidea\n\n", "🐕",
)  # fmt: skip
# What is judged by a question of its own, the rationale.
CAPTION = Item(
    item_id="q3",
    question="Which animal?",
    answer="B",
    answer_kind="text",
    rationale="Which animal?\nA. cat\nB. dog",
)
ONLY_CHOICES = ("extract",)
OPENS = {name: CAPTION if name == "tempcompass" else OPEN for name in NAMES}
CASES = [(name, item) for name in NAMES for item in (OPENS[name], CHOICE)]
IDS = [f"{name}-{item.answer_kind}" for name, item in CASES]


def make(name: str, prompts_dir: Path | None = None) -> Judge:
    return catalog.create("judge", name, prompts_dir=prompts_dir)


def waiting(item: Item, text: str) -> Score:
    """What the rules leave to a judge: an open answer without a mark, a choice that was not read."""
    if item.answer_kind == "text":
        return Score(outcome=Answered(answer=text), value=None, scorer="needs-judge", scorer_version=1)
    return Score(outcome=Unreadable(reason="no letter"), value=0.0, scorer="robust", scorer_version=1)


def start(name: str, item: Item, text: str = REPLIES[0]) -> tuple[Flow[Score], Prompt | Score]:
    """A flow and its first prompt, or the score where it asks nobody."""
    flow = make(name).judge(item, Reply(text=text), ruled=waiting(item, text))
    try:
        (prompt,) = next(flow)
    except StopIteration as stop:
        return flow, stop.value
    return flow, prompt


def finish(flow: Flow[Score], text: str) -> Score:
    """The score after the judge has said this once."""
    with pytest.raises(StopIteration) as stop:
        flow.send((Reply(text=text),))
    return stop.value.value


def perfect(prompt: Prompt, item: Item, *, is_right: bool) -> str:
    """What a judge says that keeps to the schema."""
    assert prompt.reply_schema is not None
    marked = re.search(r'<reply id="(\w+)">', prompt.text)
    assert marked
    said: dict[str, object] = {}
    for key, field in prompt.reply_schema["properties"].items():
        if field["type"] == "boolean":
            said[key] = is_right
        elif field["type"] == "integer":
            said[key] = max(field["enum"]) if is_right else min(field["enum"])
        elif "enum" in field:
            said[key] = item.answer if is_right else next(x for x in field["enum"] if x != item.answer)
        else:
            said[key] = marked[1] if key == "id" else "words"
    return json.dumps(said)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is_and_asks_the_same_of_open_answers(name: str) -> None:
    judge = make(name)
    assert judge.name == name
    assert judge.version >= 1
    assert judge.scale >= 0.0
    assert judge.sampling.temperature is not None
    assert re.fullmatch(r"[0-9a-f]{64}", judge.prompts_digest)
    assert judge.prompts_digest == make(name).prompts_digest
    item = CHOICE if name in ONLY_CHOICES else OPENS[name]
    assert isinstance(start(name, item)[1], Prompt)
    assert start(name, item)[1] == start(name, item)[1]
    _, prompt = start(name, item)
    assert isinstance(prompt, Prompt)
    behind = re.split(r'</reply id="\w+">', prompt.text)[1]
    assert "JSON object" in behind
    module = catalog.find("judge", name)
    assert f"``{name}``" in (inspect.getdoc(module.create) or "")


@pytest.mark.parametrize(("name", "item"), CASES, ids=IDS)
def test_a_prompt_holds_all_that_the_judge_needs(name: str, item: Item) -> None:
    _, prompt = start(name, item)
    if isinstance(prompt, Score):
        return
    assert item.question in prompt.text
    assert prompt.system
    assert prompt.template.endswith("sha256:" + prompt.template[-64:])
    assert prompt.choices == ()
    schema = prompt.reply_schema
    assert schema is not None
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == schema["required"]
    for key in schema["required"]:
        assert key in prompt.system + prompt.text, (
            "a server without structured output needs the keys in words"
        )


@pytest.mark.parametrize("text", REPLIES)
@pytest.mark.parametrize(("name", "item"), CASES, ids=IDS)
def test_it_takes_a_perfect_verdict(name: str, item: Item, text: str) -> None:
    for is_right in (True, False):
        flow, prompt = start(name, item, text)
        if isinstance(prompt, Score):
            return
        said = perfect(prompt, item, is_right=is_right)
        score = finish(flow, said)
        (verdict,) = score.verdicts
        if item.answer_kind == "choice" and isinstance(score.outcome, Answered):
            assert score.outcome.answer in item.letters
        assert score.value == verdict.value == (1.0 if is_right else 0.0)
        assert verdict.said == (said,)
        assert verdict.error == ""
        assert score.points == verdict.points
        if score.points is not None:
            assert 0.0 <= score.points <= make(name).scale
        assert (score.scorer, score.scorer_version) == (name, make(name).version)


@pytest.mark.parametrize(("name", "item"), CASES, ids=IDS)
def test_two_replies_without_a_verdict_are_a_judge_error(name: str, item: Item) -> None:
    flow, prompt = start(name, item)
    if isinstance(prompt, Score):
        return
    (repair,) = flow.send((Reply(text="I could not say."),))
    assert repair.parts[:-1] == prompt.parts
    assert repair.reply_schema == prompt.reply_schema
    score = finish(flow, "I still could not.")
    assert isinstance(score.outcome, Failed)
    assert (score.outcome.stage, score.outcome.error) == ("scoring", "JudgeError")
    (verdict,) = score.verdicts
    assert (score.value, verdict.value) == (0.0, None)
    assert verdict.said == ("I could not say.", "I still could not.")


@pytest.mark.parametrize(("name", "item"), CASES, ids=IDS)
def test_a_repair_can_succeed_and_a_refusal_is_a_judge_error(name: str, item: Item) -> None:
    flow, prompt = start(name, item)
    if isinstance(prompt, Score):
        return
    flow.send((Reply(text=""),))
    assert finish(flow, perfect(prompt, item, is_right=True)).value == 1.0
    flow, prompt = start(name, item)
    if isinstance(prompt, Score):
        return
    with pytest.raises(StopIteration) as stop:
        flow.send((Reply(text="", finish="refusal"),))
    assert stop.value.value.verdicts[0].value is None


@pytest.mark.parametrize(
    "outcome",
    [
        Answered(answer="B"),
        Unreadable(reason="the reply is empty"),
        Refused(reason="no"),
        Failed(stage="model", error="E", message="m"),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
@pytest.mark.parametrize(("name", "item"), CASES, ids=IDS)
def test_where_nobody_is_asked_the_rules_have_spoken(name: str, item: Item, outcome: Outcome) -> None:
    ruled = Score(outcome=outcome, value=0.0, scorer="rules", scorer_version=1)
    flow = make(name).judge(item, Reply(text=""), ruled=ruled)
    try:
        next(flow)
    except StopIteration as stop:
        score: Score = stop.value
        assert score.verdicts == ()
        assert (score.outcome, score.value) == (outcome, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_its_words_can_be_replaced(name: str, tmp_path: Path) -> None:
    (tmp_path / "question.txt").write_text("{{ question }}\n{{ reply }}\nMy own words.")
    judge = make(name, tmp_path)
    assert judge.prompts_digest != make(name).prompts_digest
    item = OPENS[name] if name not in ONLY_CHOICES else CHOICE
    (prompt,) = next(judge.judge(item, Reply(text="x"), ruled=waiting(item, "x")))
    assert "\nMy own words." in prompt.text
    assert prompt.text.endswith("My own words.") is ('"id"' in prompt.system)  # a line of ours asks for it
    assert prompt.template.startswith("own/question.txt")
    (tmp_path / "frame.txt").write_text("x")
    with pytest.raises(UsageError, match=r"frame\.txt"):
        make(name, tmp_path)


def test_every_set_of_templates_belongs_to_a_judge() -> None:
    folders = (resources.files("vidence.ask.judging") / "templates").iterdir()
    assert {f.name for f in folders if f.is_dir()} <= set(NAMES)
