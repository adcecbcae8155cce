"""`vidence demo`: everything that was planted is recovered, and a wrong answer would be seen."""

import dataclasses
import re
import sqlite3
import types

import msgspec
import pytest

from vidence.engine.diagnose import open_diagnostic
from vidence.errors import DataError
from vidence.records import Failed
from vidence.report.calibration import calibration_section, compare
from vidence.report.calibration_reasoning import recovered_reasoning
from vidence.report.diagnosis import load_diagnosed
from vidence.report.diagnosis_calibration import beside_planted, why_section
from vidence.report.results import load_run

MADE = r"made (\d+) questions.*?: (\d+) say.*?; (\d+) of (\d+) planted leaks"


def open_and_load(name, folder, **options):
    return load_diagnosed(open_diagnostic(name, options), folder, options=options, seed=0, level=0.95)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    import os

    from end_to_end.conftest import CommandLine

    folder = tmp_path_factory.mktemp("demo")
    line = CommandLine(folder, os.environ | {"VIDENCE_CACHE": str(folder / "cache")})
    done = line("demo", "--out", "out")
    return line, done


def test_everything_planted_is_recovered(demo):
    line, done = demo
    assert done.code == 0, done.out + done.err
    assert "everything planted was recovered" in done.out
    assert all(line.startswith("demo: ") for line in done.err.splitlines())  # how far it is, every 30 s
    page = (line.folder / "out" / "report.html").read_text()
    opening = page[page.index('class="opening"') : page.index("Planted against recovered</bdi>")]
    assert opening.count("<h3>") == 3
    assert "What was asked" in opening
    assert "What came out" in opening
    assert "vidence run table" in opening
    assert "Planted against recovered" in page
    assert "Why the score is what it is" in page
    assert "so is the finding of every question" in page
    n_made, n_right, n_gone, n_leaks = map(int, re.search(MADE, " ".join(done.out.split())).groups())
    assert n_made == n_right > 0
    assert n_gone == n_leaks > 0
    assert f"{n_right} of {n_made} questions say what was planted" in page
    assert "Planted leaks and the gate that asks without the video" in page
    assert "Naming the action" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def test_the_readers_differ_as_planted(demo):
    line, _ = demo
    share = {}
    for folder in sorted((line.folder / "out" / "runs").iterdir()):
        one = compare(load_run(folder))
        share[folder.name] = sum(one.recovered) / len(one.recovered)
    # more frames show more of the evidence; the annotated evidence shows all of it
    assert share["fuser-midpoints-8"] < share["fuser-midpoints-16"] < share["fuser-midpoints-32"] < 1.0
    assert share["fuser-evidence-16"] == 1.0
    # one question in ten gives its answer away, and that is all that reading without looking gets
    assert share["fuser-none-1"] == share["blind-midpoints-16"] == 0.1
    assert share["single-midpoints-16"] < share["forgetful-midpoints-16"] < share["fuser-midpoints-16"]


def test_a_second_demo_asks_nothing_again(demo):
    line, _ = demo
    again = line("demo", "--out", "out")
    assert again.code == 0
    assert "rendering" not in again.out
    assert "0 questions" in again.out


def test_an_answer_that_differs_is_seen(demo, rng):
    line, _ = demo
    folder = line.folder / "out" / "runs" / "fuser-evidence-16"
    with sqlite3.connect(folder / "run.sqlite") as db:
        seq, json = db.execute("SELECT seq, json FROM trials ORDER BY seq LIMIT 1").fetchone()
        row = msgspec.json.decode(json)
        row["score"]["value"] = 0.0
        db.execute("UPDATE trials SET json = ? WHERE seq = ?", (msgspec.json.encode(row).decode(), seq))
    db.close()
    one = compare(load_run(folder))
    assert one.n_different == 1
    section = calibration_section([one], rng=rng)
    assert "1 of 120 answers differ" in section.paragraphs[1]
    assert line("demo", "--out", "out").code == 1


