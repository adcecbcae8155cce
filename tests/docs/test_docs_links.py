"""Links lead somewhere, every page is in the menu, and nothing names a machine or a workplace."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as the builder makes them."""
    words = (re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in _HEADING.findall(text))
    return {re.sub(r"[\s-]+", "-", one) for one in words}


def test_relative_links_lead_to_files_and_headings(pages):
    broken = []
    for page in pages:
        for target in _LINK.findall(page.text):
            if re.match(r"\w+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (page.path.parent / file) if file else page.path
            if not path.exists() or (anchor and anchor not in anchors(path.read_text("utf-8"))):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_every_page_is_in_the_menu(pages):
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"[\w/-]+\.md\b", menu))
    assert named == {p.name.removeprefix("docs/") for p in pages if p.name.startswith("docs/")}


def tracked() -> list[Path]:
    """The text files that git tracks, but for this one."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: what is tracked is not known")
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    return [p for p in paths if p.is_file() and p != Path(__file__) and b"\0" not in p.read_bytes()]


def test_no_file_names_a_machine_a_registry_or_a_home():
    # A folder at the root, not the end of a longer path such as data/work/.
    place = re.compile(r"(?<![\w.}])/(?:work|root|tmp|home/\w+|Users/\w+)/")
    host = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org|anaconda\.org|artifactory)\b")
    found = []
    for path in tracked():
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1):
            if place.search(line) or host.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []
