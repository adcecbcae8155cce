"""Links lead somewhere, every page is in the menu, and nothing names a machine or a workplace."""

import pydoc
import re
import subprocess
from pathlib import Path

import pytest

from vidence import catalog

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as the builder makes them."""
    words = (re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in _HEADING.findall(text))
    return {re.sub(r"[\s-]+", "-", one) for one in words}


def generated() -> set[str]:
    """The pages that are generated when the site is built."""
    text = (ROOT / "scripts" / "reference_pages.py").read_text(encoding="utf-8")
    return set(re.findall(r'"([\w/]+\.md)": \w+_page', text))


def test_relative_links_lead_to_files_and_headings(pages):
    broken = []
    for page in pages:
        for target in _LINK.findall(page.text):
            if re.match(r"\w+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (page.path.parent / file) if file else page.path
            if not anchor and path.resolve() in {ROOT / "docs" / name for name in generated()}:
                continue
            if not path.exists() or (anchor and anchor not in anchors(path.read_text("utf-8"))):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_every_page_is_in_the_menu(pages):
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"[\w/-]+\.md\b", menu))
    assert named == {p.name.removeprefix("docs/") for p in pages if p.name.startswith("docs/")} | generated()


def tracked() -> list[Path]:
    """The text files that git tracks, but for this one."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: what is tracked is not known")
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    return [p for p in paths if p.is_file() and p != Path(__file__) and b"\0" not in p.read_bytes()]


def test_no_file_names_a_machine_a_registry_or_a_home():
    # A folder at the root, not the end of a longer path such as data + work.
    place = re.compile(r"(?<![\w.}])/(?:work|root|tmp|home/\w+|Users/\w+)/")
    host = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org|anaconda\.org|artifactory)\b")
    found = []
    for path in tracked():
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1):
            if place.search(line) or host.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


# Names of files that belong to a user, and what stands for them.
_OF_USERS = re.compile(r"questions|tally|my-|answers|NAME|kitchen|items\.jsonl|videos/|world\.json|data/")


def names_of_code(pages) -> set[str]:
    """What single backticks hold that looks like a file or folder of the repository, or a dotted name."""
    others = [page for page in pages if page.path.name != "ledger.md"]  # test_ledger.py checks its names
    return {code for page in others for code in page.inline() if re.fullmatch(r"[\w./-]+", code)}


def test_files_that_are_named_exist(pages):
    roots = (ROOT, ROOT / "src", ROOT / "src" / "vidence")
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    folders = {path.name for root in roots for path in root.iterdir() if path.is_dir()}
    codes = {c for c in names_of_code(pages) if not _OF_USERS.search(c)}
    named = {c for c in codes if c.endswith(".py") or ("/" in c and c.split("/")[0] in folders)}
    made_up = {b.title for p in pages for b in p.blocks() if b.title}
    assert len(named) > 25
    assert {c for c in named - made_up - tests if not any((root / c).exists() for root in roots)} == set()


def test_dotted_names_of_vidence_can_be_imported(pages):
    named = {c for c in names_of_code(pages) if re.fullmatch(r"vidence(?:\.\w+)+", c)}
    groups = {f"vidence.{catalog.plural(kind)}" for kind in catalog.FOLDERS} | {"vidence.commands"}
    assert len(named) > 15
    assert {name for name in named - groups if pydoc.locate(name) is None} == set()
