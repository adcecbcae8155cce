"""Figures by themselves: well-formed, complete, and safe in a page."""

import xml.etree.ElementTree as ET

import pytest

from vidence.errors import UsageError
from vidence.report.opened_run import open_run
from vidence.report.picture import picture_of
from vidence.tables.table import Column, Row, Table


def test_a_figure_is_one_well_formed_svg_with_its_legend(runs, tmp_path):
    picture = open_run(runs.write()).plot()
    root = ET.fromstring(picture.svg)  # noqa: S314 - our own
    words = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words[0] == picture.title == "Score"
    assert {"interval", "chance"} <= set(words)
    assert float(root.get("height")) > 100
    assert picture.save(tmp_path / "score.svg").read_text() == picture.svg
    assert repr(picture) == "Picture('Score')"
    assert picture._repr_html_().startswith('<img alt="Score" src="data:image/svg+xml;base64,')


def test_only_svg_is_written(runs, tmp_path):
    with pytest.raises(UsageError, match=r"score\.png does not end in \.svg"):
        open_run(runs.write()).plot().save(tmp_path / "score.png")


def test_a_table_without_a_figure_has_none():
    table = Table(
        name="t",
        title="T",
        label="x",
        columns=(Column(key="n", title="n"),),
        rows=(Row(key="a", label="a", values=(1,)),),
    )
    assert picture_of(table) is None
