"""Pieces of the report for other pages: escaped, and without a style or a script of their own."""

from vidence.report.fragments import run_fragment, section_fragment
from vidence.report.results import load_run
from vidence.report.sections import Section


def test_a_piece_has_the_tables_of_the_report_and_nothing_that_runs(runs):
    piece = run_fragment(load_run(runs.write("a")), title="Ours")
    assert "How it was run" in piece
    assert not any(word in piece for word in ("<script", "<style", "style=", "<html"))


def test_texts_are_escaped():
    assert "&lt;b&gt;" in section_fragment(Section(title="x", paragraphs=("<b>",)))
