"""Pieces of the report for other pages: escaped, and without a style or a script of their own."""

import jinja2
from jinja2.meta import find_referenced_templates

from vidence.report.page import Link, list_fragment, run_fragment, section_fragment
from vidence.report.results import load_run
from vidence.report.sections import Section
from vidence.tables.table import Cell, RowSpec, tabulate, words


def test_a_piece_has_the_tables_of_the_report_and_nothing_that_runs(runs):
    piece = run_fragment(load_run(runs.write("a")), title="Ours")
    assert "How it was run" in piece
    assert not any(word in piece for word in ("<script", "<style", "style=", "<html"))


def test_texts_are_escaped():
    assert "&lt;b&gt;" in section_fragment(Section(title="x", paragraphs=("<b>",)))


def test_a_list_leads_to_the_pages_of_its_rows_and_lets_them_be_chosen():
    table = tabulate(
        "runs",
        "<Runs>",
        label="run",
        rows=[RowSpec("a", "<b>", "x", detail="<i>"), RowSpec("b", "y", "")],
        measures=[words("fate", lambda about: Cell(value=about))],
    )
    links = {
        ("a", "label"): [Link(words="<b>", address='/?a=1&"')],
        ("a", "fate"): [Link(words="x", style="f")],
    }
    piece = list_fragment(table, links, {"a": True})
    assert '<a href="/?a=1&amp;&#34;"><bdi>&lt;b&gt;</bdi></a>' in piece
    assert '<span class="f">x</span>' in piece
    assert 'name="run" value="a" aria-label="&lt;b&gt;" checked' in piece
    assert piece.count("checkbox") == 1
    assert '<td class="words" data-label="fate"></td>' in piece
    assert not any(word in piece for word in ("<b>", "<i>", "<Runs>"))


def test_a_list_compiles_no_template_of_a_report():
    environment = jinja2.Environment(loader=jinja2.PackageLoader("vidence.tables"), autoescape=True)

    def compiled(name: str) -> set[str]:
        source = environment.loader.get_source(environment, name)[0]
        used = set(find_referenced_templates(environment.parse(source)))
        return used.union({name}, *map(compiled, used))

    assert compiled("listing.html.j2") == {"listing.html.j2", "words.html.j2"}
    assert "parts.html.j2" in compiled("fragment.html.j2")
