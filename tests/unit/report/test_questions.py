from collections import Counter

import pytest

from vidence.records import Answered, Prompt, TextPart, Trial, Unreadable, VideoPart
from vidence.report.questions import choices_of, error_of, how_read, pick, prompt_text, shown_words
from vidence.report.results import Row


def row(runs, position):
    trial = runs.trials[position]
    return Row(item=runs.items[position], trial=trial, score=trial.score)


def many(runs, outcomes):
    rows = []
    for n, outcome in enumerate(outcomes):
        item = runs.question(f"i{n}", f"v{n}", "A")
        trial = runs.marked(item, outcome)
        rows.append(Row(item=item, trial=trial, score=trial.score))
    return rows


RIGHT, WRONG, UNREADABLE = Answered(answer="A"), Answered(answer="B"), Unreadable(reason="-")


def test_few_trials_are_all_picked(runs):
    rows = many(runs, [RIGHT, WRONG, RIGHT])
    assert pick(rows, 10) == rows
    assert pick(rows, 3) == rows


def test_rare_fates_are_whole_and_the_rest_is_shared_alike(runs):
    rows = many(runs, [RIGHT] * 60 + [WRONG] * 30 + [UNREADABLE] * 2)
    picked = Counter(r.status for r in pick(rows, 22))
    assert picked == {"right": 10, "wrong": 10, "unreadable": 2}


def test_what_is_picked_is_spread_over_the_run_in_its_order(runs):
    rows = many(runs, [RIGHT] * 100)
    assert [r.item.item_id for r in pick(rows, 4)] == ["i12", "i37", "i62", "i87"]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_never_more_than_asked(runs, n):
    assert len(pick(many(runs, [RIGHT, WRONG, UNREADABLE]), n)) <= n


def test_choices_mark_what_was_right_and_what_was_read(runs):
    assert [(c.letter, c.flag) for c in choices_of(row(runs, 1))] == [
        ("A", ""),
        ("B", "right answer"),
        ("C", "read"),
        ("D", ""),
    ]
    assert choices_of(row(runs, 0))[0].flag == "right answer, read"
    assert choices_of(row(runs, 6)) == ()


def test_how_an_answer_was_read_names_rule_parser_and_score(runs):
    assert how_read(row(runs, 0)) == "Read 'A' by the rule 'answer-line' of robust, version 1; score 1."
    assert how_read(row(runs, 2)) == "Not read by robust, version 1: no letter; score 0."
    assert how_read(row(runs, 4)) == "Refused: policy; score 0."
    assert how_read(row(runs, 5)) == "Failed in the stage 'media'; score 0."
    assert how_read(row(runs, 6)).endswith("; not scored yet.")


def test_long_answers_and_missing_rules_are_said_briefly(runs):
    item = runs.items[6]
    trial = runs.marked(item, Answered(answer="a long answer " * 5))
    assert how_read(Row(item=item, trial=trial, score=trial.score)).startswith(
        "The reply is taken as the answer by needs-judge, version 1"
    )


def test_errors_are_told_for_failures_alone(runs):
    assert error_of(row(runs, 5)) == "MediaError: v3.mp4: cannot be read"
    assert error_of(row(runs, 0)) == ""


def test_the_prompt_says_where_the_images_stood(runs):
    assert prompt_text(runs.trials[0].prompt) == (
        "[system] Be brief.\n\nLook at these frames.\n[4 images]\nAnswer with a letter."
    )
    video = Prompt(parts=(VideoPart(path="v.mp4", digest="0" * 64), TextPart(text="What?")))
    assert prompt_text(video) == "[the video]\nWhat?"
    assert prompt_text(None) == ""


def test_what_was_shown_is_said_with_its_times(runs):
    assert shown_words(runs.trials[0]) == "4 frames of 40 by midpoints, at 0.00, 0.40, 0.80, 1.20 s."
    assert shown_words(runs.trials[5]) == "No frames were shown."
    video = Prompt(parts=(VideoPart(path="v.mp4", digest="0" * 64),))
    trial = Trial(item_id="q1", prompt=video, score=runs.trials[0].score)
    assert shown_words(trial) == "The whole video was sent."
