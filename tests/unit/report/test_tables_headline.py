"""A run in plain words: what each sentence says, and at which level."""

import pytest

from vidence.records import Answered
from vidence.report.tables import all_tables, guesses_of, headline


def sentences(run, rng, *, level=0.95):
    score = next(table for table in all_tables(run, rng=rng, level=level) if table.name == "score")
    return headline(run, score)


@pytest.mark.parametrize(
    ("level", "said"), [(0.95, "95 % interval"), (0.9, "90 % interval"), (0.999, "99.9 % ")]
)
def test_the_interval_has_the_level_that_was_asked_for(runs, rng, level, said):
    accuracy = sentences(runs.load(), rng, level=level)[0]
    assert said in accuracy
    assert accuracy.endswith("clustered by video; 6 questions on 3 videos).")


def test_without_an_interval_it_says_why(runs, rng):
    run = runs.asked("one", [1, 1], per_video=2)
    assert "(no interval: too few videos (1); 2 questions on " in sentences(run, rng)[0]


def test_a_run_without_scores_says_so(runs, rng):
    run = runs.load(items=runs.items[6:], trials=runs.trials[6:])
    assert sentences(run, rng)[0] == "No question is scored yet."


def test_what_waits_or_is_missing_is_counted(runs, rng):
    said = sentences(runs.load(facts={"n_planned": 12}), rng)
    assert "Waiting for a judge, and in no mean: 1 more question." in said
    assert said[-1] == "The run is not complete: 5 of 12 trials were not asked yet."


def test_replies_that_are_guesses_are_counted(runs, rng):
    items = [runs.question(f"q{i}", f"v{i}", "A") for i in range(3)]
    replies = [runs.said("Answer: A", is_guess=i == 0) for i in range(3)]
    trials = [
        runs.marked(item, Answered(answer="A", rule="r"), reply=reply)
        for item, reply in zip(items, replies, strict=True)
    ]
    run = runs.load(items=items, trials=trials)
    assert guesses_of(run) == (True, False, False)
    assert "1 of 3 replies are guesses, as the model itself says; its reasoning tells why." in sentences(
        run, rng
    )
    assert guesses_of(runs.load("other")) == ()


def test_lines_that_were_left_out_are_counted_in_the_headline(runs, rng):
    assert not any("Left out" in sentence for sentence in sentences(runs.load(), rng))
    facts = {"problems": ("q.jsonl:2: answer: absent; this field is required", "q.jsonl:9: JSON: bad")}
    assert (
        "Left out: 2 lines that could not be used, beside 7 questions; the first is q.jsonl:2: answer: "
        "absent; this field is required."
    ) in sentences(runs.load("b", facts=facts), rng)


def test_clips_of_one_film_are_one_source_and_are_called_so(runs, rng):
    items = [runs.question(f"q{i}", f"v{i}", "A", source="film" if i < 2 else "") for i in range(4)]
    trials = [
        runs.marked(item, Answered(answer="AB"[i % 2], rule="r"), reply=runs.said("Answer"), **runs.shown())
        for i, item in enumerate(items)
    ]
    run = runs.load(items=items, trials=trials)
    assert sentences(run, rng)[0].endswith("clustered by source; 4 questions on 3 sources).")
    tables = [table for table in all_tables(run, rng=rng) if table.figure == "scores"]
    assert all({c.key: c.title for c in table.columns}["videos"] == "sources" for table in tables)
