"""Judges against the rule on choices, over HTTP: the check that needs no people, with planted errors."""

import gzip
import hashlib
import json
import re

import pytest

from conftest import need
from servers.openai_stub import OpenAIStub

SENSITIVITY, SPECIFICITY = 0.9, 0.8
N_REAL = 500


def drawn(*what):
    """A number in [0, 1) that depends on nothing else."""
    return int.from_bytes(hashlib.sha256("\n".join(map(str, what)).encode()).digest()[:6]) / 2**48


class PlantedJudge:
    """Knows which reply is right, and is wrong about some: by chance, but about the same ones each time."""

    def __init__(self, is_right):
        self.is_right = is_right  # of the reply's words and the right answer
        self.n_right_found = self.n_wrong_found = 0
        self.n_right = self.n_wrong = 0
        self.n_open = 0

    def __call__(self, body):
        words = "\n".join(m["content"] for m in body["messages"] if isinstance(m["content"], str))
        answer = re.search(r"^Ground truth answer: (.*)$", words, re.MULTILINE)[1]
        block_id, said = re.search(r'<reply id="(\w+)">\n(".*")$', words, re.MULTILINE).groups()
        self.n_open += "Options:" not in words
        truth = self.is_right(json.loads(said), answer)
        is_found = drawn(block_id) < (SENSITIVITY if truth else SPECIFICITY)
        self.n_right += truth
        self.n_wrong += not truth
        self.n_right_found += truth and is_found
        self.n_wrong_found += not truth and is_found
        verdict = truth is is_found
        extracted = answer if verdict else ("A" if answer != "A" else "B")
        return json.dumps({"id": block_id, "extracted_answer": extracted, "correct": verdict})


def recorded(vidence, name, benchmark, data, said):
    (vidence.folder / f"{name}.jsonl").write_text(
        "\n".join(json.dumps({"item_id": item_id, "text": text}) for item_id, text in said.items())
    )
    done = vidence(
        *("run", benchmark, "--data", str(data), "--model", f"replay:{name}.jsonl", "--out", name),
        *("--selector", "none", "--no-page"),
    )
    assert done.code == 0, done.err


def against_rule(vidence, judge, *words):
    """One command over a run; the line of the table, which must hold what was planted."""
    with OpenAIStub(answer=judge, key="k") as server:
        vidence.env["OPENAI_API_KEY"] = "k"
        model = f"openai:judge?base_url={server.base_url}"
        done = vidence("judges", *words, "--judge-model", model, "--json", "found.json")
    assert done.code == 0, done.err
    (line,) = json.loads((vidence.folder / "found.json").read_text())["judges"]["rules"]
    assert line["n_without"] == 0
    for name, planted in (("sensitivity", SENSITIVITY), ("specificity", SPECIFICITY)):
        assert line[name]["low"] <= planted <= line[name]["high"], (name, line[name])
    return line, done


def test_a_judge_on_the_choices_of_mmvu(vidence, checks_dir):
    released = json.loads(gzip.decompress(need(checks_dir / "mmvu" / "validation.json.gz").read_bytes()))
    (vidence.folder / "validation.json").write_text(json.dumps(released))

    def said(row):
        right = drawn("reply", row["id"]) < 0.55
        letters = [letter for letter in "ABCDE" if (letter == row["answer"]) is right]
        return f"Therefore, the final answer is: {letters[int(drawn(row['id']) * len(letters))]}."

    replies = {
        row["id"]: said(row) if row["question_type"] == "multiple-choice" else "I cannot tell."
        for row in released
    }
    recorded(vidence, "mmvu", "mmvu", "validation.json", replies)
    judge = PlantedJudge(lambda text, answer: text.endswith(f": {answer}."))
    line, done = against_rule(vidence, judge, "mmvu", "--only", "choices", "--lines", "l.jsonl")
    assert "625 replies: 625 verdicts at most" in done.err
    assert (line["n"], judge.n_open) == (625, 0)
    assert line["sensitivity"]["value"] == pytest.approx(judge.n_right_found / judge.n_right)
    assert line["specificity"]["value"] == pytest.approx(judge.n_wrong_found / judge.n_wrong)
    found = json.loads((vidence.folder / "found.json").read_text())
    again = vidence("judges", "mmvu", "--only", "choices", "--recorded", "l.jsonl", "--json", "again.json")
    assert again.code == 0, again.err
    assert json.loads((vidence.folder / "again.json").read_text()) == found


def test_a_judge_on_replies_that_were_really_given(vidence, data_dir):
    path = need(data_dir / "predictions" / "vlm4d" / "cot" / "InternVL2_5-8B_4frame.json.gz")
    items, replies, marks = [], {}, {}
    for row in json.loads(gzip.decompress(path.read_bytes())):
        texts = [str(text) for text in row["choices"].values()]
        right = str(row["ground_truth_answer"])
        if "" in texts or len(set(texts)) < len(texts) or right not in texts or len(items) == N_REAL:
            continue
        letter = "ABCDEFGHIJ"[texts.index(right)]
        items.append({"item_id": row["id"], "question": row["question"], "choices": texts, "answer": letter})
        replies[row["id"]] = row["response"]
        marks[row["response"], letter] = bool(row["correct"])
    (vidence.folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    recorded(vidence, "vlm4d", "table", "items.jsonl", replies)
    # The released judge's marks are the truth here; on these replies the rule says the same.
    judge = PlantedJudge(lambda text, answer: marks[text, answer])
    line, _ = against_rule(vidence, judge, "vlm4d", "--judge", "mmvu-official")
    assert N_REAL - 5 <= line["n"] <= N_REAL == judge.n_right + judge.n_wrong
