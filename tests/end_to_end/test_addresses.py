"""A run over videos in a bucket is the run over the same in a folder, and nothing of the keys is kept."""

import json

import pytest

from servers.objects import KEYS, on_loopback


@pytest.fixture
def objects(monkeypatch, vidence):
    pytest.importorskip("s3fs", reason="s3:// needs s3fs: pip install 'vidence[remote]'")
    with on_loopback(monkeypatch) as server:
        vidence.env.update({**KEYS, "AWS_ENDPOINT_URL": server.url})
        yield server


def run(vidence, out, *words):
    return vidence(
        *("run", "table", "--data", "questions.jsonl", "--model", "phantom:fuser", "--frames", "4"),
        *("--out", out, *words),
    )


@pytest.fixture
def bucket(objects, questions, vidence):
    """Two clips in the folder, and the same ones in a bucket and not beside the questions."""
    questions()
    (vidence.folder / "videos").mkdir()
    for path in list(vidence.folder.glob("*.mp4")):
        objects.put("lab", f"videos/{path.name}", path.read_bytes())
        path.rename(vidence.folder / "videos" / path.name)
    return "s3://lab/videos"


def prompts(vidence, out):
    return {item_id: trial.prompt for item_id, trial in vidence.trials(out).items()}


def test_a_run_over_a_bucket_is_the_run_over_its_files(vidence, bucket, objects):
    ours, theirs = run(vidence, "ours", "--media", "videos"), run(vidence, "theirs", "--media", bucket)
    assert (ours.code, theirs.code) == (0, 0), theirs.err
    assert prompts(vidence, "ours") == prompts(vidence, "theirs")
    assert "replies taken from the reply memory" in theirs.out + theirs.err
    page = (vidence.folder / "theirs" / "report.html").read_text()
    assert "data:image/jpeg" in page
    objects.requests.clear()
    assert vidence("report", "theirs", "--html", "again.html").code == 0
    assert "data:image/jpeg" in (vidence.folder / "again.html").read_text()
    assert not objects.requests  # a report asks nobody
    assert vidence("resume", "theirs").code == 0
    assert not any(method == "GET" and asked for method, _, asked in objects.requests)
    kept = [path for path in (vidence.folder / "theirs").rglob("*") if path.is_file()]
    assert not any(KEYS["AWS_SECRET_ACCESS_KEY"].encode() in path.read_bytes() for path in kept)


def test_addresses_in_questions_are_read_where_they_are_named(vidence, bucket):
    path = vidence.folder / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["media"] = [{"path": f"{bucket}/{row['media'][0]['path']}"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    refused = run(vidence, "run")
    assert refused.code == 2
    assert "add --media-at s3://lab" in refused.err
    done = run(vidence, "run", "--media-at", "s3://lab")
    assert done.code == 0, done.err
    assert "2 media lie outside the folder of the questions" in done.out + done.err
    assert vidence("resume", "run").code == 0  # one's own word is kept


def test_what_is_missing_in_a_bucket_is_named_before_anything_is_asked(vidence, bucket, objects):
    del objects.objects["lab/videos/clip1.mp4"]
    done = run(vidence, "run", "--media", bucket)
    assert done.code == 2
    assert f"1 video is missing, which 3 of 6 questions need:\n  {bucket}/clip1.mp4\n" in done.err
    assert run(vidence, "run", "--media", bucket, "--allow-missing").code == 3


def test_sets_are_described_audited_and_probed_at_an_address(vidence, bucket):
    done = vidence("items", "describe", "questions.jsonl", "--media", bucket)
    assert "(2 of 2 measured)" in done.out, done.err
    probed = vidence("videos", "probe", f"{bucket}/clip0.mp4", f"{bucket}/none.mp4")
    assert probed.code == 1
    assert json.loads(probed.out)["version"].startswith("said-")
    assert f"{bucket}/none.mp4: there is no such file" in probed.err
    assert vidence("items", "audit", "questions.jsonl", "--media", bucket).code == 0


def test_a_panel_takes_an_address_as_it_is(vidence, bucket):
    (vidence.folder / "panel.toml").write_text(
        f"""
        [settings]
        frames = 4
        [[benchmarks]]
        benchmark = "table"
        data = "questions.jsonl"
        media = "{bucket}"
        [[models]]
        model = "phantom:fuser"
        """
    )
    refused = vidence("panel", "panel.toml", "--out", "panel")
    assert refused.code == 2
    assert "to read media from s3://lab" in refused.err
    done = vidence("panel", "panel.toml", "--out", "panel", "--trust")
    assert done.code == 0, done.err
