"""The commands beside `run`: list, schema, probe, doctor, report."""

import json

import pytest

from servers.openai_stub import OpenAIStub


def test_list_names_everything_that_has_a_file(vidence):
    everything = vidence("list")
    assert everything.code == 0
    for line in (
        "benchmarks: ",
        "  actpld  ",
        "  table  ",
        "parsers: ",
        "  logp  ",
        "protocols: ",
        "prompts: ",
    ):
        assert f"\n{line}" in f"\n{everything.out}"
    assert [line.split()[0] for line in vidence("list", "models").out.splitlines()] == [
        "anthropic",
        "baseline",
        "gemini",
        "openai",
        "phantom",
        "pointlight-nn",
        "replay",
        "scripted",
        "transformers",
        "vllm",
    ]


def test_schema_is_that_of_the_item_format(vidence):
    schema = json.loads(vidence("schema").out)
    assert "item_id" in json.dumps(schema)


def test_probe_tells_claims_from_facts_and_goes_on_after_a_bad_file(vidence, questions):
    questions(n_clips=1)
    (vidence.folder / "bad.mp4").write_text("no video")
    done = vidence("probe", "bad.mp4", "clip0.mp4")
    assert done.code == 1
    assert "bad.mp4" in done.err
    found = json.loads(done.out)
    assert found["counted"]["n_frames"] == 40
    assert found["claimed"]["n_frames"] == 40
    assert (found["width_px"], found["height_px"]) == (96, 64)


def test_doctor_decodes_and_shows_no_secret(vidence):
    vidence.env["OPENAI_API_KEY"] = "sk-very-secret"
    done = vidence("doctor")
    assert done.code == 0, done.out
    assert "nothing is wrong" in done.out
    assert "sk-very-secret" not in done.out
    assert "are exact" in done.out


def test_doctor_says_when_the_cache_cannot_be_used(vidence):
    (vidence.folder / "file").write_text("")
    vidence.env["VIDENCE_CACHE"] = str(vidence.folder / "file" / "cache")
    done = vidence("doctor")
    assert done.code == 1
    assert "set VIDENCE_CACHE" in done.out


def test_a_cache_size_that_is_no_number_is_refused(vidence, questions):
    questions(n_clips=1)
    vidence.env["VIDENCE_CACHE_GB"] = "much"
    done = vidence("run", "table", "--data", "questions.jsonl", "--model", "baseline:longest", "--out", "r")
    assert done.code == 2
    assert "VIDENCE_CACHE_GB is 'much'" in done.err


@pytest.fixture
def two_runs(vidence, questions):
    questions()
    for letter in "AB":
        words = ["run", "table", "--data", "questions.jsonl", "--no-page", "--out", letter]
        assert vidence(*words, "--model", f"baseline:constant?letter={letter}").code == 0
    return vidence


def test_report_writes_a_page_json_and_csv(two_runs):
    done = two_runs("report", "A", "--html", "a.html", "--csv", "a.csv", "--json", "a.json")
    assert done.code == 0, done.err
    assert "33.3 %" in done.out
    assert (two_runs.folder / "a.html").stat().st_size > 10_000
    assert len((two_runs.folder / "a.csv").read_text().splitlines()) == 7
    assert json.loads((two_runs.folder / "a.json").read_text())


def test_report_sets_scores_against_chance(two_runs):
    done = two_runs("report", "A", "--against-chance", "--json", "r.json", "--html", "r.html")
    assert done.code == 0
    assert "Above chance" in done.out
    assert "Above chance" in (two_runs.folder / "r.html").read_text()
    tables = json.loads((two_runs.folder / "r.json").read_text())["tables"]
    (margin,) = [table for table in tables if table["name"] == "margin"]
    headline = next(line for line in margin["lines"] if line["key"] == "headline")
    assert headline["chance"]["estimate"]["method"].endswith("less the mean chance")
    assert "Above chance" not in two_runs("report", "A").out


def test_report_reads_replies_again_without_asking(vidence, questions):
    questions(n_clips=1, n_questions=1)
    with OpenAIStub(answer="A man appears.") as server:
        words = [
            "run",
            "table",
            "--data",
            "questions.jsonl",
            "--model",
            f"openai:m?base_url={server.base_url}",
        ]
        assert vidence(*words, "--out", "r", "--no-page").code == 0
    strict = vidence("report", "r", "--json", "robust.json")
    loose = vidence("report", "r", "--parser", "herbench-official", "--json", "loose.json")
    assert "Accuracy 0.0 %" in strict.out
    assert "Accuracy 100.0 %" in loose.out


def test_several_runs_on_one_page(two_runs):
    done = two_runs("report", "A", "B", "--html", "both.html")
    assert done.code == 0, done.err
    assert (two_runs.folder / "both.html").exists()
    refused = two_runs("report", "A", "B", "--csv", "both.csv")
    assert refused.code == 2
    assert "one run folder at a time" in refused.err


def test_help_and_version(vidence):
    assert "Commands" in vidence("--help").out
    assert "vidence, version" in vidence("--version").out
    assert "--replay-columns" in vidence("run", "--help").out
    unknown = vidence("run", "table", "--nonsense")
    assert unknown.code == 2
    assert "--nonsense" in unknown.err


def test_list_names_the_protocols_of_every_benchmark(vidence):
    found = vidence("list", "protocols").out.split()
    assert {"table/default", "mmvu/paper", "perceptioncomp/paper"} <= set(found)


def test_the_terms_of_the_data_are_said_once_and_kept(vidence, tmp_path):
    (tmp_path / "q.jsonl").write_text(
        '{"item_id": "a", "question": "Red?", "choices": ["yes", "no"], "answer": "A"}\n'
    )
    command = ("run", "table", "--data", str(tmp_path / "q.jsonl"), "--model", "baseline:longest")
    first = vidence(*command, "--out", str(tmp_path / "one"))
    second = vidence(*command, "--out", str(tmp_path / "two"))
    assert "terms: Whatever the owner" in first.err
    assert "terms:" not in second.err
    for out in ("one", "two"):
        assert 'terms = "Whatever the owner' in (tmp_path / out / "plan.toml").read_text()


def test_a_run_is_judged_afterwards(vidence, tmp_path):
    (tmp_path / "q.jsonl").write_text(
        '{"item_id": "a", "question": "Who?", "answer": "a red car", "answer_kind": "text"}\n'
    )
    (tmp_path / "said.jsonl").write_text('{"item_id": "a", "text": "some vehicle"}\n')
    (tmp_path / "verdicts.jsonl").write_text(
        '{"item_id": "a", "text": "{\\"extracted_answer\\": \\"vehicle\\", \\"correct\\": false}"}\n'
    )
    out = tmp_path / "run"
    asked = vidence(
        "run",
        "table",
        "--data",
        str(tmp_path / "q.jsonl"),
        "--model",
        f"replay:{tmp_path / 'said.jsonl'}",
        "--out",
        str(out),
    )
    assert "Waiting for a judge" in asked.out
    judged = vidence(
        "judge",
        str(out),
        "--judge",
        "mmvu-official",
        "--judge-model",
        f"replay:{tmp_path / 'verdicts.jsonl'}",
    )
    assert "Waiting for a judge" not in judged.out
    assert "Accuracy 0.0 %" in judged.out
    assert "no judge error" in " ".join(judged.out.split())  # what was recorded cannot know the id
    assert 'judge = "mmvu-official"' in (out / "plan.toml").read_text()
    wrong = vidence("judge", str(out), "--judge", "mmvu-offical", "--judge-model", "scripted:x")
    assert wrong.code == 2
    assert "Did you mean 'mmvu-official'?" in wrong.err
