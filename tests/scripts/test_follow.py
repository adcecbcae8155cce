"""Five newcomers follow the pages of docs/paths word for word, each in an empty folder and home."""

from pathlib import Path

import pytest

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
