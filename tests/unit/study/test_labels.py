"""Labels of people for `vidence replies errors` and `vidence replies judges`; tables of ratings."""

import json
from itertools import combinations

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.explain.errors.labels import read_labels
from vidence.explain.errors.packet import Candidate, Draw, make_packet, read_packet
from vidence.explain.errors.shares import report
from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.records import Item
from vidence.report.error_kinds import write_packet
from vidence.report.judge_labels import read_labels as read_human
from vidence.report.scores import Draws
from vidence.study.labels import counted, human_rows, label_sections, write_labels
from vidence.study.study import Participant, PlannedTrial, Response, read_study

DRAWS = Draws(rng=np.random.default_rng(0))
# Labels by kind, in the order of the taxonomy. MMVU prints shares of 200; the mean of HumanPCR's seven
# settings is what it prints, up to the last digit, for these numbers of errors (ours: it prints none).
MMVU = {"GPT-4o": (8, 11, 14, 10, 3, 4), "Qwen2-VL": (9, 10, 13, 10, 3, 5), "Llama-3.2": (9, 9, 14, 10, 3, 5)}
MMVU |= {"DeepSeek-VL2": (10, 10, 13, 10, 3, 4)}
HUMANPCR = {
    "o3": (33, 1, 1, 11, 12, 2, 1),
    "o3-8f": (16, 3, 9, 31, 9, 5, 1),
    "GPT-4o": (6, 14, 9, 61, 2, 1, 4),
    "InternVL3": (13, 19, 2, 41, 14, 11, 13),
    "Gemini-2.5": (20, 6, 4, 23, 16, 6, 8),
    "Gemini-2.0": (26, 4, 11, 40, 3, 16, 2),
    "Gemini-2.0-1fps": (8, 13, 3, 24, 18, 7, 6),
}


def item(number):
    return Item(
        item_id=f"q{number:03}",
        question="What?",
        choices=("a", "b"),
        answer="A",
        source=f"film-{number // 2}",
    )


def study_of(folder, counts, *, taxonomy, rule, n, words=""):
    """A study of drawn replies; gives it with the planted kind of each row."""
    kinds = [kind.name for kind in load_taxonomy(taxonomy).labels]
    planted = {
        run: [k for k, times in zip(kinds, own, strict=True) for _ in range(times)]
        for run, own in counts.items()
    }
    runs = {
        run: {
            item(i).item_id: Candidate(
                item=item(i),
                standing="wrong" if i < len(own) else "right",
                answer="B",
                reply=f"It is {i}: b.",
            )
            for i in range(200)
        }
        for run, own in planted.items()
    }
    draw = Draw(taxonomy=taxonomy, rule=rule, n=n, seed=0)
    packet = make_packet(runs, draw, folders={run: f"/runs/{run}" for run in runs}, pictures={})
    write_packet(folder, packet, pictures={})
    (folder / "study.toml").write_text(f'preset = "errors"\nruns = ["x"]\n{words}')
    reply_of = packet.key.reply_of()
    truth = {row: planted[one.run][int(one.item_id[1:])] for row, one in reply_of.items()}
    return read_study(folder), packet, truth


def said(packet, row, who, place, *, repeat=0, **values):
    one = packet.key.reply_of()[row]
    trial = PlannedTrial(
        place=place, phase="errors", item_id=one.item_id, condition="whole", run=one.run, repeat=repeat
    )
    return Response(participant=who, trial=trial, values=values)


def two_people(packet, truth, *, second=lambda kind: kind, again=lambda kind: kind):
    """The rows are dealt to two; 20 % get both, and each gets 10 % of theirs twice."""
    responses = []
    for place, row in enumerate(row.row for row in packet.rows):
        for who in ("P01", "P02") if place % 5 == 0 else (f"P0{1 + place % 2}",):
            kind = truth[row] if who == "P01" else second(truth[row])
            responses.append(said(packet, row, who, place, kind=kind, quote="it is"))
            if place % 10 in {1, 2}:
                responses.append(said(packet, row, who, place + 500, repeat=1, kind=again(kind)))
    return responses


@pytest.mark.parametrize(
    ("taxonomy", "counts", "rule", "n", "column"),
    [("mmvu", MMVU, "wrong", 50, "pooled"), ("humanpcr", HUMANPCR, "same", 200, "mean")],
)
def test_planted_labels_of_two_people_give_the_shares_of_the_paper(
    tmp_path, taxonomy, counts, rule, n, column
):
    file, packet, truth = study_of(tmp_path, counts, taxonomy=taxonomy, rule=rule, n=n)
    paths = write_labels(file, two_people(packet, truth), items={})
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        "labels/people/P01.jsonl",
        "labels/people/P02.jsonl",
    ]
    kinds, drawn = load_taxonomy(taxonomy), read_packet(tmp_path)
    labels = read_labels(tmp_path, drawn, taxonomy=kinds)
    found = report(drawn, labels, kinds, rng=np.random.default_rng(0))
    table = next(one for one in found.tables if one.name == "kinds:people")
    digits = 0 if taxonomy == "mmvu" else 2
    for kind in kinds.kinds:
        printed = float(table.cell(kind.name, "printed").text)
        assert round(100 * table.estimate(kind.name, column).value, digits) == printed, kind.name
    agreed = {row.key: row for row in next(one for one in found.tables if one.name == "agreement").rows}
    assert list(agreed) == ["P01 and P02", "P01 and P01 again", "P02 and P02 again"]


