"""Index rules against what the papers' released code gives."""

import json

import numpy as np
import pytest

from conftest import need
from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import candidates
from vidence.errors import UsageError
from vidence.records import Item

pytestmark = pytest.mark.parity

ITEM = Item(item_id="q1", question="?", answer="A")
SELECTORS = {
    "herbench_uniform": "herbench-uniform",
    "mmvu_api": "mmvu-api",
    "mmvu_vllm": "mmvu-vllm",
    "perceptioncomp": "perceptioncomp",
    "frag": "frag",
}
CANDIDATES = {
    "aks_1fps": candidates.aks_1fps,
    "bolt_1fps": lambda n, fps: candidates.bolt(n, fps, rate=1),
    "bolt_2fps": lambda n, fps: candidates.bolt(n, fps, rate=2),
    "herbench_blip_2fps": candidates.herbench_blip_2fps,
}


@pytest.fixture(scope="module")
def vectors(checks_dir):
    path = need(checks_dir / "sampling" / "uniform_and_candidate_indices.json")
    return json.loads(path.read_text())


@pytest.mark.parametrize("rule", SELECTORS)
def test_uniform_rule_equals_the_released_code(rule, vectors):
    selector = catalog.create("selector", SELECTORS[rule])
    rows = [row for row in vectors["uniform"] if row[rule] is not None]
    assert rows
    # The released code draws one frame of MMVU's and then takes the first whatever it drew: no value.
    assert {row["k"] for row in vectors["uniform"] if row[rule] is None} <= {1}
    for row in rows:
        clip = timed_clip(np.arange(row["total_frames"]) / 30, fps=30.0)
        chosen = selector.select(clip, ITEM, n_frames=row["k"]).tolist()
        assert chosen == row[rule], (row["total_frames"], row["k"])


@pytest.mark.parametrize("rule", CANDIDATES)
def test_candidate_rule_equals_the_released_code(rule, vectors):
    assert vectors["candidates"]
    for row in vectors["candidates"]:
        n_total, fps, expected = row["total_frames"], row["fps"], row[rule]
        if isinstance(expected, str):
            assert "ZeroDivisionError" in expected
            with pytest.raises(UsageError):
                CANDIDATES[rule](n_total, fps)
        else:
            assert CANDIDATES[rule](n_total, fps).tolist() == expected, (n_total, fps)