def test_a_finding_that_differs_is_seen(demo):
    line, _ = demo
    folder = line.folder / "out" / "runs" / "fuser-evidence-16"
    found = open_and_load("mrfs", folder)
    good = beside_planted(found, load_run(folder))
    # two questions of every video need one card, and those of two to eight cards one each
    assert [(one.planted, one.found.value, one.n) for one in good] == [
        (k, k, 24 if k in (1, 3) else 12) for k in range(1, 9)
    ]
    assert all(one.is_recovered for one in good)
    first = next(i for i, one in enumerate(found.examined) if one.finding.mrfs == 5)
    examined = list(found.examined)
    changed = msgspec.structs.replace(examined[first].finding, mrfs=6)
    examined[first] = dataclasses.replace(examined[first], finding=changed)
    bad = beside_planted(dataclasses.replace(found, examined=tuple(examined)), load_run(folder))
    assert [one.n_different for one in bad] == [0, 0, 0, 0, 1, 0, 0, 0]
    assert [one.is_recovered for one in bad] == [k != 5 for k in range(1, 9)]
    section = why_section(bad)
    assert "1 of 8 figures differ" in section.paragraphs[1]
    failed = Failed(stage="model", error="TransientModelError", message="no reply")
    examined[first] = dataclasses.replace(examined[first], finding=failed)
    worse = beside_planted(dataclasses.replace(found, examined=tuple(examined)), load_run(folder))
    assert [one.n_different for one in worse] == [0, 0, 0, 0, 1, 0, 0, 0]


def test_who_guesses_is_recovered_within_intervals(demo):
    line, _ = demo
    folder = line.folder / "out" / "runs" / "fuser-guessing"
    found = open_and_load("mrfs", folder, mode="exhaustive")
    assert "Frames ranked by evidence, at most 16." in found.sentences
    (demanded,) = beside_planted(found, load_run(folder))
    assert demanded.what == "demand with luck taken out"
    assert demanded.is_drawn
    assert demanded.is_recovered
    # by the paper's definition luck makes the demand too small
    luck = found.tables()["mrfs"].estimate("all", "mean")
    assert luck.value < demanded.planted - 0.5
    assert not dataclasses.replace(demanded, planted=demanded.found.high + 0.1).is_recovered
    assert not dataclasses.replace(demanded, found=None).is_recovered
    assert "In 1 more chance is planted, too" in why_section([demanded]).paragraphs[1]
    first = next(i for i, one in enumerate(found.examined) if one.finding.mrfs)
    examined = list(found.examined)
    right = examined[first].finding.right | {16: False}
    changed = msgspec.structs.replace(examined[first].finding, right=right)
    examined[first] = dataclasses.replace(examined[first], finding=changed)
    (bad,) = beside_planted(dataclasses.replace(found, examined=tuple(examined)), load_run(folder))
    assert bad.n_different == 1
    assert not bad.is_recovered


def test_a_placebo_recovers_what_a_card_is_worth_and_that_noise_is_worth_nothing(demo):
    line, _ = demo
    runs = line.folder / "out" / "runs"
    found = open_and_load("frame-shares", runs / "fuser-evidence-16", placebo="n")
    (effect,) = beside_planted(found, load_run(runs / "fuser-evidence-16"))
    assert not effect.is_drawn
    assert effect.is_recovered
    assert effect.n > 50
    noisy = open_and_load("frame-shares", runs / "blind-noisy", placebo="n")
    nothing, beyond = beside_planted(noisy, load_run(runs / "blind-noisy"))
    assert nothing.planted == beyond.planted == 0
    assert nothing.is_recovered
    assert beyond.is_recovered
    anew = open_and_load("frame-shares", runs / "blind-noisy", placebo="jitter")
    assert [one.is_recovered for one in beside_planted(anew, load_run(runs / "blind-noisy"))] == [True, True]
    assert anew.tables()["placebo"].estimate("all", "floor").value > 0.5
    # noise alone would be read as resting on one frame
    top = noisy.tables()["frame-shares"].estimate("all", "top")
    even = noisy.tables()["frame-shares"].estimate("all", "even")
    assert top.value > even.value + 0.25


def test_a_sweep_is_told_by_the_runs_with_these_budgets(demo):
    line, _ = demo
    runs = {folder.name: load_run(folder) for folder in (line.folder / "out" / "runs").iterdir()}
    last = runs["fuser-midpoints-32"]
    found = open_and_load("budgets", last.folder)
    swept = [runs["fuser-midpoints-8"], runs["fuser-midpoints-16"], last]
    good = beside_planted(found, last, sweep=swept)
    assert [one.what for one in good] == [f"accuracy with {n} frames" for n in (8, 16, 32)]
    assert all(one.is_recovered for one in good)
    # frames of another budget do not tell what this one shows
    other = dataclasses.replace(swept[0], plan=msgspec.structs.replace(swept[0].plan, n_frames=32))
    (bad,) = beside_planted(found, last, sweep=[other])
    assert bad.n_different > 0
    assert not bad.is_recovered


