"""Selectors that go by scores, against what the papers' released code gives."""

import json

import numpy as np
import pytest

from conftest import IS_THOROUGH
from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import aks, bolt
from vidence.errors import DataError
from vidence.records import Item

pytestmark = pytest.mark.parity


def vectors(folder, pattern):
    """The contents of every file of that name."""
    found = sorted(folder.glob(pattern))
    if not found:
        pytest.skip(f"{folder / pattern} is not there; set VIDENCE_CHECKS to the folder of check files")
    return [json.loads(path.read_text()) for path in found]


def make(spec):
    parsed = catalog.parse_spec(spec)
    return catalog.create("selector", parsed)


def clip_of(n_frames):
    return timed_clip(np.arange(n_frames) / 30, fps=30.0)


def is_degenerate(case, scores):
    """Where the released code of AKS divides 0 by 0."""
    looked_at = scores[: len(scores) // case["params"]["ratio"] * case["params"]["ratio"]]
    looked_at = looked_at[:: case["params"]["ratio"]]
    return len(looked_at) >= case["params"]["max_num_frames"] and bool(np.ptp(looked_at) == 0)


def settings_of(case):
    names = ("t1", "t2", "all_depth", "ratio")
    return aks.Settings(**{name: case["params"][name] for name in names})


def test_aks_from_a_file_of_scores_shows_the_frames_of_the_released_code(checks_dir, tmp_path):
    for content in vectors(checks_dir / "aks", "aks_official_vectors*.json"):
        file = tmp_path / "scores.json"
        file.write_text(json.dumps(content["score_sets"]))
        selectors = {}
        for n, case in enumerate(content["cases"]):
            given = content["score_sets"][str(case["score_ref"])]
            scores, n_frames = np.array(given["scores"]), case["params"]["max_num_frames"]
            if is_degenerate(case, scores):
                with pytest.raises(DataError, match="AKS as released divides"):
                    aks.official(scores, n_frames, settings_of(case))
                continue
            chosen = aks.official(scores, n_frames, settings_of(case)) * given["stride"]
            assert chosen.tolist() == case["expected"], case["id"]
            if n % 10 and not IS_THOROUGH:
                continue
            p = case["params"]
            options = f"t1={p['t1']}&t2={p['t2']}&all_depth={p['all_depth']}&ratio={p['ratio']}"
            spec = f"aks?mode=official&scores={file}&{options}"
            selector = selectors.setdefault(spec, make(spec))
            item = Item(item_id=str(case["score_ref"]), question="?", answer="A")
            clip = clip_of((len(given["scores"]) - 1) * given["stride"] + 1)
            shown = selector.select(clip, item, n_frames=p["max_num_frames"])
            assert shown.tolist() == case["expected"], case["id"]


def test_repaired_aks_fills_the_budget_and_agrees_where_the_released_code_fills_it(checks_dir):
    n_agreed = 0
    for content in vectors(checks_dir / "aks", "aks_official_vectors*.json"):
        for case in content["cases"]:
            scores = np.array(content["score_sets"][str(case["score_ref"])]["scores"])
            n_frames, settings = case["params"]["max_num_frames"], settings_of(case)
            ranking = aks.repaired(scores, n_frames, settings)
            if settings.ratio > 1:
                continue
            assert len(set(ranking.tolist())) == len(ranking) == min(n_frames, len(scores)), case["id"]
            is_power = n_frames & (n_frames - 1) == 0
            if is_power and 2**settings.all_depth <= n_frames and not is_degenerate(case, scores):
                stride = content["score_sets"][str(case["score_ref"])]["stride"]
                assert (np.sort(ranking) * stride).tolist() == case["expected"], case["id"]
                n_agreed += 1
    assert n_agreed > 50


def test_bolt_as_a_selector_shows_what_the_released_code_draws_or_says_that_it_cannot(checks_dir):
    for content in vectors(checks_dir / "bolt", "bolt_official_vectors*.json"):
        for case in content["cases"]:
            scores = np.array(content["score_sets"][str(case["score_ref"])])
            item = Item(item_id="q1", question="?", answer="A")
            selector = make(f"bolt:x?mode=official&grid=all&power={case['power']}")
            clip = clip_of(len(scores))
            if case["out_of_range"]:
                assert bolt.official(scores, case["num_frames"], case["power"]).tolist() == case["expected"]
                with pytest.raises(DataError, match=f"draws candidate {len(scores)} of {len(scores)}"):
                    selector.select(clip, item, n_frames=case["num_frames"], scores=scores)
            else:
                shown = selector.select(clip, item, n_frames=case["num_frames"], scores=scores)
                assert shown.tolist() == case["expected"], case["id"]
            # Repaired, every frame stays that the released code draws.
            n_frames = case["num_frames"]
            ranking = bolt.repaired(scores, n_frames, case["power"])
            assert len(set(ranking.tolist())) == len(ranking) == min(n_frames, len(scores)), case["id"]
            assert 0 <= ranking.min() <= ranking.max() < len(scores)
            if 3 <= n_frames <= len(scores) and np.ptp(scores) > 0:
                assert set(case["expected"]) <= set(ranking.tolist()), case["id"]


def test_similarity_takes_the_frames_of_vanilla_blip(checks_dir):
    n_compared = 0
    for content in vectors(checks_dir / "herbench", "vanilla_blip_topk_vectors*.json"):
        for i, case in enumerate(content):
            if case["kind"] != "distinct":
                continue
            scores = np.array(case["scores"])
            selector = make(f"similarity:x?grid=uniform:{len(scores)}")
            clip = clip_of(len(scores) * case["stride"])
            item = Item(item_id="q1", question="?", answer="A")
            shown = selector.select(clip, item, n_frames=case["k"], scores=scores)
            assert shown.tolist() == case["expected"], i
            n_compared += 1
    assert n_compared > 0
