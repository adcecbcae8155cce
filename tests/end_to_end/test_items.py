"""``vidence items`` as a user runs it: from recorded replies to a run of a subset."""

import json

import numpy as np


def write_questions(folder, n=60):
    rows = [
        {"item_id": f"q{i}", "question": f"What is it in {i}?", "choices": ["a cat", "a dog"], "answer": "A"}
        for i in range(n)
    ]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))


def write_replies(folder, name, ability, n=60):
    rng = np.random.default_rng(100 + int(10 * ability))
    right = rng.random(n) < 1 / (1 + np.exp(-ability - np.linspace(-2, 2, n)))
    right[7] = ability < 0  # its key is wrong
    rows = [{"item_id": f"q{i}", "text": "AB"[int(not right[i])]} for i in range(n)]
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return right.mean()


def test_from_recorded_replies_to_a_predicted_score(vidence, tmp_path):
    write_questions(tmp_path)
    names = [f"m{i}" for i in range(10)]
    levels = np.linspace(-2, 2, 10)
    scores = [write_replies(tmp_path, name, one) for name, one in zip(names, levels, strict=True)]
    for name in names:
        replay = ("run", "table", "--data", "q.jsonl", "--model", f"replay:{name}.jsonl?text=text")
        done = vidence(*replay, "--out", f"runs/{name}", "--no-page")
        assert done.code == 0, done.err
    others = [f"runs/{name}" for name in names if name != "m4"]
    done = vidence("stats", "calibrate", *others[:7])
    assert done.code == 2
    assert "7 runs given; expected 8 or more" in done.err
    done = vidence("stats", "calibrate", *others, "--out", "items.json", "--json", "said.json")
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "items.json").read_text())["items"][0]["item_id"] == "q7"
    said = json.loads((tmp_path / "said.json").read_text())["sentences"]
    assert "60 questions calibrated by 9 runs" in said[0]
    done = vidence("items", "audit", "q.jsonl", "--calibration", "items.json", "--out", "card", "--no-page")
    assert done.code == 0, done.err
    assert "doubtful  q7: right answers" in done.out
    first = json.loads((tmp_path / "card" / "suspicious.jsonl").read_text().splitlines()[0])
    assert (first["item_id"], first["reasons"][0]["kind"]) == ("q7", "doubtful-key")

    done = vidence("stats", "subset", *others, "--n", "20", "--out", "subset.json")
    assert done.code == 0, done.err
    assert "random questions, their mean" in done.out
    asked = ("run", "table", "--data", "q.jsonl", "--model", "replay:m4.jsonl?text=text", "--subset")
    done = vidence(*asked, "subset.json", "--out", "runs/part", "--json", "part.json")
    assert done.code == 0, done.err
    assert "Predicted score on all 60 questions" in done.out
    assert '"predicted"' in (tmp_path / "part.json").read_text()
    assert abs(scores[4] - 0.5) < 0.2
    again = vidence("report", "runs/part")
    assert "Predicted score on all 60 questions" in again.out
    done = vidence(*asked, "items.json", "--out", "runs/wrong")
    assert done.code == 2
    assert "items.json cannot be read: " in done.err
    done = vidence(*asked, "absent.json", "--out", "runs/absent")
    assert (done.code, "absent.json cannot be read: " in done.err) == (2, True)
