"""The built documentation warns of nothing and asks nobody for anything."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What a browser fetches by itself: not the links that a parser follows.
_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc=\"?([^\" >]+)"
    r"|<link\b(?=[^>]*\brel=\"?(?:stylesheet|preconnect|preload|dns-prefetch|icon|modulepreload))"
    r"[^>]*?\bhref=\"?([^\" >]+)",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="mkdocs-material is not installed (make docs installs it)")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""
    return folder


def loaded(text: str) -> set[str]:
    """The addresses that a page makes a browser fetch."""
    return {a or b for a, b in _LOADED.findall(text)}


def test_pages_load_nothing_from_elsewhere(site):
    built = sorted(site.rglob("*.html"))
    assert len(built) > 15
    for path in built:
        text = path.read_text(encoding="utf-8")
        addresses = loaded(text)
        assert len(addresses) >= 2, path.name  # the theme's own style and script
        assert {a for a in addresses if re.match(r"(?:\w+:)?//", a)} == set(), path.name
        # The theme would fetch a library for these.
        assert "mermaid" not in text, path.name


def test_the_search_index_lies_beside_the_pages_and_has_each_of_them(site):
    entries = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    indexed = {entry["location"].partition("#")[0] for entry in entries}
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"}
    assert indexed == built
    assert any("forgetful" in entry["text"] for entry in entries if "paths/diagnose" in entry["location"])


def test_style_sheets_load_nothing_from_elsewhere(site):
    for path in site.rglob("*.css"):
        assert re.findall(r"url\([\"']?(?:https?:)?//|@import", path.read_text(encoding="utf-8")) == [], (
            path.name
        )


def test_an_address_from_elsewhere_would_be_seen():
    page = '<link rel="stylesheet" href="https://a.example/x.css"><a href="https://b.example">'
    page += "<script src=//c.example/y.js>"
    assert loaded(page) == {"https://a.example/x.css", "//c.example/y.js"}
