"""Whole runs over real recorded replies: the official parsers give the published letters and counts."""

import csv
import functools
import gzip
import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import pytest

from conftest import IS_THOROUGH, need
from vidence.cli.main import main
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.engine.submission import checked, read_submission, rules_for, score_submission
from vidence.report.export import write_csv
from vidence.report.results import SEED, load_run
from vidence.report.scores import Draws, headline_accuracy

pytestmark = pytest.mark.parity
RULES = ("api", "gemini", "custom")
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "reproducing.md"
ONE = "GPT-5-chat-latest@1-500"
thorough = pytest.mark.skipif(not IS_THOROUGH, reason="replays other files; `make test-long` does")


def response_files(checks_dir):
    folder = checks_dir / "perceptioncomp" / "responses"
    found = sorted(folder.glob("*.jsonl.gz"))
    if not found:
        pytest.skip(f"{folder} holds no recorded responses; set VIDENCE_CHECKS to a folder that does")
    return found if IS_THOROUGH else [path for path in found if path.name.startswith(ONE)] or found[:1]


def recorded(path):
    """The rows of a recorded file by the key of the question."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {str(row["question_key"]): row for row in map(json.loads, file)}


def with_texts(path, rows, folder):
    """The file itself; where rows have no text, a copy in which these said nothing."""
    if all("raw" in row for row in rows.values()):
        return path
    copy = folder / path.name.removesuffix(".gz")
    lines = [json.dumps({"raw": "", **row}) for row in rows.values()]
    copy.write_text("\n".join(lines), encoding="utf-8")
    return copy


def replay(responses, annotations, folder, **overrides):
    """Run PerceptionComp over one recorded file, on what it has unless told; returns the run folder."""
    plan = make_plan(
        "perceptioncomp",
        data=annotations,
        model=f"replay:{responses}?id=question_key&text=raw",
        overrides=overrides or {"recorded_only": True},
    )

    async def go():
        place = Environment(cache_root=folder / "cache")
        now = datetime(2026, 1, 1, tzinfo=UTC)
        await run(plan, folder / "run", environment=place, now=now, on_event=lambda event: None)

    anyio.run(go)
    return folder / "run"


@pytest.fixture(scope="module")
def replayed(checks_dir, tmp_path_factory):
    """The run folder of a recorded file, made once."""

    @functools.cache
    def folder_of(path, **overrides):
        annotations = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
        folder = tmp_path_factory.mktemp("replayed")
        return replay(with_texts(path, recorded(path), folder), annotations, folder, **overrides)

    return folder_of


def rows_of(run_folder, parser, tmp_path):
    """The CSV of a run as read by one parser, by item id."""
    path = tmp_path / f"{parser}.csv"
    write_csv([load_run(run_folder, parser=parser)], path)
    with path.open(newline="") as file:
        return {row["item_id"]: row for row in csv.DictReader(file)}


def n_correct(rows):
    return sum(float(row["correct"]) == 1.0 for row in rows.values())


def test_every_recorded_run_gives_the_published_letters_and_counts(checks_dir, replayed, tmp_path):
    expected = json.loads(need(checks_dir / "perceptioncomp" / "expected_per_file.json").read_text())
    unknown = []
    for path in response_files(checks_dir):
        counts = expected.get(path.name.removesuffix(".jsonl.gz"))
        if counts is None:
            unknown.append(path.name)
            continue
        rows = recorded(path)
        folder = replayed(path)
        by_parser = {name: rows_of(folder, f"perceptioncomp-{name}", tmp_path) for name in RULES}
        assert {name: n_correct(by_parser[name]) for name in ("api", "gemini")} == {
            "api": counts.get("api_correct", 0),
            "gemini": counts.get("gemini_correct", 0),
        }, path.name
        assert counts["authors_rule"] in by_parser, path.name
        authors = by_parser[counts["authors_rule"]]
        assert set(authors) == set(rows)
        same = sum(
            (authors[key]["read"] or "WRONG") == row["published_predicted"] for key, row in rows.items()
        )
        assert same >= counts.get("rule_reproduces", 0), path.name
        robust = rows_of(folder, "robust", tmp_path)
        known = {key: row["intended"] for key, row in rows.items() if row.get("intended")}
        # One reply of 2,477 states two numbers and then a letter: no letter is better than a wrong one.
        lost = [key for key in known if robust[key]["read"] != known[key]]
        assert not [key for key in lost if robust[key]["read"]], path.name
        assert len(lost) <= len(known) / 500, path.name
    if unknown:
        pytest.skip(f"expected_per_file.json has no counts of {', '.join(unknown)}; the others were compared")


def test_the_report_says_how_many_letters_another_parser_changes(checks_dir, replayed, tmp_path):
    from vidence.report.parsers import parser_tables

    folder = replayed(response_files(checks_dir)[0])
    robust = rows_of(folder, "robust", tmp_path)
    gemini = rows_of(folder, "perceptioncomp-gemini", tmp_path)
    n_changed = sum(robust[key]["read"] != gemini[key]["read"] for key in robust)
    table, _ = parser_tables(load_run(folder), ["robust", "perceptioncomp-gemini"])
    assert table.cell("perceptioncomp-gemini", "changed").value == n_changed


def test_what_is_printed_fits_and_says_nothing_twice(checks_dir, replayed, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = response_files(checks_dir)[0]
    first, *others = [
        str(replayed(path, recorded_only=True, parser=parser))
        for parser in ("robust", "perceptioncomp-gemini", "perceptioncomp-api")
    ]
    kinds = {
        ("report", first): 40,
        ("report", first, *others): 40,
        ("report", first, "--published"): 60,
        ("compare", first, others[0]): 25,
        ("compare", first, *others): 25,
    }
    for command, most in kinds.items():
        texts = []
        for more in ((), ("--all",)):
            with pytest.raises(SystemExit) as ended:
                main([*command, *more])
            assert not ended.value.code
            texts.append(capsys.readouterr().out)
        printed, whole = texts
        lines = printed.splitlines()
        assert 10 < len(lines) <= most, command
        assert max(map(len, lines)) <= 80
        assert len(whole.splitlines()) > len(lines)
        for text in texts:
            said = Counter(
                one for one in re.split(r"(?<=[.!?])\s+", " ".join(text.split())) if one.count(" ") > 2
            )
            assert [one for one, n in said.items() if n > 1] == [], command


def test_the_page_of_reproducing_prints_what_comes_out(checks_dir, replayed):
    """Its table gives the right answers and the percentage for each parser."""
    pattern = r"^\| `([\w-]+)` \| (\d+) \| ([\d.]+) \|$"
    printed = {
        parser: (int(n), percent)
        for parser, n, percent in re.findall(pattern, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    }
    folder = replayed(need(checks_dir / "perceptioncomp" / "responses" / f"{ONE}.jsonl.gz"))
    found = {}
    for parser in ("perceptioncomp-gemini", "perceptioncomp-api", "robust"):
        rows = load_run(folder, parser=parser).rows
        n_right = sum(row.correct == 1.0 for row in rows)
        found[parser] = (n_right, f"{100 * n_right / len(rows):.1f}")
    assert found == printed
    assert sum(row.outcome == "unreadable" for row in rows) == 5


@thorough
def test_a_difference_that_hangs_on_the_parser_is_said_to(checks_dir, replayed):
    """Qwen2.5-VL-7B less GPT-5-chat-latest: -20.6 by `robust`, -3.8 and -16.0 by the released rules."""
    from vidence.report.comparison import compare_runs
    from vidence.report.comparison_tables import sentences
    from vidence.report.pairing import pair

    folder = need(checks_dir / "perceptioncomp" / "responses")
    paths = [need(folder / f"{name}.jsonl.gz") for name in (ONE, "Qwen2.5-VL-7B@1-500")]
    runs = [load_run(replayed(path, split="seed500")) for path in paths]
    found = compare_runs(pair(runs))
    assert found.headline.difference.value == pytest.approx(-0.206)
    by_parser = {one.parser: one.comparison for one in found.unread.readings}
    assert by_parser["perceptioncomp-gemini"].difference.value == pytest.approx(-0.038)
    assert by_parser["perceptioncomp-gemini"].verdict == "not clear"
    assert by_parser["perceptioncomp-api"].difference.value == pytest.approx(-0.160)
    assert [run.outcomes["unreadable"] for run in found.unread.runs] == [5, 131]
    assert found.unread.both_answered.difference.n == 366
    assert found.unread.both_answered.difference.value == pytest.approx(-49 / 366)
    assert (found.unread.worst.difference.value, found.unread.best.difference.value) == pytest.approx(
        (-0.216, 0.058)
    )
    said = sentences(found)[0]
    assert "20.6 points below replay:GPT-5-chat-latest@1-500, but this depends on the parser" in said
    assert "perceptioncomp-gemini: -3.8 (not clear)) and on 137 trials without an answer" in said


# Level 3 less level 1 of every recorded run, counted apart from this code.
LEVELS = {
    "GPT-4.1@501-1114": (-0.077, (-0.199, 0.047)),
    "GPT-5-chat-latest@1-500": (-0.030, (-0.147, 0.086)),
    "Gemini-3.1-Pro@1-500": (-0.033, (-0.155, 0.073)),
    "Qwen2.5-VL-7B@1-500": (-0.018, (-0.099, 0.064)),
    "Seed-2.0-Pro@501-1114": (-0.130, (-0.232, -0.012)),
}


@thorough
def test_level_3_less_level_1_of_every_recorded_run(checks_dir, replayed):
    """PerceptionComp, section 4.1, says that accuracy "drops sharply at Level 3"."""
    from vidence.report.contrasts import contrast_runs

    runs, expected = [], []
    for path in response_files(checks_dir):
        known = LEVELS.get(path.name.removesuffix(".jsonl.gz"))
        if known is None:
            continue
        runs.append(load_run(replayed(path)))
        expected.append(known)
    found = contrast_runs(runs, tag="difficulty", pairs=[("3", "1")], has_trend=True)
    pairs = [one for one in found.contrasts if one.of]
    assert len(pairs) == len(expected)
    for one, read, (value, drawn) in zip(pairs, runs, expected, strict=True):
        marks = {
            level: [row.correct for row in read.rows if row.item.tags["difficulty"] == level]
            for level in "13"
        }
        means = {level: sum(some) / len(some) for level, some in marks.items()}
        estimate = one.contrast.estimate
        assert estimate.value == pytest.approx(means["3"] - means["1"])
        assert estimate.value == pytest.approx(value, abs=0.004)
        # A bootstrap of whole videos, which is a little too narrow.
        assert (estimate.low, estimate.high) == pytest.approx(drawn, abs=0.03)
        assert one.contrast.n_shared > 10
    # One of five is distinguishable from zero alone, and none is after Holm's adjustment.
    assert sum(one.contrast.p_value < 0.05 for one in pairs) == 1
    assert not any(one.is_clear for one in pairs)


def test_a_submission_of_real_replies_scores_as_they_do_with_the_answers(checks_dir, replayed, tmp_path):
    annotations = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    path = response_files(checks_dir)[0]
    rows = json.loads(annotations.read_text())
    public = [{name: row[name] for name in row if name not in ("answer_id", "answer")} for row in rows]
    (tmp_path / "public.json").write_text(json.dumps(public))
    texts = with_texts(path, recorded(path), tmp_path)
    hidden = replay(texts, tmp_path / "public.json", tmp_path, recorded_only=True)
    known = load_run(replayed(path))
    assert load_run(hidden).no_score == "answers hidden"
    whole = tuple(row.item for row in known.rows)
    check = checked(read_submission(hidden), whole)
    assert check.is_clean
    assert len(check.rows) == len(known.rows) > 400

    async def score():
        return await score_submission(
            check,
            tmp_path / "scored",
            overrides=rules_for(whole, is_judged=False),
            environment=Environment(cache_root=tmp_path / "cache"),
            now=datetime(2026, 1, 1, tzinfo=UTC),
            on_event=lambda event: None,
        )

    assert anyio.run(score).n_tried == len(known.rows)
    scored = load_run(tmp_path / "scored")
    values = [{row.item.item_id: row.correct for row in run.rows} for run in (scored, known)]
    assert values[0] == values[1]
    draws = Draws(rng=np.random.default_rng(SEED))
    assert headline_accuracy(scored, draws=draws) == headline_accuracy(known, draws=draws)
