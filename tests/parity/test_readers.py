"""The parsers on the authors' vectors and on the replies that PerceptionComp released."""

import gzip
import json
from functools import cache

import pytest

from conftest import IS_THOROUGH, need
from vidence import catalog
from vidence.records import Answered, Item, Reply

pytestmark = pytest.mark.parity

LETTERS = "ABCDEF"
RULES = {"api": "perceptioncomp-api", "gemini": "perceptioncomp-gemini", "custom": "perceptioncomp-custom"}


@cache
def parser(name):
    return catalog.create("parser", name)


def letter(name, item, text):
    outcome = parser(name).read(item, Reply(text=text))
    return outcome.answer if isinstance(outcome, Answered) else "WRONG"


@cache
def questions(folder):
    rows = json.loads(need(folder / "annotations_1-1114.json").read_text("utf-8"))
    found = {}
    for row in rows:
        choices = tuple(row[key] for i in range(6) if (key := f"answer_choice_{i}") in row)
        found[row["key"]] = Item(
            item_id=row["key"], question=row["question"], choices=choices, answer=LETTERS[row["answer_id"]]
        )
    return found


@cache
def replies(path):
    """The rows of a recorded file; a reply without text said nothing."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return tuple(row | {"raw": row.get("raw") or ""} for row in rows)


def response_files(folder):
    """Every response file that is there, with its published counts."""
    expected = json.loads(need(folder / "expected_per_file.json").read_text("utf-8"))
    paths = sorted((folder / "responses").glob("*.jsonl.gz"))
    if not paths:
        pytest.skip(
            f"{folder / 'responses'} holds no response file; set VIDENCE_CHECKS to a folder that has some"
        )
    counted = {path: expected.get(path.name.removesuffix(".jsonl.gz")) for path in paths}
    for path, counts in counted.items():
        if counts is not None:
            yield path, counts
    unknown = [path.name for path, counts in counted.items() if counts is None]
    if unknown:
        pytest.skip(f"expected_per_file.json has no counts of {', '.join(unknown)}; the others were compared")


def test_herbench_vectors(checks_dir):
    vectors = json.loads(need(checks_dir / "herbench" / "answer_extraction_vectors.json").read_text("utf-8"))
    item = Item(item_id="q", question="?", choices=("a", "b", "c", "d", "e"), answer="A")
    expected = [v["expected"].replace("ERROR", "WRONG") for v in vectors]
    assert [letter("herbench-official", item, v["response"]) for v in vectors] == expected
    assert vectors


def test_official_rules_reproduce_the_published_letters_and_counts(checks_dir):
    folder = checks_dir / "perceptioncomp"
    items = questions(folder)
    for path, expected in response_files(folder):
        rows = replies(path)
        assert expected["authors_rule"] in RULES, path.name
        rule = RULES[expected["authors_rule"]]
        read = [letter(rule, items[str(row["question_key"])], row["raw"]) for row in rows]
        differing = [
            (row["question_key"], mine, row["published_predicted"])
            for row, mine in zip(rows, read, strict=True)
            if mine != row["published_predicted"]
        ]
        # Where the study's own rule missed some rows, ours may miss no more than that.
        assert len(differing) <= expected["n"] - expected.get("rule_reproduces", 0), (path.name, differing)
        counted = {"n": len(rows)}
        for short in ("api", "gemini"):
            read = [letter(RULES[short], items[str(row["question_key"])], row["raw"]) for row in rows]
            pairs = list(zip(rows, read, strict=True))
            counted[f"{short}_correct"] = sum(mine == row["gt"] for row, mine in pairs)
            counted[f"{short}_ne_intended"] = sum(
                mine != row["intended"] for row, mine in pairs if row.get("intended")
            )
        counted["intended_known"] = sum(bool(row.get("intended")) for row in rows)
        assert counted == {name: expected.get(name, 0) for name in counted}, path.name


def test_robust_reads_what_was_intended_and_no_letter_from_recorded_errors(checks_dir):
    folder = checks_dir / "perceptioncomp"
    items = questions(folder)
    n_known = 0
    for path, expected in response_files(folder):
        known = [row for row in replies(path) if row.get("intended")][:: 1 if IS_THOROUGH else 5]
        wrong = [
            (row["question_key"], row["intended"], mine)
            for row in known
            if (mine := letter("robust", items[str(row["question_key"])], row["raw"])) != row["intended"]
        ]
        assert wrong == [], path.name  # no vendor loses a letter against its own rule
        n_known += len(known)
        errors = [row for row in replies(path) if row["raw"].startswith("ERROR") or not row["raw"].strip()]
        read = [letter("robust", items[str(row["question_key"])], row["raw"]) for row in errors]
        assert set(read) <= {"WRONG"}, path.name
        assert len(errors) >= expected.get("error_strings", 0)
    assert n_known


def test_robust_reads_the_hard_replies(checks_dir):
    """Every listed row; where there is only the end of a reply, the answer may stand before it."""
    folder = checks_dir / "perceptioncomp"
    items = questions(folder)
    listed = need(folder / "extraction_disagreements.jsonl").read_text("utf-8").splitlines()
    whole = {
        (path.name.removesuffix(".jsonl.gz"), row["question_key"]): row["raw"]
        for path in (folder / "responses").glob("*.jsonl.gz")
        for row in replies(path)
        if row["raw"]
    }
    for row in map(json.loads, listed):
        text = whole.get((row["model"], row["question_key"]))
        mine = letter("robust", items[str(row["question_key"])], row["tail"] if text is None else text)
        assert mine in ({row["intended"], "WRONG"} if text is None else {row["intended"]}), row
    assert listed


def load(path):
    with gzip.open(need(path), "rt", encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize(("system", "right", "differing"), [("gemini", 1010, 1), ("video-llava", 720, 2)])
def test_robust_agrees_with_the_verdicts_of_tempcompass(data_dir, system, right, differing):
    """Their verdicts come from fixed patterns, and from a language model where those fail."""
    folder = data_dir / "predictions" / "tempcompass"
    rated = load(folder / f"auto_eval_results__{system}__multi-choice.json.gz")
    pairs = []
    for video, aspects in load(folder / f"predictions__{system}__multi-choice.json.gz").items():
        for aspect, rows in aspects.items():
            for row, verdict in zip(rows, rated[video][aspect], strict=True):
                question, *lines = row["question"].splitlines()
                choices = tuple(line.partition(". ")[2] for line in lines)
                item = Item(item_id="q", question=question, choices=choices, answer=row["answer"][0])
                mine = letter("robust", item, row["prediction"] or "") == item.answer
                pairs.append((mine, bool(verdict["rating"])))
    assert (len(pairs), sum(theirs for _, theirs in pairs)) == (1580, right)
    assert sum(mine != theirs for mine, theirs in pairs) <= differing


def test_robust_agrees_with_the_extracted_answers_of_vlm4d(data_dir):
    """Files name the letter that a language model took out of each reply."""
    n_read, n_unread, differing = 0, 0, []
    for path in sorted((data_dir / "predictions" / "vlm4d").glob("*/*.json.gz")):
        for row in load(path)[:: 1 if IS_THOROUGH else 20]:
            choices = tuple(str(row["choices"][key]) for key in sorted(row["choices"]))
            item = Item(item_id="q", question=row["question"], choices=choices, answer="A")
            theirs = (row["extracted_answer"] or "").partition(":")[0]
            if theirs not in item.letters:
                continue
            mine = letter("robust", item, row["response"] or "")
            n_read += 1
            n_unread += mine == "WRONG"
            if mine not in {theirs, "WRONG"}:
                differing.append((path.name, row["id"], mine, theirs))
    need(data_dir / "predictions" / "vlm4d")
    assert n_read > 1000
    assert len(differing) <= max(1, n_read // 30000), differing
    assert n_unread <= n_read / 500