def test_picking_and_refining_get_what_chance_and_knowledge_give(demo):
    line, _ = demo
    run = load_run(line.folder / "out" / "runs" / "blind-drawing")
    found = open_and_load("best-of-n", run.folder, rewards="phantom:fuser")
    good = beside_planted(found, run)
    assert [round(one.planted, 3) for one in good] == [0.28, 0.424, 0.631, 0.849]
    assert all(one.is_recovered and one.is_drawn for one in good)
    examined = list(found.examined)
    points = {"phantom:fuser": (3,) * 8}
    changed = msgspec.structs.replace(examined[0].finding, points=points)
    examined[0] = dataclasses.replace(examined[0], finding=changed)
    bad = beside_planted(dataclasses.replace(found, examined=tuple(examined)), run)
    assert [one.n_different for one in bad] == [1, 1, 1, 1]
    refined = open_and_load("self-refine", run.folder, controls="resample")
    own, anew = beside_planted(refined, run)
    assert (own.planted, own.found.value, own.is_recovered) == (0.0, 0.0, True)
    assert (round(anew.planted, 3), anew.is_recovered) == (0.144, True)


def test_orders_and_repeats_have_what_is_planted(demo):
    line, _ = demo
    runs = line.folder / "out" / "runs"

    def beside(found, folder):
        return {one.what: one for one in beside_planted(found, load_run(runs / folder))}

    lettered = open_and_load("rotations", runs / "letter-biased-midpoints-16")
    found = beside(lettered, "letter-biased-midpoints-16")
    assert [(one.planted == one.found.value, one.is_recovered) for one in found.values()] == [
        (True, True)
    ] * 2
    assert found["right in all orders"].planted == pytest.approx(64 / 120)
    kept = beside(open_and_load("rotations", runs / "blind-guessing"), "blind-guessing")
    assert round(kept["right in all orders, text kept"].planted, 2) == 0.28
    assert all(one.is_recovered for one in kept.values())
    again = open_and_load("repeats", runs / "blind-drawing")
    rows = beside(again, "blind-drawing")
    assert [round(one.planted, 3) for one in rows.values()] == [0.28, 0.631, 0.136]
    assert all(one.is_recovered and one.is_drawn for one in rows.values())
    # who is held to be another one is seen
    other = load_run(runs / "fuser-guessing")
    with pytest.raises(DataError, match="rotations are planted for letter-biased and blind"):
        beside_planted(lettered, other)
    # and so is one answer that follows the letter where a text was kept, or is wrong where it was told
    for diagnosed, folder in ((open_and_load("rotations", runs / "blind-guessing"), "blind-guessing"),
                              (again, "blind-drawing")):  # fmt: skip
        examined = list(diagnosed.examined)
        at = next(i for i, one in enumerate(examined) if one.item.tags["leak"] == "yes")
        failed = Failed(stage="model", error="TransientModelError", message="no reply")
        examined[at] = dataclasses.replace(examined[at], finding=failed)
        bad = beside(dataclasses.replace(diagnosed, examined=tuple(examined)), folder)
        assert {one.n_different for one in bad.values()} == {1}
        assert not any(one.is_recovered for one in bad.values())


def test_what_notes_add_is_recovered_and_a_run_that_has_none_is_seen(demo):
    line, _ = demo
    runs = line.folder / "out" / "runs"
    direct, cot = (load_run(runs / f"notes-{style}") for style in ("direct", "cot"))
    found = recovered_reasoning(direct, cot)
    assert [(round(one.planted, 2), one.is_recovered) for one in found] == [
        (0.6, True),
        (0, True),
        (0.75, True),
    ]
    # replies of the other style in place of those that were asked step by step
    same = dataclasses.replace(cot, rows=direct.rows)
    assert [one.is_recovered for one in recovered_reasoning(direct, same)] == [False, True, False]


def test_nothing_is_planted_for_other_diagnostics_and_readers(demo):
    line, _ = demo
    runs = line.folder / "out" / "runs"
    found = open_and_load("mrfs", runs / "fuser-evidence-16")
    other = dataclasses.replace(found, diagnostic=types.SimpleNamespace(name="horoscope"))
    with pytest.raises(DataError, match="nothing is planted for the diagnostic 'horoscope'"):
        beside_planted(other, load_run(runs / "fuser-evidence-16"))
    with pytest.raises(DataError, match="states no 'by demand'"):
        beside_planted(dataclasses.replace(found, statements=()), load_run(runs / "fuser-evidence-16"))


def test_a_run_of_another_model_is_no_calibration(vidence, questions):
    questions(n_clips=1)
    assert (
        vidence("run", "table", "--data", "questions.jsonl", "--model", "baseline:longest", "--out", "r").code
        == 0
    )
    with pytest.raises(DataError, match=r"baseline:longest.*expected phantom:"):
        compare(load_run(vidence.folder / "r"))
