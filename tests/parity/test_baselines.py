"""Baselines on a real release against the figures that were worked out when it was studied."""

import json
import re

import pytest

from conftest import need
from vidence.statistics.chance import numeric_median

pytestmark = pytest.mark.parity


@pytest.fixture(scope="module")
def rows(checks_dir):
    path = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    content = json.loads(path.read_text())
    if len(content) != 1114:
        pytest.skip(f"{path} holds {len(content)} of the 1,114 questions, and the figures are those of all")
    return content


def test_the_median_is_right_on_almost_half_of_the_numeric_items(rows):
    bare = re.compile(r"\s*[-+]?\d+(\.\d+)?\s*")
    choices = [[str(row[f"answer_choice_{i}"]) for i in range(5)] for row in rows]
    numeric = [i for i, texts in enumerate(choices) if all(bare.fullmatch(text) for text in texts)]
    assert len(numeric) == 168
    n_hits = sum(numeric_median(choices[i]) == rows[i]["answer_id"] for i in numeric)
    assert round(100 * n_hits / len(numeric)) == 47
