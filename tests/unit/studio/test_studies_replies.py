"""Trials over replies of runs in the studio: blind, nothing in a reply becomes markup, quotes are checked."""

import json
from datetime import UTC, datetime

import anyio
import pytest

from subjects.open_study import SENTINEL
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.study.drawing import read_items
from vidence.study.labels import counted, write_labels
from vidence.study.study import read_study

EVIL = "<script>alert(1)</script> I see **two** cards. So it is B."
RUNS = (f"{SENTINEL}-one", f"{SENTINEL}-two")
ERRORS = """
preset = "errors"
items = "items.jsonl"
runs = ["../{0}", "../{1}"]
n_people = 1
design = "crossed"
overlap = {{ two = 0.0, again = 0.0 }}
[draw]
of = "wrong"
n = 2
[[phases]]
name = "errors"
condition = "none"
shows = ["question", "reply", "reference"]
[[form]]
name = "kind"
kind = "kinds"
options = ["mmvu"]
[[form]]
name = "quote"
kind = "quote"
is_optional = true
"""
JUDGE = """
preset = "judge"
items = "items.jsonl"
runs = ["../{0}", "../{1}"]
n_people = 1
[draw]
of = "same"
n = 1
[[phases]]
name = "pairs"
condition = "none"
shows = ["question", "reply", "reference"]
fields = ["better"]
"""


@pytest.fixture
def runs(questions, tmp_path):
    """Two runs that answer every question with B, one of them with markup."""
    items = (questions / "items.jsonl").read_text().splitlines()
    for name, words in zip(RUNS, (EVIL, "The second; B."), strict=True):
        lines = [json.dumps({"item_id": json.loads(item)["item_id"], "text": words}) for item in items]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        plan = make_plan(
            "table",
            data=questions / "items.jsonl",
            model=f"replay:{tmp_path / name}.jsonl",
            overrides={"selector": "none"},
        )

        async def go(plan=plan, folder=tmp_path / name):
            place = Environment(cache_root=tmp_path / "cache", n_workers=1)
            now = datetime(2026, 1, 1, tzinfo=UTC)
            await run(plan, folder, environment=place, now=now, on_event=lambda event: None)

        anyio.run(go)
    return RUNS


def test_errors_are_labelled_on_pages_that_name_no_run(opened, people, runs, solo):
    from vidence.studio.studies import answers_of, folder_of

    study = opened(ERRORS.format(*runs))
    (ann,) = people(study)
    ann.joined().act("begin")
    n_evil = 0
    for n in range(4):
        page = ann.get(ann.at()).content.decode()
        assert f"Trial {n + 1} of 4" in page
        assert SENTINEL not in page
        assert "<script>alert" not in page
        n_evil += "&lt;script&gt;alert(1)" in page
        assert "Visual Perception Error" in page
        refused = ann.send(ann.at(), kind="other", quote="three cards").content.decode()
        assert "the quote &#x27;three cards&#x27; is not in the reply" in refused
        ann.send(ann.at(), kind="other", quote="IT IS  b" if "&lt;script" in page else "")
    assert n_evil == 2
    ann.act("finish")
    answers, folder = answers_of(study), folder_of(study)
    responses = counted(answers.participants, answers.responses)
    file = read_study(folder.file.folder)
    (path,) = write_labels(file, responses, items=read_items(file.folder))
    labels = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(label["run"] for label in labels) == sorted([*runs, *runs])
    assert {label["kind"] for label in labels} == {"other"}


def test_pairs_show_two_replies_and_ask_for_the_better(opened, people, runs, solo):
    from vidence.studio.studies import answers_of

    study = opened(JUDGE.format(*runs))
    (ann,) = people(study)
    ann.joined().act("begin")
    page = ann.get(ann.at()).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "The second; B." in page
    assert SENTINEL not in page
    ann.send(ann.at(), better="tie")
    (response,) = answers_of(study).responses
    assert response.values == {"better": "tie"}
    assert {response.trial.run, response.trial.other} == set(runs)
