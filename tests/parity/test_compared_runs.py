"""Real predictions through `table` and `replay`: what a comparison says of them, counted again plainly."""

import dataclasses
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec
import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.records import Answered, Estimate, Item, Media
from vidence.report.comparison import compare_two, rank_runs
from vidence.report.comparison_sentences import ranked_sentences, sentences, verdict
from vidence.report.pairing import pair
from vidence.report.results import Row, Run, load_run
from vidence.statistics.paired import compare
from vidence.statistics.resampling import Resampling

pytestmark = pytest.mark.parity

LETTERS = "ABCDEFGH"


def load(path: Path) -> list[dict]:
    if not path.exists():
        pytest.skip(f"{path} is not there; set VIDENCE_DATA to a folder that has it")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write_items(questions: list[dict], path: Path) -> set[str]:
    """The questions as items; one whose right text stands under two letters cannot be scored by a letter."""
    lines, kept = [], set()
    for row in questions:
        texts = [str(text) for text in row["choices"].values()]
        if texts.count(str(row["answer"])) == 1:
            item = {
                "item_id": row["id"],
                "media": [{"path": row["video"].partition("/resolve/main/")[2]}],
                "question": row["question"],
                "choices": texts,
                "answer": LETTERS[texts.index(str(row["answer"]))],
            }
            lines.append(json.dumps(item))
            kept.add(row["id"])
    path.write_text("\n".join(lines))
    return kept


@pytest.fixture(scope="module")
def vlm4d(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Run]:
    """A run of every file of predictions (of five models unless all is wanted), by style and model."""
    folder, place = data_dir / "predictions" / "vlm4d", tmp_path_factory.mktemp("vlm4d")
    kept = write_items(load(folder / "real_mc.json.gz"), place / "items.jsonl")
    assert len(kept) > 1000
    found = {}
    for path in sorted(folder.glob("*/*.json.gz")):
        style, model = path.parent.name, path.name.removesuffix(".json.gz")
        if not IS_THOROUGH and model not in EFFECTS:
            continue
        replies = place / f"{style}-{model}.jsonl"
        replies.write_text("\n".join(json.dumps({"id": r["id"], "text": r["response"]}) for r in load(path)))
        plan = make_plan(
            "table",
            data=place / "items.jsonl",
            model=f"replay:{replies}?id=id&text=text&asked={style}",
            overrides={"style": style},
        )
        out = place / f"run-{style}-{model}"

        async def go(plan=plan, out=out) -> None:
            now = datetime(2026, 1, 1, tzinfo=UTC)
            where = Environment(cache_root=place / "cache")
            await run(plan, out, environment=where, now=now, on_event=lambda event: None)

        anyio.run(go)
        found[style, model] = load_run(out)
        assert {row.item.item_id for row in found[style, model].rows} == kept
    return found


def marks(one: Run) -> dict[str, float]:
    return {row.item.item_id: float(row.correct or 0.0) for row in one.rows}


def test_bare_letters_are_marked_as_the_authors_mark_them(vlm4d, data_dir):
    n_checked = 0
    for (style, model), one in vlm4d.items():
        if style != "direct":
            continue
        ours = marks(one)
        for row in load(data_dir / "predictions" / "vlm4d" / style / f"{model}.json.gz"):
            if row["id"] in ours and str(row["response"]).strip() in list(LETTERS):
                assert ours[row["id"]] == float(row["correct"]), (model, row["id"])
                n_checked += 1
    assert n_checked > 1000


DECLARED = tuple(f"declared as asked with {style!r}" for style in ("direct", "cot"))


def test_step_by_step_less_direct_for_every_model(vlm4d):
    both = sorted({m for s, m in vlm4d if s == "cot"} & {m for s, m in vlm4d if s == "direct"})
    assert both
    for model in both:
        direct, cot = vlm4d["direct", model], vlm4d["cot", model]
        found = compare_two(
            pair([direct, cot]), rng=np.random.default_rng(0), settings=Resampling(n_boot=500)
        )
        before, after = marks(direct), marks(cot)
        n = len(before)
        n_gained = sum(after[i] > before[i] for i in before)
        n_lost = sum(after[i] < before[i] for i in before)
        assert found.headline.difference.value == pytest.approx((n_gained - n_lost) / n)
        assert (found.headline.mcnemar.n_only_first, found.headline.mcnemar.n_only_second) == (
            n_gained,
            n_lost,
        )
        assert (
            found.headline.difference.low <= found.headline.difference.value <= found.headline.difference.high
        )
        said = sentences(found)
        assert f"{n_gained:,} better and {n_lost:,} worse" in said[0]
        assert ("cannot be told from zero" in said[0]) == (verdict(found.headline) == "unclear")
        told = [line for line in said if " was not asked: " in line]
        assert [words in line for words, line in zip(DECLARED, told, strict=True)] == [True, True]
        assert 0 < found.detectable < 0.2


