"""Where the replies of a run are from: told by its trials, not by its plan."""

from dataclasses import replace

import msgspec
import pytest

from vidence.ask.prompting.templates import Templates
from vidence.records import VideoPart
from vidence.report.provenance import (
    asked_sentence,
    diagnosed_note,
    frames_shown,
    how_asked,
    not_asked,
    origin_of,
    planned_wording,
    prompt_note,
    wording,
)
from vidence.report.tables import all_tables, asked, headline

KNOWN = "015e4fd2e38d2b017e8b4f2260328de9c0ad4ea51f67e5ceb0bbe428dca63a9f"  # of MMVU's, in released.toml


def with_template(run, *labels):
    """The run, its prompts made of these templates in turn."""
    rows = []
    for i, row in enumerate(run.rows):
        trial = row.trial
        if trial.prompt is not None:
            prompt = msgspec.structs.replace(trial.prompt, template=labels[i % len(labels)])
            trial = msgspec.structs.replace(trial, prompt=prompt)
        rows.append(replace(row, trial=trial))
    return replace(run, rows=tuple(rows))


def test_a_model_was_asked_as_its_trials_say(runs):
    run = runs.load(model="openai:some", frames=64)
    # Four frames were shown, whatever the plan has; one trial failed with its video, one had no frames.
    assert frames_shown(run) == "up to 4 frames"
    assert asked_sentence(run, "some") == (
        "some was asked: paper protocol, own wording; direct, up to 4 frames, midpoints; scored by robust + "
        "needs-judge. 1 of 7 trials failed before anything was sent."
    )
    assert not_asked(run) == ""
    assert [prompt_note(run, row) for row in run.rows] == [
        *[""] * 5,
        "No prompt was sent: the trial failed before.",
        "",
    ]


def test_whole_videos_are_told_by_the_prompt(runs):
    run = runs.load(model="openai:some")
    first = run.rows[0]
    prompt = msgspec.structs.replace(first.trial.prompt, parts=(VideoPart(path="v.mp4", digest="0"),))
    first = replace(first, trial=msgspec.structs.replace(first.trial, prompt=prompt))
    assert frames_shown(replace(run, rows=(first,))) == "whole videos"
    one = replace(run, rows=run.rows[:1])
    assert frames_shown(one) == "4 frames"


def test_recorded_replies_declare_how_they_were_asked_or_nothing_is_said(runs):
    run = runs.load(model="replay:a.jsonl", frames=64, style="cot")
    assert how_asked(run) == (
        "recorded replies, nothing is declared of how they were asked; scored by robust + needs-judge"
    )
    told = runs.load("b", model="replay:a.jsonl?asked=the API runner, 64 frames")
    assert "declared as asked with 'the API runner, 64 frames'" in how_asked(told)
    assert not_asked(told) == (
        "No model was asked: the replies were recorded elsewhere, declared as asked with 'the API runner, 64 "
        "frames'."
    )
    assert prompt_note(run, run.rows[0]) == (
        "A recorded reply: the prompt is not known; nothing is declared of how they were asked."
    )


def test_the_wording_is_that_of_the_templates_of_the_trials(runs):
    run = runs.load()
    own, zeros = "mmvu/choice-cot.txt sha256:" + "0" * 64, "0" * 64
    assert wording(run) == wording(with_template(run, own)) == "own wording"
    authors = f"authors-mmvu/choice-cot.txt sha256:{KNOWN}"
    assert wording(with_template(run, authors)) == "the authors' wording"
    # A label alone proves nothing: the text counts.
    assert wording(with_template(run, f"authors-mmvu/choice-cot.txt sha256:{zeros}")) == "own wording"
    unchecked = f"unchecked-mmvu/choice-cot.txt sha256:{zeros}"
    assert wording(with_template(run, unchecked)) == "imported wording, not checked"
    assert wording(with_template(run, authors, own)) == "the authors' wording and own wording"


def test_score_and_page_say_that_no_model_was_asked(runs, rng, page_of):
    run = runs.load(model="replay:a.jsonl?asked=64 frames")
    tables = all_tables(run, rng=rng)
    assert "no model asked" in asked(run)
    assert any(
        s.startswith("No model was asked: the replies were recorded") for s in headline(run, tables[0])
    )
    text, page = page_of(run)
    assert "Answer with a letter." not in text  # the prompt that vidence would have sent
    assert "Prompt" not in page.text_of("summary")
    assert "A recorded reply: what was shown is not known." in text
    assert "A recorded reply: the prompt is not known" in text
    assert "The plan says only how a model would have been asked." in text
    text, page = page_of(runs.load("b", model="openai:some"))
    assert "Answer with a letter." in text
    assert "Prompt" in page.text_of("summary")


@pytest.mark.parametrize(
    ("model", "origin", "said"),
    [
        ("openai:some", "asked", "openai:some was asked: paper protocol, own wording; direct."),
        ("phantom:fuser", "made", "phantom:fuser was asked: paper protocol, own wording; direct. It is a"),
        ("replay:a.jsonl", "recorded", "No model was asked: the replies were recorded elsewhere and stay"),
        ("baseline:longest", "rule", "No model was asked: the answers are those of a rule that sees neither"),
    ],
)
def test_the_name_of_a_model_says_who_was_asked(runs, model, origin, said):
    assert origin_of(runs.load(model=model)) == origin
    plan = runs.load("b", model=model).plan
    digest = Templates.load("plain").digest
    assert diagnosed_note(plan, kinds={"choice", "text"}, prompts_digest=digest).startswith(said)


def test_the_wording_of_a_diagnosis_is_told_by_templates_that_are_still_the_same(runs, tmp_path):
    plan = runs.load().plan
    unknown = "wording unknown since its templates have changed"
    assert planned_wording(plan, kinds={"choice"}, prompts_digest="other") == unknown
    gone = msgspec.structs.replace(plan, prompts_dir=str(tmp_path / "gone"))
    assert planned_wording(gone, kinds={"choice"}, prompts_digest="other") == unknown
