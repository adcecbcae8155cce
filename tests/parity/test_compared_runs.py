"""Real predictions through `table` and `replay`: what a comparison says of them, counted again plainly."""

import gzip
import json
import math
from collections import Counter, defaultdict
from datetime import UTC, datetime

import anyio
import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from conftest import IS_THOROUGH, need
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.report.comparison import compare_two, rank_runs
from vidence.report.comparison_tables import ranked_sentences, sentences, verdict
from vidence.report.pairing import pair
from vidence.report.results import load_run
from vidence.statistics.paired import compare
from vidence.statistics.resampling import Resampling

pytestmark = pytest.mark.parity
LETTERS = "ABCDEFGH"
STYLES = ("direct", "cot")
# Reasoning first less direct, with the ends: by the verdicts in the files, 1,371 questions of 600 videos.
EFFECTS = {
    "Qwen2.5-VL-72B-Instruct_1fps": (3.1, 0.4, 6.0),
    "VideoLLaMA3-7B_1fps": (-6.7, -9.4, -4.1),
    "InternVL2_5-8B_4frame": (-0.9, -4.4, 2.8),
    "gemini-2.5-pro-preview-06-05_1fps": (-0.4, -2.5, 1.6),
    "llava-onevision-qwen2-7b-ov-chat-hf_1fps": (-1.8, -5.0, 1.6),
}
# Three models on an eighth of the questions say the same; `make test-long` replays all models on half.
MODELS, STEP = (None, 2) if IS_THOROUGH else (list(EFFECTS)[:3], 8)


def load(path):
    with gzip.open(need(path), "rt", encoding="utf-8") as file:
        return json.load(file)


def write_items(questions, path):
    """The questions as items; one whose right text stands under two letters cannot be scored by a letter."""
    items = {}
    for row in questions:
        texts = [str(text) for text in row["choices"].values()]
        if texts.count(str(row["answer"])) == 1:
            items[row["id"]] = {
                "item_id": row["id"],
                "media": [{"path": row["video"].partition("/resolve/main/")[2]}],
                "question": row["question"],
                "choices": texts,
                "answer": LETTERS[texts.index(str(row["answer"]))],
            }
    path.write_text("\n".join(map(json.dumps, items.values())))
    return set(items)


