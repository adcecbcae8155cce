"""Functions of a program as parts of a run, from Python and on the command line, on real clips."""

import json
from collections import Counter

import anyio
import pytest

import vidence as package
from vidence.contracts import Answer, Ask
from vidence.errors import AccessError, DataError, StoreError, UnknownNameError, UsageError

LETTERS = "ABC"
ITEMS = [{"item_id": "q", "question": "Question?", "choices": ["x", "y"], "answer": "B"}]


CALLS: Counter[str] = Counter()


def _rows(path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def looks(prompt, images):
    """The brightness of the last frame as a letter."""
    CALLS["looks"] += 1
    assert "Question" in prompt
    grey = images[-1].convert("L").resize((1, 1)).getpixel((0, 0)) if images else 0
    return f"Answer: {LETTERS[grey % 3]}"


async def waits(prompt):
    CALLS["waits"] += 1
    await anyio.sleep(0)
    return "Answer: B"


def last(times_s, n_frames):
    return range(len(times_s) - n_frames, len(times_s))


def after_colon(text):
    return text.rpartition(": ")[2] or None


def best_of_two(question):
    prompt = question.prompt("")
    replies = yield [Ask(prompt=prompt, sample=sample) for sample in range(2)]
    return Answer(prompt=prompt, reply=replies[1], view="")


def test_questions_and_every_part_come_from_the_program(here, questions):
    items = _rows(questions(n_clips=2, n_questions=3))
    CALLS.clear()
    parts = {"selector": last, "parser": after_colon, "strategy": best_of_two}
    run = package.evaluate(items, model=looks, frames=2, **parts)
    assert (len(run), CALLS["looks"]) == (6, 12)
    assert {row.outcome for row in run} == {"answered"}
    assert run.score.n == 6
    [row, *_] = run
    assert [frame.frame_index for frame in row.trial.selection.frames] == [38, 39]
    assert row.score.scorer.startswith("python:after_colon@")
    again = package.evaluate(items, model=looks, frames=2, **parts)
    assert (again.folder, CALLS["looks"]) == (run.folder, 12)
    other = package.evaluate(items, model=looks, frames=2, strategy=best_of_two, selector=last)
    assert (other.folder != run.folder, CALLS["looks"]) == (True, 12)  # the replies are remembered
    assert package.open_run(other.folder, parser=after_colon).score == run.score


def test_a_coroutine_function_is_a_model_that_needs_no_video(here):
    run = package.evaluate(ITEMS, model=waits)
    assert run.score.value == 1.0
    assert package.evaluate("table", data=ITEMS, model=waits).folder == run.folder
    assert "no frames" in run.tables()["score"].note or not run.rows[0].trial.selection


def test_what_holds_values_is_remembered_only_under_a_name(here):
    calls = []

    def model_of(letter):
        def closure(prompt):
            calls.append(letter)
            return letter

        return closure

    runs = [package.evaluate(ITEMS, model=model_of(letter)) for letter in "AB"]
    assert [run.score.value for run in runs] == [0.0, 1.0]
    for out in ("one", "two"):
        package.evaluate(ITEMS, model=package.named("b-1", model_of("B")), out=out)
    assert calls == ["A", "B", "B"]


def test_a_run_of_a_function_is_diagnosed_and_compared(here, questions):
    items = _rows(questions(n_clips=2, n_questions=2))
    first = package.evaluate(items, model=looks, frames=4)
    second = package.evaluate(items, model=waits, frames=4)
    assert first.compare(second).headline.difference.n == 4
    found = package.diagnose("modality", first)
    assert len(found.examined) == 4
    assert len(repr(found)) < 100
    assert len(found._repr_html_()) < 10_000
    examined = package.diagnose("blind-panel?runs=1", items, model=waits).examined
    assert len(examined) == 4


def test_relative_media_start_from_the_folder_of_the_program(here, questions, monkeypatch):
    items = _rows(questions(n_clips=1, n_questions=1))
    assert package.evaluate(items, model=looks, frames=2, out="one").facts.n_planned == 1
    monkeypatch.chdir(here.folder.parent)
    with pytest.raises(DataError, match=r"clip0\.mp4"):
        package.evaluate(items, model=looks, frames=2, out=here.folder / "two")
    media = here.folder
    assert package.evaluate(items, model=looks, frames=2, media=str(media), out=media / "three").score


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"model": lambda frames: "A"}, UsageError, "takes 'frames'. Did you mean 'images'"),
        ({"model": lambda prompt: 1}, AccessError, "returned int 1; expected the reply as a str"),
        ({"model": None}, UsageError, "model= is None; give a function"),
        ({"model": object()}, UsageError, "the model is <object .* expected a function"),
        (
            {"model": waits, "selector": lambda frames: [0]},
            UsageError,
            "the selector lambda.. takes 'frames'",
        ),
        ({"model": waits, "parser": lambda reply, gold: "A"}, UsageError, "takes 'gold'"),
        ({"model": waits, "strategy": lambda q: None}, UsageError, "the strategy lambda.. takes 'q'"),
        ({"model": waits, "n_frame": 3}, UnknownNameError, "Did you mean 'frames'"),
        ({"model": waits, "selector": "midpoint"}, UnknownNameError, "Did you mean 'midpoints'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(here, call, error, message):
    CALLS.clear()
    with pytest.raises(error, match=rf"(?s){message}"):
        package.evaluate(ITEMS, **call)
    assert not CALLS


def test_a_function_in_a_file_is_a_model_of_a_command(here, questions):
    questions(n_clips=1, n_questions=2)
    file = here.folder / "mine.py"
    file.write_text("def answer(prompt, images):\n    return 'ABC'[len(images) % 3]\n")
    words = ("run", "table", "--data", "questions.jsonl", "--frames", "2", "--no-page")
    done = here(*words, "--model", "mine.py:answer", "--out", "one")
    assert done.code == 0, done.err
    assert {trial.reply.text for trial in here.trials("one").values()} == {"C"}
    assert here("resume", "one", "--no-page").code == 0
    done = here(*words, "--model", "mine.py:answre", "--out", "two")
    assert (done.code, "Did you mean 'answer'" in done.err) == (2, True)
    assert not (here.folder / "two").exists()
    run = package.evaluate("questions.jsonl", model="mine.py:answer", frames=2)
    assert all(row.trial.is_remembered for row in run)


def test_every_part_of_a_command_can_be_a_function_in_a_file(here, questions):
    questions(n_clips=1, n_questions=2)
    (here.folder / "mine.py").write_text(
        "def first(n_frames):\n    return range(n_frames)\n\n\n"
        "def letter(text):\n    return text[-1]\n\n\n"
        "def once(question):\n"
        "    from vidence.ask.strategies.once import PLAN, ask\n\n"
        "    return (yield from ask(question, PLAN))\n"
    )
    done = here(
        *("run", "table", "--data", "questions.jsonl", "--frames", "2", "--model", "scripted:is B"),
        *("--selector", "mine.py:first", "--parser", "mine.py:letter", "--strategy", "mine.py:once"),
        *("--out", "one"),
    )
    assert done.code == 0, done.err
    trial = here.trials("one")["0-0"]
    assert [frame.frame_index for frame in trial.selection.frames] == [0, 1]
    assert trial.score.outcome.answer == "B"
    assert here("report", "one", "--parser", "mine.py:letter").code == 0


def test_a_function_of_a_program_is_not_known_to_a_command(here):
    run = package.evaluate(ITEMS, model=waits, out="one")
    with pytest.raises(StoreError, match="holds another run"):
        package.evaluate(ITEMS, model=lambda prompt: "A", out="one")
    done = here.apart("diagnose", "modality", str(run.folder))
    assert (done.code, "is a Python function of the program that named it" in done.err) == (2, True)
