"""The page is taken apart with html.parser: what a browser would see, not what the template says."""

import base64
import hashlib
import re

import numpy as np
import pytest

from vidence.errors import StoreError, UsageError
from vidence.records import Answered, Media, Unreadable
from vidence.report.page import write_page
from vidence.report.sections import Section
from vidence.report.tables import all_tables
from vidence.tables.table import Cell, Column, Row, Table

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "]]><svg onload=alert(4)>",
    "{{ 7 * 7 }}{% raw %}",
    "null \x00 byte \x1b[2J",
    "\u202eright to left\u202c \u200f",
    "</pre></details></main><iframe src=//evil.example>",
    "\" onmouseover=\"alert(5)' autofocus onfocus='alert(6)",
    "&lt;b&gt; &amp;amp; &#x3c;i&#x3e;",
    "<!-- --><style>@import url(http://evil.example)</style>",
)


def test_the_page_is_one_whole_file(runs, page_of, stays_at_home):
    run = runs.load()
    text, page = page_of(run)
    assert page.open == []
    assert text.startswith("<!doctype html>")
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for attrs in page.all("a")} <= set(ids)
    stays_at_home(text, page)
    assert page.all("html")[0]["lang"] == "en"
    assert {e["name"] for e in page.all("meta") if "name" in e} == {"viewport", "referrer"}
    assert {"Score", "Score by task", "Score by level"} <= set(page.text_of("h3"))
    assert {"Plan", "Facts"} <= set(page.text_of("summary"))
    labels = [attrs.get("aria-label") for attrs in page.all("svg")]
    assert {"Bars: Score by task", "Strip: Outcomes", "Letters: Letters"} <= set(labels)
    assert "33.36.0 to 79.6" in page.text_of("td")
    assert page.text_of("div", class_="score") == ["33.3 %"]
    assert page.text_of("div", class_="interval") == ["95 % interval 6.0 to 79.6"]
    headline = " ".join(page.text_of("section", class_="headline")[0].split())
    assert "Accuracy 33.3 % (95 % interval 6.0 to 79.6, clustered by video; 6 questions on" in headline
    assert "right 2" in headline
    ready = [all_tables(run, rng=np.random.default_rng(0))]
    assert page_of(run, tables=ready)[0] == text
    _, without = page_of(run, n_items=0)
    assert (without.all("form"), bool(without.text_of("script"))) == ([], True)


def test_the_policy_allows_its_own_style_and_script_alone_and_filters_know_what_is_there(runs, page_of):
    _, page = page_of(runs.load())
    (policy,) = [e["content"] for e in page.all("meta") if e.get("http-equiv") == "Content-Security-Policy"]

    def source(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    own = {"style-src": source(page.text_of("style")[0]), "script-src": source(page.text_of("script")[0])}
    none = dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
    assert dict(rule.split(" ", 1) for rule in policy.split("; ")) == own | none | {"img-src": "data:"}
    options = [attrs["value"] for attrs in page.all("option")]
    assert "wrong unreadable refused failed" in options
    trials = [attrs["data-trials"] for attrs in page.all("details") if "data-trials" in attrs]
    statuses = {"right", "wrong", "unreadable", "refused", "failed", "unmarked"}
    assert set(trials) == {f"run-1:{status}" for status in statuses}
    tags = {tag for attrs in page.all("details") for tag in (attrs.get("data-tags") or "").split()}
    assert tags == {value for value in options if re.fullmatch(r"t\d+", value)}
    assert "hidden" in page.all("form")[0]


def test_texts_of_models_and_data_never_become_markup(runs, page_of, stays_at_home):
    items, trials = [], []
    for n, evil in enumerate(HOSTILE):
        item = runs.question(
            f"{n}{evil}",
            f"v{n}",
            "A",
            question=evil,
            choices=(evil, evil + "!"),
            tags={evil: evil, "task": evil},
            media=(Media(path=evil.replace("\x00", "")),),
        )
        items.append(item)
        read = Unreadable(reason=evil) if n % 2 else Answered(answer="A", rule=evil)
        reply = runs.said(evil, reasoning=evil)
        trials.append(runs.marked(item, read, reply=reply, **runs.shown()))
    evil = HOSTILE[1]
    run = runs.load(
        "hostile",
        items=items,
        trials=trials,
        facts={"notes": HOSTILE, "problems": HOSTILE, "citation": evil, "licence": HOSTILE[2]},
        model=f"replay:{HOSTILE[2]}",
        benchmark=evil,
        where={evil: evil},
    )
    columns = (Column(key="a", title=evil, group=evil, note=evil), Column(key="b", title=evil))
    row = Row(key=evil, label=evil, detail=evil, values=(Cell(value=0.5, detail=evil), evil))
    marked = (Column(key="accuracy", title=evil), Column(key="planted", title=evil))
    bar = Row(key=evil, label=evil, values=(0.1, 0.2))
    section = Section(
        title=evil,
        paragraphs=HOSTILE,
        tables=(
            Table(name="t", title=evil, note=evil, label=evil, columns=columns, rows=(row,)),
            Table(name="s", title=evil, label=evil, columns=marked, rows=(bar,), figure="scores"),
        ),
    )
    _, clean_page = page_of(runs.load("clean"))
    text, page = page_of(run, extra_sections=[section])
    assert page.open == []
    stays_at_home(text, page)
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in clean_page.elements}
    assert {a for _, attrs in page.elements for a in attrs} <= {
        a for _, attrs in clean_page.elements for a in attrs
    }
    assert not {"\x00", "\x1b", "\u202e"} & set(text)
    assert {HOSTILE[0], HOSTILE[4], HOSTILE[9], "null ␀ byte ␛[2J"} <= set(
        page.text_of("pre", class_="find-me")
    )


