"""What the report of a run says of its diagnostics."""

import msgspec
import pytest

from vidence.contracts import Examined
from vidence.engine.store import Header, RunStore, diagnosis_name
from vidence.explain.diagnostics.mrfs import MrfsFinding
from vidence.records import Failed
from vidence.report.diagnosis import MOST_FIGURES, excerpts

RIGHT = {0: False, 4: True}
FOUND = MrfsFinding(category="visual-required", right=RIGHT, mrfs=2, asked=(0, 4), n_delivered=4)
SAME = {"plan_digest": "", "content_hash": "", "model_identities": {}, "prompts_digest": ""}
HEADER = Header(diagnostic="mrfs", version=2, options={"max": "4"}, **SAME)


@pytest.fixture
def examined(runs):
    """Adds findings of a diagnostic to a run."""

    def add(folder, finding=FOUND, header=HEADER):
        name = diagnosis_name(header.diagnostic, header.options)
        with RunStore(folder, is_writer=True) as store:
            store.begin_diagnosis(name, header)
            for item in store.items():
                store.add_finding(name, Examined(item=item, finding=finding))
        return folder / "diagnostics" / f"{name}.html"

    return add


def test_a_run_that_nobody_examined_has_none(runs, tmp_path):
    assert excerpts(runs.write(), tmp_path / "page.html") == ()


def test_the_first_table_and_figures_are_there_with_the_way_to_the_rest(runs, examined, tmp_path):
    folder = runs.write("a: run & more?")
    page = examined(folder)
    (found,) = excerpts(folder, tmp_path / "pages" / "report.html")
    assert found.title == "mrfs, max 4"
    assert found.paragraphs[0].endswith("7 of 7 questions examined.")
    assert [table.name for table in found.tables] == ["mrfs"]
    assert "distribution" in [figure.name for figure in found.figures]
    assert len(found.figures) < MOST_FIGURES
    assert found.n_more > 0
    assert found.link == ""
    page.parent.mkdir()
    page.write_text("page")
    (found,) = excerpts(folder, tmp_path / "pages" / "report.html")
    assert found.link == "../a%3A%20run%20%26%20more%3F/diagnostics/mrfs-max-4.html"


def test_what_cannot_be_told_is_said_and_takes_nothing_with_it(runs, examined, tmp_path):
    folder = runs.write()
    examined(folder, finding=Failed(stage="model", error="ModelError", message="gone"))
    unknown = msgspec.structs.replace(HEADER, diagnostic="another", options={})
    examined(folder, header=unknown)
    found = excerpts(folder, tmp_path / "report.html")
    assert [one.title for one in found] == ["another", "mrfs, max 4"]
    assert all(one.paragraphs[0].startswith("This cannot be shown: ") for one in found)
    assert "gone" in found[1].paragraphs[0]


def test_the_report_contains_them(runs, examined, page_of):
    folder = runs.write()
    page = examined(folder)
    page.parent.mkdir()
    page.write_text("page")
    from vidence.report.results import load_run

    _, shown = page_of(load_run(folder))
    assert "Diagnostics" in shown.text_of("h2")
    assert "How many frames the visual-required questions demand" in shown.text_of("h3")
    links = [attrs["href"] for attrs in shown.all("a")]
    assert "run-a/diagnostics/mrfs-max-4.html" in links
    assert "#run-1-diagnosed" in links
