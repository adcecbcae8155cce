"""``vidence run --dry-run``: what a run would take, without a request or a folder."""

import json

import pytest

from servers.openai_stub import OpenAIStub


def estimate(vidence, model: str, *more: str) -> tuple[dict[str, list[float | None]], str]:
    words = ("run", "table", "--data", "questions.jsonl", "--model", model, "--dry-run", "--json", "f.json")
    done = vidence(*words, *more)
    assert done.code == 0, done.err
    [table] = json.loads((vidence.folder / "f.json").read_text())["tables"]
    assert not (vidence.folder / "runs").exists()
    lines = {line["key"]: [line[k].get("value") for k in ("least", "most")] for line in table["lines"]}
    return lines, table["note"]


def test_asks_tokens_dollars_and_hours_are_estimated(vidence, questions):
    questions(n_clips=2, n_questions=3)
    more = ("--frames", "8", "--max-tokens", "100", "--repeats", "2", "--concurrency", "2")
    said, note = estimate(vidence, "openai:gpt-4o", *more)
    # 6 questions twice, each with 8 frames of 96 x 64 pixels, one tile of 255 tokens
    assert said["asks"] == [12, 12]
    [read, _] = said["read"]
    assert 12 * 8 * 255 < read < 12 * (8 * 255 + 100)
    assert said["written"] == [0, 1200]
    assert said["dollars"] == pytest.approx([read * 2.5e-6, read * 2.5e-6 + 1200 * 10e-6], rel=1e-3)
    assert said["hours"] == pytest.approx([12 * 5 / 2 / 3600] * 2)
    assert "2026-09-23" in note
    assert "guides/images" in note


def test_limits_of_the_rate_decide_the_hours_where_they_are_narrower(vidence, questions):
    questions(n_clips=1, n_questions=3)
    said, _ = estimate(vidence, "openai:gpt-4o", "--set", "requests_per_minute=1")
    assert said["hours"] == pytest.approx([3 / 60] * 2)
    said, _ = estimate(vidence, "openai:gpt-4o", "--set", "tokens_per_minute=100", "--max-tokens", "500")
    totals = [said["read"][0], said["read"][0] + 1500]
    assert said["hours"] == pytest.approx([n / 100 / 60 for n in totals], rel=1e-3)


def test_what_is_said_is_counted(vidence, questions):
    """Of 40 lines of 20 characters all, or one for each of the two frames."""
    path = questions(n_clips=1, n_questions=1)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"subtitles": {"path": "a.srt"}}))
    blocks = [f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{'some words ' * 2:.20}" for n in range(40)]
    (path.parent / "a.srt").write_text("\n\n".join(blocks))
    reads = {}
    for shown in ("none", "all", "shown"):
        said, note = estimate(vidence, "openai:gpt-4o", "--frames", "2", "--subtitles", shown)
        reads[shown] = said["read"][0]
    assert reads["all"] - reads["none"] == pytest.approx(40 * 20 / 4, abs=2)
    assert reads["shown"] - reads["none"] == pytest.approx(2 * 20 / 4, abs=2)
    assert "a line for each frame" in note


def test_a_montage_is_fewer_images(vidence, questions):
    questions(n_clips=1, n_questions=1)
    plain, _ = estimate(vidence, "openai:gpt-4o", "--frames", "8")
    laid_out, _ = estimate(vidence, "openai:gpt-4o", "--frames", "8", "--layout", "montage:4x2")
    # 8 tiles of 85 + 170 against one picture of 384 x 128, give or take the words
    assert plain["read"][0] - laid_out["read"][0] == pytest.approx(7 * 255, abs=30)


def test_what_is_not_known_is_said_with_what_to_give(vidence, questions):
    questions(n_clips=1, n_questions=2)
    with OpenAIStub() as server:
        model = f"openai:own?base_url={server.base_url}"
        said, note = estimate(vidence, model)
        assert not server.requests
    assert said["asks"] == [2, 2]
    assert said["read"] == said["dollars"] == [None, None]
    assert all(words in note for words in ("no price known", "--price-in", "--limit 5"))
    _, note = estimate(vidence, "openai:gpt-4o", "--layout", "video")
    assert "no rule is known for the tokens of a video" in note


def test_videos_that_cannot_be_read_are_no_sample(vidence, questions):
    questions(n_clips=1, n_questions=1)
    (vidence.folder / "clip0.mp4").write_bytes(b"no video")
    said, note = estimate(vidence, "openai:gpt-4o")
    assert said["read"] == [None, None]
    assert "of no video the size could be read" in note


def test_words_alone_cost_no_frames(vidence, questions):
    questions(n_clips=1, n_questions=1)
    said, _ = estimate(vidence, "openai:gpt-4o", "--selector", "none")
    assert 0 < said["read"][0] < 200


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"subtitles": {"path": "a.srt"}}, "--subtitles shown shows them"),
        ({}, "these questions name no file of subtitles"),
    ],
)
def test_questions_that_quote_subtitles_without_them_are_counted(vidence, questions, named, told):
    path = questions(n_clips=1, n_questions=1)
    quoting = {"question": "What is seen when the subtitle says 'now'?"}
    path.write_text(json.dumps(json.loads(path.read_text()) | quoting | named))
    done = vidence("run", "table", "--data", str(path), "--model", "scripted:A", "--out", "run")
    assert done.code == 0, done.err
    assert f"1 question(s) mention subtitles, which are not shown; {told}" in " ".join(done.err.split())
