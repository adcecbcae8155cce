import pytest

from vidence.records import Answered
from vidence.report.scores import score_tables
from vidence.report.side_by_side import run_names, side_by_side


def test_several_runs_stand_side_by_side(runs, page_of):
    better = [runs.marked(item, Answered(answer=item.answer)) for item in runs.items]
    first, second = runs.load("a"), runs.load("b", trials=better, model="scripted:best")
    _, page = page_of(first, second)
    assert "2 runs of table" in page.text_of("h1")
    assert any(
        note.startswith("All runs have trials on the same 7") for note in page.text_of("p", class_="note")
    )
    rows = [" ".join(text.split()) for text in page.text_of("tr")]
    assert any(row.startswith("accuracy, %33.3") and "100.025." in row for row in rows)
    assert "Overview" in page.text_of("h3")
    assert {"Score: accuracy, %", "Score by task: accuracy, %"} <= set(page.text_of("summary"))
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    shown = [attrs["data-trials"] for attrs in page.all("details") if "data-trials" in attrs]
    assert len(shown) == 7
    assert all("run-1:" in trials and "run-2:" in trials for trials in shown)


def test_runs_on_different_questions_are_flagged(runs, page_of):
    first, second = runs.load("a"), runs.load("b", trials=runs.trials[:4])
    _, page = page_of(first, second)
    assert any("so their scores are not comparable" in note for note in page.text_of("p", class_="note"))
    # Same model twice: the folders tell the columns apart.
    assert "scripted:test (a)" in page.text_of("th")
    labels = [" ".join(text.split()) for text in page.text_of("th", scope="row")]
    assert {"mean over questions2 to 3 videos (few)", "order1 video (few)"} <= set(labels)
    _, alone = page_of(second)
    assert page.text_of("div", class_="interval")[1:] == alone.text_of("div", class_="interval")
    _, page = page_of(first, first)
    assert {"scripted:test (a, 1)", "scripted:test (a, 2)"} <= set(page.text_of("th"))


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        (({"model": "openai:gpt-4.1"}, {"model": "gemini:g-2"}), ("gpt-4.1", "g-2")),
        (({"model": "openai:a/q-7b"}, {"model": "anthropic:q-7b"}), ("openai:q-7b", "anthropic:q-7b")),
        (({"model": "openai:q"}, {"model": "openai:q?api=chat"}), ("q (0)", "q (1)")),
        (({"name": "Ours"}, {}), ("Ours", "scripted:test")),
        (({"name": "Ours"}, {"name": "Ours"}), ("Ours (0)", "Ours (1)")),
        (({"name": "Ours"}, {"name": "Ours", "benchmark": "mmvu"}), ("Ours (table)", "Ours (mmvu)")),
    ],
)
def test_runs_are_called_by_their_name_or_by_their_model(runs, plans, expected):
    loaded = [runs.load(str(i), **plan) for i, plan in enumerate(plans)]
    assert run_names(loaded) == expected


def test_headlines_of_different_means_have_no_name_of_one_of_them(runs, rng):
    micro, macro = (runs.load(name, headline=name) for name in ("micro", "macro:task"))
    tables = [score_tables(run, rng=rng) for run in (micro, macro)]
    _, score, *_ = side_by_side([micro, macro], tables)
    assert score.row("headline").label == "headline of each run"
    _, alone, *_ = side_by_side([macro], tables[1:])
    assert alone.row("headline").label == "mean over task"