def test_all_direct_models_are_ranked(vlm4d):
    runs = [one for (style, _), one in vlm4d.items() if style == "direct"]
    assert len(runs) > (10 if IS_THOROUGH else 4)
    ranked = rank_runs(pair(runs), level=0.95)
    means = {name: e.value for name, e in zip(ranked.ranking.names, ranked.ranking.means, strict=True)}
    expected = sorted((sum(m.values()) / len(m) for m in map(marks, runs)), reverse=True)
    assert list(means.values()) == pytest.approx(expected)
    clear = {(p.better, p.worse) for p in ranked.ranking.pairs if p.is_clear}
    for group in ranked.ranking.groups:
        assert not any((a, b) in clear for a in group for b in group)
    assert (
        f"{len(clear)} of {len(runs) * (len(runs) - 1) // 2} pairs can be told apart"
        in ranked_sentences(ranked)[0]
    )


# Difference, its ends: counted once from the verdicts in the files, on all 1,371 questions of 600 videos.
EFFECTS = {
    "Qwen2.5-VL-72B-Instruct_1fps": (3.1, 0.4, 6.0),
    "VideoLLaMA3-7B_1fps": (-6.7, -9.4, -4.1),
    "InternVL2_5-8B_4frame": (-0.9, -4.4, 2.8),
    "gemini-2.5-pro-preview-06-05_1fps": (-0.4, -2.5, 1.6),
    "llava-onevision-qwen2-7b-ov-chat-hf_1fps": (-1.8, -5.0, 1.6),
}


def with_verdicts(one: Run, questions: list[dict], predictions: list[dict]) -> Run:
    """A run with the authors' verdicts in place of ours, on every question."""
    said = {row["id"]: row for row in predictions}
    some = one.rows[0]
    rows = []
    for asked in questions:
        texts = [str(text) for text in asked["choices"].values()]
        item = Item(
            item_id=asked["id"],
            media=(Media(path=asked["video"]),),
            question=asked["question"],
            choices=tuple(texts),
            answer=LETTERS[texts.index(str(asked["answer"]))],
        )
        is_right = bool(said[asked["id"]]["correct"])
        score = msgspec.structs.replace(
            some.score, outcome=Answered(answer="A"), value=float(is_right), scorer="authors"
        )
        trial = msgspec.structs.replace(some.trial, item_id=item.item_id)
        rows.append(Row(item=item, trial=trial, score=score))
    return dataclasses.replace(one, rows=tuple(rows))


def added(direct: Run, cot: Run) -> Estimate:
    """What reasoning first adds, question by question."""
    paired = pair([direct, cot])
    return compare(paired.values[:, 1], paired.values[:, 0], clusters=paired.clusters).difference


def test_the_five_effects_of_reasoning_by_the_verdicts_in_the_files(vlm4d, data_dir):
    folder = data_dir / "predictions" / "vlm4d"
    questions = load(folder / "real_mc.json.gz")
    if len(questions) < 1371 or not set(EFFECTS) <= {m for s, m in vlm4d if s == "cot"}:
        pytest.skip(f"{folder} holds other predictions; set VIDENCE_DATA to a folder with all of VLM4D's")

    def one(style: str, model: str) -> Run:
        return with_verdicts(vlm4d[style, model], questions, load(folder / style / f"{model}.json.gz"))

    for model, expected in EFFECTS.items():
        found = added(one("direct", model), one("cot", model))
        assert (found.n, found.n_clusters) == (1371, 600)
        # The ends were counted by drawing videos; ours are of the t law.
        assert round(100 * found.value, 1) == expected[0], model
        assert (100 * found.low, 100 * found.high) == pytest.approx(expected[1:], abs=0.3), model


def test_the_effects_of_reasoning_as_we_read_the_replies(vlm4d):
    both = sorted({m for s, m in vlm4d if s == "cot"} & {m for s, m in vlm4d if s == "direct"})
    for model in both:
        before, after = marks(vlm4d["direct", model]), marks(vlm4d["cot", model])
        found = added(vlm4d["direct", model], vlm4d["cot", model])
        assert found.value == pytest.approx(sum(after[i] - before[i] for i in before) / len(before))