@pytest.fixture(scope="module")
def vlm4d(data_dir, tmp_path_factory):
    """A run of every file of predictions (of three models unless all is wanted), by style and model."""
    folder, place = data_dir / "predictions" / "vlm4d", tmp_path_factory.mktemp("vlm4d")
    kept = write_items(load(folder / "real_mc.json.gz")[: 1371 // STEP], place / "items.jsonl")
    found = {}
    for path in sorted(folder.glob("*/*.json.gz")):
        style, model = path.parent.name, path.name.removesuffix(".json.gz")
        if MODELS is not None and model not in MODELS:
            continue
        replies = place / f"{style}-{model}.jsonl"
        said = [{"id": r["id"], "text": r["response"]} for r in load(path) if r["id"] in kept]
        replies.write_text("\n".join(map(json.dumps, said)))
        plan = make_plan(
            "table",
            data=place / "items.jsonl",
            model=f"replay:{replies}?id=id&text=text&asked={style}",
            overrides={"style": style},
        )
        out = place / f"run-{style}-{model}"

        async def go(plan=plan, out=out):
            now = datetime(2026, 1, 1, tzinfo=UTC)
            where = Environment(cache_root=place / "cache")
            await run(plan, out, environment=where, now=now, on_event=lambda event: None)

        anyio.run(go)
        found[style, model] = load_run(out)
        assert {row.item.item_id for row in found[style, model].rows} == kept
    return found


def marks(one):
    return {row.item.item_id: float(row.correct or 0.0) for row in one.rows}


def test_bare_letters_are_marked_as_the_authors_mark_them(vlm4d, data_dir):
    n_checked = 0
    for (style, model), one in vlm4d.items():
        ours = marks(one)
        for row in load(data_dir / "predictions" / "vlm4d" / style / f"{model}.json.gz"):
            if style == "direct" and row["id"] in ours and str(row["response"]).strip() in list(LETTERS):
                assert ours[row["id"]] == float(row["correct"]), (model, row["id"])
                n_checked += 1
    assert n_checked > 1000 / STEP


DECLARED = tuple(f"declared as asked with {style!r}" for style in STYLES)


def test_step_by_step_less_direct_for_every_model(vlm4d):
    both = sorted({m for s, m in vlm4d if s == "cot"} & {m for s, m in vlm4d if s == "direct"})
    assert both
    for model in both:
        direct, cot = vlm4d["direct", model], vlm4d["cot", model]
        found = compare_two(
            pair([direct, cot]), rng=np.random.default_rng(0), settings=Resampling(n_boot=500)
        )
        before, after = marks(direct), marks(cot)
        n_gained = sum(after[i] > before[i] for i in before)
        n_lost = sum(after[i] < before[i] for i in before)
        assert found.headline.difference.value == pytest.approx((n_gained - n_lost) / len(before))
        assert found.headline.mcnemar.n_only_first == n_gained
        assert found.headline.mcnemar.n_only_second == n_lost
        said = sentences(found)
        assert f"{n_gained:,} better and {n_lost:,} worse" in said[0]
        assert ("not distinguishable from zero" in said[0]) == (verdict(found.headline) == "not clear")
        told = [line for line in said if " was not asked: " in line]
        assert [words in line for words, line in zip(DECLARED, told, strict=True)] == [True, True]
        assert 0 < found.detectable < 0.2


def test_all_direct_models_are_ranked(vlm4d):
    runs = [one for (style, _), one in vlm4d.items() if style == "direct"]
    assert len(runs) > (10 if IS_THOROUGH else 2)
    ranked = rank_runs(pair(runs), level=0.95)
    expected = sorted((sum(m.values()) / len(m) for m in map(marks, runs)), reverse=True)
    assert [one.value for one in ranked.ranking.means] == pytest.approx(expected)
    clear = {(p.better, p.worse) for p in ranked.ranking.pairs if p.is_clear}
    for group in ranked.ranking.groups:
        assert not any((a, b) in clear for a in group for b in group)
    n_pairs = len(runs) * (len(runs) - 1) // 2
    assert f"{len(clear)} of {n_pairs} pairs differ clearly" in ranked_sentences(ranked)[0]


def test_the_five_effects_of_reasoning_by_the_verdicts_in_the_files(data_dir):
    """By loops, scipy and statsmodels, too."""
    folder = data_dir / "predictions" / "vlm4d"
    video = {one["id"]: one["video"] for one in load(folder / "real_mc.json.gz")}
    if len(video) < 1371:
        pytest.skip(f"{folder} holds other questions; set VIDENCE_DATA to a folder with all of VLM4D's")
    videos = list(video.values())
    sizes = Counter(videos)
    for model, (value, *ends) in EFFECTS.items():
        right = {
            style: {one["id"]: float(one["correct"]) for one in load(folder / style / f"{model}.json.gz")}
            for style in STYLES
        }
        direct, cot = ([right[style][i] for i in video] for style in STYLES)
        found = compare(cot, direct, clusters=videos)
        assert (found.difference.n, found.difference.n_clusters) == (1371, 600)
        # The ends were counted by drawing videos; ours are of the t law.
        assert round(100 * found.difference.value, 1) == value, model
        assert (100 * found.difference.low, 100 * found.difference.high) == pytest.approx(ends, abs=0.3)
        gaps = np.subtract(cot, direct)
        sums = defaultdict(float)
        for gap, one in zip(gaps, videos, strict=True):
            sums[one] += gap - gaps.mean()
        error = math.sqrt(math.fsum(s**2 / (1 - sizes[v] / 1371) for v, s in sums.items())) / 1371
        t = stats.t(found.difference.dof)
        assert found.p_value == pytest.approx(2 * t.sf(abs(gaps.mean()) / error), rel=1e-6)
        assert found.difference.high == pytest.approx(gaps.mean() + t.ppf(0.975) * error)
        # Hundreds of videos: the error of statsmodels, uncorrected for few and unequal ones, is near.
        groups = np.unique(videos, return_inverse=True)[1]
        fitted = sm.OLS(gaps, np.ones(1371)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
        assert float(fitted.bse[0]) == pytest.approx(error, rel=0.02)
        assert found.standardised == pytest.approx(gaps.mean() / gaps.std(ddof=1))


def test_tempcompass_models_by_aspect(data_dir):
    found = {}
    for path in sorted((data_dir / "predictions" / "tempcompass").glob("auto_*__multi-choice.json.gz")):
        found[path.name.split("__")[1]] = {
            (video, aspect, i): float(row["rating"])
            for video, aspects in load(path).items()
            for aspect, rows in aspects.items()
            for i, row in enumerate(rows)
        }
    if len(found) < 2:
        pytest.skip("fewer than two systems of TempCompass; set VIDENCE_DATA to a folder that has them")
    one, other, *_ = found.values()
    order = sorted(set(one) & set(other))
    first, second = ([some[key] for key in order] for some in (one, other))
    videos, aspects, _ = zip(*order, strict=True)
    macro = compare(first, second, clusters=videos, groups=aspects)
    by_aspect = defaultdict(list)
    for a, b, aspect in zip(first, second, aspects, strict=True):
        by_aspect[aspect].append(a - b)
    assert macro.difference.value == pytest.approx(np.mean([np.mean(v) for v in by_aspect.values()]))
    assert macro.difference.low < macro.difference.value < macro.difference.high