def test_people_disagree_with_others_and_with_themselves_as_far_as_was_planted(tmp_path):
    file, packet, truth = study_of(tmp_path, MMVU, taxonomy="mmvu", rule="wrong", n=50)
    responses = two_people(
        packet,
        truth,
        second=lambda kind: "other" if kind == "logical" else kind,
        again=lambda kind: "logical" if kind == "knowledge-in-reasoning" else kind,
    )
    tables = {t.name: t for t in label_sections(file, responses, answers={}, items={}, draws=DRAWS)}
    both = [row.row for place, row in enumerate(packet.rows) if place % 5 == 0]
    agreed = tables["agreement"]
    expected = sum(truth[row] != "logical" for row in both) / len(both)
    assert agreed.estimate("P01 and P02", "same").value == pytest.approx(expected)
    twice = [row.row for place, row in enumerate(packet.rows) if place % 10 == 1]
    expected = sum(truth[row] != "knowledge-in-reasoning" for row in twice) / len(twice)
    assert agreed.estimate("P02 and P02 again", "same").value == pytest.approx(expected)
    # The second look is no second label: shares are of the first.
    one = tables["kinds:people"].estimate("knowledge-in-reasoning", "pooled").value
    assert one == pytest.approx(54 / 200)


def test_second_kinds_evidence_and_steps_are_kept_and_labels_of_the_excluded_go(tmp_path):
    file, packet, _ = study_of(tmp_path, MMVU, taxonomy="mmvu", rule="wrong", n=50)
    row, other = packet.rows[0].row, packet.rows[1].row
    values = {"kind": "logical", "second": "other", "quote": "IT  is", "evidence": "e1", "step": "2"}
    responses = [said(packet, row, "P01", 0, **values), said(packet, other, "P02", 0, kind="other")]
    write_labels(file, responses, items={})
    (label,) = map(json.loads, (tmp_path / "labels/people/P01.jsonl").read_text().splitlines())
    kept = {name: label[name] for name in ("kind", "second", "quote", "evidence", "step")}
    assert kept == {**values, "step": 2}
    table = label_sections(file, responses, answers={}, items={}, draws=DRAWS)[0]
    assert table.value("other", "second") == 1
    people = [
        Participant(name="P01", slot=0, state="finished"),
        Participant(name="P02", slot=1, state="withdrawn"),
    ]
    write_labels(file, counted(people, responses), items={})
    assert [path.name for path in (tmp_path / "labels/people").iterdir()] == ["P01.jsonl"]


def test_responses_that_are_no_labels_are_named(tmp_path):
    file, packet, _ = study_of(tmp_path, MMVU, taxonomy="mmvu", rule="wrong", n=50)
    row = packet.rows[0].row
    stray = marked("P02", "o1", "errors", kind="other")
    responses = [
        said(packet, row, "P01", 0, kind="slip"),
        said(packet, row, "P01", 1, kind="other", second="other"),
        said(packet, row, "P01", 2, kind="other", quote="it rains"),
        stray,
    ]
    with pytest.raises(DataError) as refused:
        write_labels(file, responses, items={})
    lines = str(refused.value).splitlines()[1:]
    starts = [
        "kind 'slip' is not one of",
        "second kind 'other' repeats the first",
        "the quote 'it rains' is not",
    ]
    starts = [f"P01, trial {i}: {start}" for i, start in enumerate(starts)]
    expected = [*starts, "P02, trial 0: its reply was not drawn"]
    assert all(line.startswith(start) for line, start in zip(lines, expected, strict=True)), lines


# --------------------------------------------------------------------------- judges


def marked(who, run, phase, *, other="", repeat=0, item_id="q1", **values):
    trial = PlannedTrial(
        place=0, phase=phase, item_id=item_id, condition="none", run=run, other=other, repeat=repeat
    )
    return Response(participant=who, trial=trial, values=values)


