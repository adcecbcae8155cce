"""The documentation is searched where its pages are opened from a folder, without a server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]


def test_the_pages_are_searched_without_a_server(page, tmp_path):
    pytest.importorskip("material", reason="mkdocs-material is not installed (make docs installs it)")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True)
    page.goto((tmp_path / "guides" / "report.html").as_uri())
    page.get_by_role("textbox", name="Search").click()
    page.keyboard.type("retrieval gap")
    expect(page.get_by_text("matching documents")).to_be_visible()
    page.locator(".md-search-result__link", has_text="selector-gap").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Retrieval gap and fusion gap")
