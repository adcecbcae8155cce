"""A look at an item in a browser: by keyboard alone, from the sign-in to the decision, at two widths."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from videos.special import MAKERS

SEED = Path(__file__).parent / "seed_review.py"
PASSWORD = "correct horse battery"  # noqa: S105 - of tests


@pytest.fixture
def films(serve, tmp_path):
    """A team's server with items that wait for a look."""
    clips, folder = tmp_path / "clips", tmp_path / "team"
    clips.mkdir()
    clip = MAKERS["h264"](clips).path
    subprocess.run([sys.executable, SEED, folder, clip], check=True)
    return serve("studio", "serve", folder, "--port", "0")


def looked(page, name):
    """What axe and both widths say of a screen; its picture, where a folder is named."""
    for width, scheme in ((400, "dark"), (1400, "light")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert [one["id"] for one in Axe().run(page).response["violations"]] == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        if folder := os.environ.get("VIDENCE_PICTURES"):
            page.screenshot(path=f"{folder}/{name}-{width}.png")


def enter(page, films, name):
    page.goto(f"{films.url}/work")
    page.get_by_label("Name").focus()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("My work")


def take(page, project):
    """Take the next item of a project, by keyboard."""
    page.locator(f"form[action='/projects/{project}/next'] button").first.press("Enter")


def solved_and_accepted(page, films):
    """A composed question: own answer, witness, checks and decision."""
    looked(page, "work")
    take(page, "composed")
    expect(page.get_by_role("heading", name="Answer it yourself first")).to_be_visible()
    assert "the blue cup is lifted" not in page.content()
    looked(page, "solve")
    page.get_by_label("Your answer").focus()
    page.keyboard.type("the blue one")
    page.keyboard.press("Enter")
    expect(page.get_by_text("the blue cup is lifted").first).to_be_visible()
    page.get_by_label("Each condition left out").focus()
    page.keyboard.type("second: at 1.9 s the red one is lifted, too")
    page.get_by_role("button", name="Give witnesses").press("Enter")
    expect(page.get_by_text("You have given some.")).to_be_visible()
    page.get_by_role("heading", name="Field by field").wait_for()
    page.wait_for_load_state("load")  # the keys are there when the scripts have run
    for _ in range(3):
        page.keyboard.press("n")
        page.keyboard.press("v")
    page.keyboard.press("n")
    page.keyboard.press("x")
    page.keyboard.press("b")
    page.keyboard.press("x")
    page.keyboard.press("v")
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("2")
    picked = page.locator("form[data-look] input:checked")
    expect(picked).to_have_count(5)
    assert picked.evaluate_all("all => all.map((one) => one.value)") == ["yes", "yes", "yes", "no", "2"]
    page.keyboard.press("m")
    expect(page.locator("#message")).to_be_focused()
    page.keyboard.type("Next time V, X and N are only letters here.")
    expect(picked).to_have_count(5)
    looked(page, "review")
    page.locator("#message").focus()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You have decided: accept.")).to_be_visible()


def settled(page, films):
    """Two answers side by side, the decision between them, and the rates that follow."""
    page.goto(f"{films.url}/work")
    take(page, "twice")
    expect(page.get_by_role("heading", name="Two answers")).to_be_visible()
    expect(page.locator("tr.differs")).to_have_count(3)
    looked(page, "adjudicate")
    page.keyboard.press("n")
    page.keyboard.press("x")
    page.keyboard.press("n")
    page.keyboard.press("v")
    page.keyboard.press("n")
    page.keyboard.press("4")
    page.get_by_label("What your decision rests on").select_option("the second")
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("alert")).to_contain_text("no reason")
    page.keyboard.press("m")
    page.locator("#message").fill("The red one is picked up at 1.8 s as well.")
    page.get_by_role("button", name="Return to the author").press("Enter")
    expect(page.get_by_text("You have decided: return.")).to_be_visible()
    page.goto(f"{films.url}/projects/twice/rates")
    expect(page.get_by_role("heading", level=1)).to_have_text("What the review comes to")
    looked(page, "rates")


def counted_and_edited(page, films):
    """Own counts come first; an edit is the next revision."""
    page.goto(f"{films.url}/work")
    take(page, "reasoning")
    expect(page.get_by_role("heading", name="Count for yourself first")).to_be_visible()
    assert "the blue cup is lifted" not in page.content()
    looked(page, "count")
    page.goto(f"{films.url}/work")
    take(page, "experts")
    page.get_by_role("link", name="Edit").press("Enter")
    looked(page, "edit")
    page.get_by_label("question", exact=True).fill("Which cup is lifted first?")
    page.get_by_role("button", name="Keep as the next revision").press("Enter")
    expect(page.get_by_text("Revision 2, in-review")).to_be_visible()
    expect(page.get_by_text("Which cup is lifted first?")).to_be_visible()


def test_looks_at_items_by_keyboard(page, films):
    enter(page, films, "Eve")
    solved_and_accepted(page, films)
    counted_and_edited(page, films)
    settled(page, films)
