"""Real replies of many models: how well few questions predict the score on all, and doubtful keys."""

import gzip
import json

import numpy as np
import pytest

from conftest import IS_THOROUGH, need
from vidence.records import Item, Media
from vidence.report.items import cross_validated, rmse, verdict
from vidence.report.pairing import PairedRuns
from vidence.statistics.item_response import DOUBTFUL, LEAST_RUNS, calibrate, falling

pytestmark = pytest.mark.parity
MOST_MODELS, STEP = (99, 1) if IS_THOROUGH else (10, 3)


def load(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.loads(file.read())


def replies_of(marks, videos, n_choices):
    """Marks of each model by question, as runs on the questions that all of them have."""
    kept = [i for i in videos if all(i in of for of in marks.values())][::STEP]
    names = sorted(marks)[:MOST_MODELS]
    items = tuple(
        Item(
            item_id=i,
            question="?",
            choices=tuple("wxyz"[: n_choices[i]]),
            answer="A",
            media=(Media(path=videos[i]),),
        )
        for i in kept
    )
    values = np.array([[float(marks[name][i]) for name in names] for i in kept])
    return PairedRuns(runs=(), names=tuple(names), items=items, values=values, noun="video")


def vlm4d(data_dir):
    folder = data_dir / "predictions" / "vlm4d"
    questions = load(need(folder / "real_mc.json.gz"))
    marks = {p.name: {r["id"]: r["correct"] for r in load(p)} for p in folder.glob("direct/*.json.gz")}
    return replies_of(
        marks, {q["id"]: q["video"] for q in questions}, {q["id"]: len(q["choices"]) for q in questions}
    )


def perceptioncomp(checks_dir, part):
    folder = checks_dir / "perceptioncomp"
    questions = {q["key"]: q for q in json.loads(need(folder / "annotations_1-1114.json").read_text())}
    first, last = map(int, part.split("-"))
    answer = {
        key: "ABCDEFGH"[int(q["answer_id"])] for key, q in questions.items() if first <= int(key) <= last
    }
    marks = {}
    for path in sorted((folder / "responses").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            said = {str(r["question_key"]): r["published_predicted"] for r in map(json.loads, file)}
        if len(said.keys() & answer.keys()) > 0.95 * len(answer):
            marks[path.name] = {key: said[key] == right for key, right in answer.items() if key in said}
    if len(marks) < LEAST_RUNS:
        pytest.skip(f"needs {LEAST_RUNS} models on questions {part} in {folder}/responses, has {len(marks)}")
    videos = {key: questions[key]["video_id"] for key in answer}
    return replies_of(
        marks, videos, {key: sum("answer_choice" in k for k in q) for key, q in questions.items()}
    )


@pytest.mark.parametrize("name", ["vlm4d", "1-500", "501-1114"])
def test_anchors_predict_the_full_score_of_models_that_were_left_out(name, data_dir, checks_dir):
    paired = vlm4d(data_dir) if name == "vlm4d" else perceptioncomp(checks_dir, name)
    sizes = (50, 100, 200) if len(paired.items) > 400 else (50, 100)
    errors = cross_validated(paired, sizes, rng=np.random.default_rng(0))
    for n, misses in errors.items():
        ours, theirs = rmse(misses, "anchors"), rmse(misses, "random")
        assert misses["anchors"].shape == (len(paired.names), 1)
        assert 0 < ours < 2 * theirs
        assert ("do not beat random questions" in verdict(n, misses)) == (ours >= theirs)
        if name == "vlm4d":  # the estimator wins on the same random questions, anchors or not
            assert rmse(misses, "random-model") < theirs
            assert ours < 1.1 * theirs
    p = falling(paired.values, calibrate(paired.values).ability, rng=np.random.default_rng(0))
    assert (p < DOUBTFUL).mean() < 0.1
