"""`robust` on the replies of `bench/parsing.py`, in small; the held-out styles are only counted."""

import runpy
import sys
from pathlib import Path

import pytest

from vidence.catalog import create

_BENCH = Path(__file__).parents[4] / "bench" / "parsing.py"


@pytest.fixture(scope="module")
def bench():
    return runpy.run_path(str(_BENCH))


@pytest.mark.parametrize(
    ("part", "at_least_right", "at_most_wrong", "at_most_invented"),
    [("dev", 98.0, 0.2, 0.5), ("held-out", 96.0, 0.2, 6.5), ("new", 87.0, 0.5, 6.0)],
)
def test_robust_reads_what_made_replies_mean(bench, part, at_least_right, at_most_wrong, at_most_invented):
    n_styles = sum(style.part == part for style in bench["styles"]())
    read = bench["tally"](create("parser", "robust"), list(bench["made"](n=3 * n_styles, seed=1, part=part)))
    assert 100 * read.right / read.n_meant >= at_least_right
    assert 100 * read.wrong / read.n_meant <= at_most_wrong
    assert 100 * read.invented / read.n_none <= at_most_invented


def test_a_style_lies_where_its_name_is_drawn_and_every_kind_is_in_both_parts(bench):
    styles = [style for style in bench["styles"]() if style.part in bench["DRAWN"]]
    assert len({style.name for style in styles}) == len(styles)
    assert {style.part for style in styles if bench["is_held_out"](style.name)} == {"held-out"}
    assert {style.part for style in styles if not bench["is_held_out"](style.name)} == {"dev"}
    kinds = {(kind, style.part) for style in styles for kind in (style.language, style.group)}
    assert {kind for kind, part in kinds if part == "dev"} == {
        kind for kind, part in kinds if part == "held-out"
    }


def test_each_style_has_phrasings_and_is_filled_with_fourteen_questions(bench):
    styles = bench["styles"]()
    replies = list(bench["made"](n=14 * len(styles), seed=0))
    assert all(2 <= len(style.phrasings) <= 5 for style in styles)
    assert "{X}" not in "".join(reply.text for reply in replies)
    asked = {
        style: {r.item.question for r in replies if r.style == style}
        for style in styles
        if style.language == "en"
    }
    assert min(len(questions) for questions in asked.values()) == 14


@pytest.mark.parametrize("part", ["held-out", "new"])
def test_held_out_replies_are_not_shown(bench, monkeypatch, capsys, part):
    monkeypatch.setattr(sys, "argv", ["parsing.py", "--misses", "3", "--part", part])
    with pytest.raises(SystemExit):
        bench["main"]()
    assert "shows no held-out replies" in capsys.readouterr().err
    held = list(bench["made"](n=400, seed=0, part=part))
    bench["tally"](create("parser", "perceptioncomp-gemini"), held, misses=400)
    assert not capsys.readouterr().out


def test_a_page_without_the_marks_is_left_alone(bench, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Nothing\n")
    with pytest.raises(SystemExit, match="does not hold the lines"):
        bench["write_docs"](page, "table")
    page.write_text(f"before\n{bench['FROM']}\nold\n{bench['TO']}\nafter\n")
    bench["write_docs"](page, "table")
    assert page.read_text() == f"before\n{bench['FROM']}\n\ntable\n\n{bench['TO']}\nafter\n"
