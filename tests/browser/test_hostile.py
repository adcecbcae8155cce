"""Texts that want to be more than text, shown by a browser: none runs, and the policy has nothing to stop."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from subjects.hostile_texts import PASSWORD

SERVER = Path(__file__).parent / "serve_hostile.py"
OF_ALL = ("work", "projects/films/", "projects/films/guidelines", "projects/films/qualification")
OF_OPERATORS = ("people", "trials", "media/", "rates", "time", "ledger")


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """The address of a team's studio that is full of them."""
    folder = tmp_path_factory.mktemp("hostile") / "team"
    process = subprocess.Popen([sys.executable, SERVER, folder], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"http\S+(?=/)", process.stdout.readline())
    assert found is not None
    yield found[0]
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()


def screens(page, team, name):
    """The addresses of the main screens for somebody, signed in."""
    page.goto(f"{team}/work")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("My work")
    page.goto(f"{team}/projects/films/")
    links = page.locator("main a[href*='/items/']").evaluate_all("all => all.map((one) => one.href)")
    assert len(links) == 40
    found = [f"{team}/{one}" for one in OF_ALL]
    if name == "Olga":
        found += [f"{team}/projects/films/{one}" for one in OF_OPERATORS]
    if name == "Ann":
        found += [f"{links[-1]}edit", f"{team}/projects/films/new/", f"{team}/projects/films/time"]
    if name == "Rob":
        found += [f"{links[0]}review", f"{links[1]}review"]
    return [*found, *links[:: 1 if name == "Olga" else 20]]


@pytest.mark.parametrize("name", ["Olga", "Ann", "Rob"])
def test_nothing_runs_and_nothing_is_reported(page, team, name):
    asked, dialogs, said = [], [], []
    page.on("request", lambda one: asked.append(one.url))
    page.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    page.on("console", lambda one: said.append(one.text))
    n_shown = 0
    for address in screens(page, team, name):
        page.goto(address)
        page.locator("main").hover(position={"x": 5, "y": 5})
        assert page.evaluate("window.pwned") is None, address
        n_shown += "pwned" in page.locator("body").inner_text()
    assert n_shown >= 5
    assert dialogs == []
    assert [one for one in asked if not one.startswith(team)] == []
    assert [one for one in said if "Content Security Policy" in one or "Content-Security-Policy" in one] == []