def test_marks_and_pairs_become_the_table_of_judges_one_for_each_arm(tmp_path):
    (tmp_path / "study.toml").write_text('preset = "judge"\nruns = ["a", "b", "c"]\n')
    file = read_study(tmp_path)
    responses = [
        marked("P01", "a", "marks", correct="right", score="4"),
        marked("P01", "b", "marks", correct="wrong", score="1"),
        marked("P01", "b", "marks", correct="right", score="3", repeat=1),
        marked("P01", "a", "pairs", other="b", better="first"),
        marked("P01", "c", "pairs", other="a", better="second"),
        marked("P01", "b", "pairs", other="c", better="tie"),
        marked("P02", "b", "pairs", other="a", better="first"),
        marked("P01", "a", "marks-rationale", correct="wrong", score="2"),
    ]
    write_labels(file, responses, items={})
    replies = frozenset((run, "q1", 0) for run in "abc")
    names = {run: run for run in "abc"}
    plain = read_human(tmp_path / "labels/human.csv", names=names, replies=replies).labels
    found = {(one.rater, one.run): (one.correct, one.points, one.beats, one.ties) for one in plain}
    assert found == {
        ("P01", "a"): (1.0, 4.0, ("b", "c"), ()),
        ("P01", "b"): (0.0, 1.0, (), ("c",)),
        ("P02", "b"): (None, None, ("a",), ()),
    }
    (arm,) = read_human(tmp_path / "labels/human-rationale.csv", names=names, replies=replies).labels
    assert (arm.rater, arm.run, arm.correct, arm.points) == ("P01", "a", 0.0, 2.0)
    assert human_rows(file.study, responses[:0], rationale=False) == []
    # A pair that is shown the other way round is the same pair.
    same = [
        marked("P01", "a", "pairs", other="b", better="first"),
        marked("P02", "b", "pairs", other="a", better="second"),
    ]
    table = label_sections(file, same, answers={}, items={"q1": item(1)}, draws=DRAWS)[-1]
    assert table.estimate("The better reply (pairs)", "same").value == 1


# --------------------------------------------------------------------------- ratings


def rate(preset, folder, values, *, field):
    """Ratings of items by people; None where one gave none."""
    (folder / "study.toml").write_text(f'preset = "{preset}"\nitems = "x.jsonl"\n')
    file = read_study(folder)
    phase = file.study.phases[0].name
    items = {item(i).item_id: item(i) for i in range(len(values))}
    responses = [
        marked(f"P0{n}", "", phase, item_id=item(i).item_id, **{field: value})
        for i, own in enumerate(values)
        for n, value in enumerate(own, 1)
        if value is not None
    ]
    found = label_sections(file, responses, answers={}, items=items, draws=DRAWS)
    return file, responses, items, {table.name: table for table in found}


def ordinal_alpha(units):
    """Krippendorff's alpha by its definition: pairs of ratings, squared ranks between them."""
    units = [own for own in units if len(own) > 1]
    values = sorted(v for own in units for v in own)
    n_of = {v: values.count(v) for v in set(values)}

    def apart(a, b):
        low, high = sorted((a, b))
        between = sum(n for v, n in n_of.items() if low <= v <= high)
        return (between - (n_of[a] + n_of[b]) / 2) ** 2 if a != b else 0

    seen = sum(2 * apart(a, b) / (len(own) - 1) for own in units for a, b in combinations(own, 2))
    chance = sum(2 * apart(a, b) for a, b in combinations(values, 2)) / (len(values) - 1)
    return 1 - seen / chance


def test_levels_of_two_people_have_the_ordinal_alpha(tmp_path):
    rng = np.random.default_rng(4)
    first = rng.integers(1, 4, 60)
    second = np.where(rng.random(60) < 0.7, first, rng.integers(1, 4, 60))
    values = [
        [str(a), None if i % 10 == 9 else str(b)] for i, (a, b) in enumerate(zip(first, second, strict=True))
    ]
    file, responses, items, tables = rate("levels", tmp_path, values, field="level")
    agreed = tables["agreement"]
    (row,) = (row.key for row in agreed.rows)
    both = [[int(v) for v in own if v is not None] for own in values]
    assert agreed.estimate(row, "alpha").value == pytest.approx(ordinal_alpha(both))
    assert (agreed.value(row, "n"), agreed.value(row, "raters")) == (54, 2)
    ratings = tables["ratings:levels:level"]
    assert [ratings.value(str(v), "ratings") for v in (1, 2, 3)] == [
        sum(own.count(v) for own in both) for v in (1, 2, 3)
    ]
    assert ratings.value("1", "agreed") == both.count([1, 1])
    (path,) = write_labels(file, responses, items=items)
    lines = path.read_text().splitlines()
    assert (path.name, len(lines)) == ("ratings.csv", 1 + 60 + 54)
    assert lines[:2] == [
        "item_id,run,phase,field,participant,repeat,value",
        f"q000,,levels,level,P01,0,{first[0]}",
    ]


def test_any_of_three_is_79_of_200_and_most_and_all_are_fewer(tmp_path):
    votes = [3] * 21 + [2] * 24 + [1] * 34 + [0] * 121
    values = [["yes" if n < yes else "no" for n in range(3)] for yes in votes]
    *_, tables = rate("expertise", tmp_path, values, field="expert")
    table = tables["votes:expertise:expert"]
    found = [(table.value(rule, "n"), table.value(rule, "of")) for rule in ("any", "majority", "all")]
    assert found == [(79, 200), (45, 200), (21, 200)]
    assert table.estimate("any", "share").value == pytest.approx(0.395)
