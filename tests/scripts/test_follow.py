"""Five newcomers follow the pages of docs/paths word for word, each in an empty folder and home."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from servers.youtube import KEY, YouTubeServer
from videos import pans

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "paths").glob("*.md"))
MOST_WORDS = 500  # ten minutes, commands and files included


@pytest.fixture(scope="module")
def follow(script):
    return script("follow")


@pytest.fixture(scope="module")
def written(follow, script, tmp_path_factory):
    """Follow a page once; the folder that it leaves."""
    folders: dict[str, Path] = {}

    def folder_of(name: str) -> Path:
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name)
            for _ in follow.follow(ROOT / "docs" / "paths" / f"{name}.md", folders[name], is_offline=True):
                pass
        return folders[name]

    return folder_of


def test_there_is_a_page_for_each_role():
    assert [page.stem for page in PAGES] == ["build", "diagnose", "evaluate", "extend", "people"]
    words = {page.stem: len(page.read_text(encoding="utf-8").split()) for page in PAGES}
    assert {name: n for name, n in words.items() if n > MOST_WORDS} == {}


@pytest.mark.parametrize("name", [page.stem for page in PAGES])
def test_a_page_leads_to_its_end_without_a_step_that_is_not_on_it(script, written, name):
    folder = written(name)
    assert any(path.is_file() for path in folder.rglob("*.html"))
    for picture, (page, file, _) in script("pictures").PICTURES.items():
        if page == name:
            assert (folder / file).is_file(), picture


def test_pictures_are_drawn_and_small(script):
    images = ROOT / "docs" / "images"
    assert {path.stem for path in images.glob("*.png")} == set(script("pictures").PICTURES)
    assert {path.name for path in images.glob("*.png") if path.stat().st_size >= 150_000} == set()


def page_of(tmp_path: Path, text: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```\nvidence run table --data absent.jsonl --model baseline:random\n```\n", "absent.jsonl"),
        ("```\nvidence --version\n```\n\n```text\nversion ... of the moon\n```\n", "of the moon"),
        ("```\ncurl example.org\n```\n", "expected vidence, python FILE or pip install"),
    ],
)
def test_a_step_that_is_missing_or_prints_something_else_is_seen(follow, tmp_path, text, message):
    with pytest.raises(SystemExit, match=message):
        list(follow.follow(page_of(tmp_path, text), tmp_path))


def test_files_are_written_scripts_are_run_and_other_blocks_are_read_only(follow, tmp_path):
    text = (
        "```\npip install '.[studio,parquet]'\n```\n\n```toml title=\"a/b.toml\"\nx = 1\n```\n\n"
        '```toml\ny = 2\n```\n\n```python\nprint(open("a/b.toml").read())\n```\n\n```text\nx ... 1\n```\n'
    )
    assert follow.extras(text) == ["studio", "parquet"]
    assert list(follow.follow(page_of(tmp_path, text), tmp_path)) == ["", "x = 1\n\n"]


HUMANPCR = ROOT / "docs" / "making" / "humanpcr.md"
SAMPLES = ROOT / "tests" / "golden" / "makers"
WORKSHOP = """
name = "workshop"
[licence]
[gates]
[review]
protocol = "mmvu"
[release]
splits = { validation = 0.5, test = 0.5 }
"""
REASONING = """
name = "reasoning"
form = "humanpcr-r"
[gates]
[review]
protocol = "humanpcr-r"
[release]
"""


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, lines: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def write_film(folder: Path, *, seconds: int) -> None:
    """A film without sound, and its list."""
    (folder / "films").mkdir()
    pans.write(folder / "films" / "a.mp4", pans.pan(0.2, n_frames=10 * seconds))
    (folder / "films.csv").write_text("video\nfilms/a.mp4\n")


@pytest.fixture
def youtube(monkeypatch):
    with YouTubeServer(licences=dict.fromkeys(("aaaaaaaaaaa", "bbbbbbbbbbb"), "creativeCommon")) as server:
        monkeypatch.setenv("VIDENCE_YOUTUBE_API", server.url)
        monkeypatch.setenv("YOUTUBE_API_KEY", KEY)
        yield server


def test_the_steps_of_mmvu_lead_from_films_to_a_release_with_a_hidden_test(follow, youtube, tmp_path):
    """The page says which files people bring: films, subjects, concepts, videos and drafts."""
    sample = SAMPLES / "expert"
    write_film(tmp_path, seconds=65)
    for name in ("subjects.toml", "concepts.jsonl", "drafts.jsonl"):
        (tmp_path / name).write_bytes((sample / name).read_bytes())
    place = {"path": "films/a.mp4"}
    videos = [line | place for line in lines_of(sample / "videos.jsonl") if "refused" not in line]
    write_lines(tmp_path / "videos.jsonl", videos)
    (tmp_path / "workshop.toml").write_text(WORKSHOP)
    (printed,) = follow.follow(ROOT / "docs" / "making" / "mmvu.md", tmp_path)
    assert "3 questions are accepted." in printed
    assert (tmp_path / "releases" / "items-1.0.0.hidden" / "answers.jsonl").is_file()


def test_the_steps_of_humanpcr_lead_to_reviewed_choices(follow, tmp_path):
    """Labels and configuration are those of the page on choices, with a review."""
    first, _, _ = HUMANPCR.read_text(encoding="utf-8").partition("Reasoning questions")
    choices = (ROOT / "docs" / "making" / "choices.md").read_text(encoding="utf-8")
    files = {name: body for kind, name, body in follow.steps(choices) if kind == "file"}
    (tmp_path / "log.csv").write_text(files["log.csv"])
    (tmp_path / "choices.toml").write_text(f'{files["choices.toml"]}\n[review]\nprotocol = "humanpcr-pc"\n')
    (printed,) = follow.follow(page_of(tmp_path, first), tmp_path)
    assert "5 verdicts taken in" in printed
    assert len(lines_of(tmp_path / "made" / "items.jsonl")) == 5


def test_the_steps_of_humanpcr_lead_from_films_to_reasoning_questions(follow, tmp_path):
    _, _, second = HUMANPCR.read_text(encoding="utf-8").partition("Reasoning questions")
    write_film(tmp_path, seconds=301)
    sample, day = SAMPLES / "expert", f"{datetime.now(UTC) - timedelta(days=30):%Y-%m-%d}"
    (tmp_path / "films.csv").write_text(f"video,published\nfilms/a.mp4,{day}\n")
    for name in ("subjects.toml", "concepts.jsonl"):
        text = (sample / name).read_text(encoding="utf-8").replace('"Science"', '"Education"')
        (tmp_path / name).write_text(text, encoding="utf-8")
    video = {"video_id": "wheel", "path": "films/a.mp4", "licence": "CC-BY-4.0", "published": day}
    write_lines(tmp_path / "videos.jsonl", [video])
    draft = lines_of(sample / "drafts.jsonl")[1]  # an open one
    evidence = [
        {"kind": "referred", "start_s": 12, "end_s": 20, "note": "the wheel hangs by one end", "step": 0},
        {"kind": "proactive", "start_s": 30, "end_s": 40, "note": "a weight pulls at it", "step": 1},
    ]
    write_lines(tmp_path / "drafts.jsonl", [draft | {"evidence": evidence, "reasoning": "causal"}])
    (tmp_path / "reasoning.toml").write_text(REASONING)
    assert list(follow.follow(page_of(tmp_path, second), tmp_path))
    (question,) = lines_of(tmp_path / "releases" / "items-1.0.0" / "humanpcr" / "human-r.jsonl")
    assert (question["level"], question["reasoning"]) == ("reasoning", "Causal Reasoning")
