"""Figures by themselves: well-formed, complete, and safe in a page."""

import xml.etree.ElementTree as ET

import pytest

from vidence.errors import UsageError
from vidence.report.opened_run import open_run


def test_a_figure_is_one_well_formed_svg_with_its_legend(runs, tmp_path):
    picture = open_run(runs.write()).plot()
    root = ET.fromstring(picture.svg)  # noqa: S314 - our own
    words = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words[0] == picture.title == "Score"
    assert {"interval", "chance"} <= set(words)
    assert float(root.get("height")) > 100
    assert picture.save(tmp_path / "score.svg").read_text() == picture.svg
    with pytest.raises(UsageError, match=r"score\.png does not end in \.svg"):
        picture.save(tmp_path / "score.png")
    assert repr(picture) == "Picture('Score')"
    assert picture._repr_html_().startswith('<img alt="Score" src="data:image/svg+xml;base64,')