def test_each_question_shows_choices_prompt_reply_and_score(runs, page_of):
    _, page = page_of(runs.load())
    # Questions, prompts, reasoning, changed replies, plan and facts, the numbers of two figures, and what the
    # columns of three tables mean.
    assert len(page.all("details")) == 7 + 5 + 1 + 1 + 2 + 2 + 3
    assert "blind guessing" in page.text_of("dd")
    item = next(t for t in page.text_of("details", class_="item") if "Question q2?" in t)
    flat = " ".join(item.split())
    assert "wrong q2 Question q2? read C · right B" in flat
    choices = [" ".join(t.split()) for t in page.text_of("li", class_="gold-choice")]
    assert choices[1] == "Bgreenright answer"
    assert choices[0] == "Aredright answer, read"
    assert "Cblueread" in page.text_of("li", class_="read-choice")
    assert "4 frames of 40 by midpoints, at 0.00, 0.40, 0.80, 1.20 s." in flat
    assert "this report was made without the videos" in flat
    assert "Read 'C' by the rule 'answer-line' of robust, version 1; score 0." in flat
    assert "I looked." in flat
    assert "[4 images]" in flat
    failed = next(t for t in page.text_of("details", class_="item") if "Question q6?" in t)
    assert "MediaError: v3.mp4: cannot be read" in failed


def test_few_of_many_questions_are_shown_and_it_says_so(runs, page_of):
    items = [runs.question(f"i{n}", f"v{n % 5}", "A") for n in range(40)]
    trials = [
        runs.marked(item, Answered(answer="A" if n < 36 else "B"), reply=runs.said("x" * 30_000))
        for n, item in enumerate(items)
    ]
    _, page = page_of(runs.load(items=items, trials=trials), n_items=10)
    trials = [attrs["data-trials"] for attrs in page.all("details") if "data-trials" in attrs]
    statuses = [trial.partition(":")[2] for trial in trials]
    assert (statuses.count("right"), statuses.count("wrong")) == (6, 4)
    assert any(note.startswith("10 of 40 trials: alike many") for note in page.text_of("p", class_="note"))
    reply = page.text_of("pre", class_="find-me")[0]
    assert len(reply) < 21_000
    assert "[… 10,000 characters are left out here …]" in reply


def test_a_run_without_choices_or_marks_has_a_page(runs, page_of):
    _, page = page_of(runs.load(items=[runs.items[6]], trials=[runs.trials[6]]))
    assert page.text_of("div", class_="score") == ["\u2013"]
    assert "No question is scored yet." in page.text_of("li")
    assert "a dog" in page.text_of("pre")


def test_pages_need_runs_with_trials(runs, tmp_path):
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="no run to report"):
        write_page([], tmp_path / "x.html", cache_root=None, media_root=None, rng=rng)
    with pytest.raises(UsageError, match="no trials yet"):
        write_page([runs.load(trials=[])], tmp_path / "x.html", cache_root=None, media_root=None, rng=rng)
    with pytest.raises(StoreError, match="cannot write"):
        write_page([runs.load("b")], tmp_path / "no" / "x.html", cache_root=None, media_root=None, rng=rng)


def test_sections_that_come_after_stand_behind_the_scores(runs, page_of):
    sections = [
        Section(title="Printed", paragraphs=("As printed.",), place="after"),
        Section(title="Asked", paragraphs=("What was asked for.",)),
    ]
    text, page = page_of(runs.load(), extra_sections=sections)
    places = ["What was asked for.", ">Scores</h2>", ">Outcomes</h2>", "As printed.", ">Parsers</h2>"]
    assert [text.index(one) for one in places] == sorted(text.index(one) for one in places)
    links = [attrs["href"] for attrs in page.all("a")]
    assert links.index("#section-2") < links.index("#run-1-scores") < links.index("#section-1")
    text, _ = page_of(runs.load("b"), runs.load("c"), extra_sections=sections)
    places = ["What was asked for.", "Runs side by side", "As printed."]
    assert [text.index(one) for one in places] == sorted(text.index(one) for one in places)


def test_the_score_figure_draws_what_the_plan_asks_for(runs, page_of):
    items = [item for item in runs.items if "level" in item.tags]
    trials = [trial for trial in runs.trials if trial.item_id in {item.item_id for item in items}]
    text, _ = page_of(runs.load("a", items=items, trials=trials))
    figure = text[text.index('aria-label="Bars: Score"') :].partition("</ul>")[0]
    assert "mean over questions" in figure
    assert "mean over task" not in text
    text, _ = page_of(runs.load("b", items=items, trials=trials, headline="macro:task"))
    figure = text[text.index('aria-label="Bars: Score"') :].partition("</ul>")[0]
    assert "mean over task" in figure
    assert "mean over level" not in text


def test_rationale_knowledge_and_hints_are_there_and_folded(runs, page_of, stays_at_home):
    said = {
        "rationale": "Because <b>of</b> the hat.",
        "knowledge": ("Hats & heads",),
        "hints": ("Look up", "Twice"),
    }
    items = [runs.question("q1", "v1", "A", **said), runs.question("q2", "v2", "B")]
    run = runs.load(items=items, trials=[runs.marked(item, Answered(answer="A", rule="r")) for item in items])
    text, page = page_of(run)
    stays_at_home(text, page)
    for title in ("Rationale", "Knowledge", "Hints"):
        assert text.count(f'<details class="more"><summary>{title}</summary>') == 1
    assert "Because &lt;b&gt;of&lt;/b&gt; the hat." in text
    assert "Hats &amp; heads" in text
    assert text.index("Look up") < text.index("Twice")
