"""Statistics of released sets against those that were counted apart from them, and against the papers."""

import gzip
import json
from collections import Counter

import pytest

from conftest import need
from vidence.ask.benchmarks.mmvu import create as mmvu
from vidence.ask.benchmarks.perceptioncomp import create as perceptioncomp
from vidence.report.set_statistics import describe


@pytest.fixture(scope="module")
def described(checks_dir):
    loaded = mmvu().load(need(checks_dir / "mmvu" / "validation.json.gz"), split="validation", strict=True)
    return describe(loaded.items, name="mmvu", crossed=[("discipline", "answer_kind")])


def values(found, table, row):
    (one,) = (one for one in found.tables if one.name == table)
    return one.row(row).values


def test_counts_are_those_of_mmvu(described, checks_dir):
    wanted = json.loads((checks_dir / "mmvu" / "validation_stats.json").read_text())
    rows = ("choice-question", "option", "open-question", "open-answer", "rationale")
    keys = ("mc_question", "mc_option", "oe_question", "oe_answer", "rationale")
    for key, row in zip(keys, rows, strict=True):
        _, mean, _, most, _ = values(described, "words", row)
        assert [round(mean, 2), most] == wanted[f"{key}_words_avg_max"]
    n, mean, _, most, different = values(described, "counts", "knowledge")
    assert ([round(mean, 2), most], different) == (
        wanted["knowledge_per_q_avg_max"],
        wanted["unique_knowledge"],
    )
    assert n == wanted["n"]
    assert values(described, "videos", "videos")[0] == wanted["unique_videos"]
    for name, key in (("letters", "mc_answer_letters"), ("tag-subject", "subjects")):
        assert {row.key: row.values[0] for row in table_of(described, name).rows} == wanted[key]
    crossed = {row.key: row.values for row in table_of(described, "crossed-discipline-answer_kind").rows}
    assert crossed == {
        name: (kinds["multiple-choice"], kinds["open-ended"])
        for name, kinds in wanted["discipline_x_type"].items()
    }


def table_of(found, name):
    (one,) = (one for one in found.tables if one.name == name)
    return one


def test_perceptioncomp_is_counted_as_its_file_says(checks_dir):
    path = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    rows = json.loads(path.read_text())
    loaded = perceptioncomp().load(path, split="all", strict=False)
    found = describe(loaded.items, name="perceptioncomp")
    assert len(loaded.items) == len(rows)
    letters = {row.key: row.values[0] for row in table_of(found, "letters").rows}
    assert letters == {"ABCDE"[k]: n for k, n in sorted(Counter(row["answer_id"] for row in rows).items())}
    assert values(found, "videos", "videos")[0] == len({row["video_id"] for row in rows})


def test_perceptioncomp_has_the_words_that_were_counted_apart(checks_dir):
    path = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    items = perceptioncomp().load(path, split="all", strict=False).items[:500]
    found = describe(items, name="1-500", crossed=[("difficulty", "n_conditions")])
    _, options, _, longest, _ = values(found, "words", "option")
    _, questions, _, most, _ = values(found, "words", "question")
    assert (round(options, 2), longest, round(questions, 1), most) == (1.58, 16, 61.0, 121)
    crossed = table_of(found, "crossed-difficulty-n_conditions")
    assert sum(n for row in crossed.rows for n in row.values) == len(items)
    assert table_of(found, "crossed-difficulty-n_conditions-shares").figure == "matrix"


def test_questions_by_textbook_are_those_of_mmvus_file(described, checks_dir):
    rows = json.loads(gzip.decompress(need(checks_dir / "mmvu" / "validation.json.gz").read_bytes()))
    of = [(row["metadata"]["subject"], row["metadata"]["textbook"]) for row in rows]
    videos = {(book, row["video"]) for book, row in zip(of, rows, strict=True)}
    n_videos = Counter(book for book, _ in videos)
    table = table_of(described, "textbooks")
    assert {(row.detail, row.label): row.values for row in table.rows} == {
        book: (n, n_videos[book], None, None) for book, n in Counter(of).items()
    }
    assert (len({book for _, book in of}), sum(row.values[0] for row in table.rows)) == (48, 1000)
    assert len({subject for subject, _ in of}) == 27
