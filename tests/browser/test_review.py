"""A look at an item in a browser: by keyboard alone, from the sign-in to the decision, at two widths."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from vidence.make.review.protocol import protocol_names
from videos.special import MAKERS

SEED = Path(__file__).parent / "seed_review.py"
PASSWORD = "correct horse battery"  # noqa: S105 - of tests


SAVED = re.compile(r"^saved \d")


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    """The folder of a team with items that wait; each test has a copy."""
    folder = tmp_path_factory.mktemp("seeded")
    clip = MAKERS["h264"](tmp_path_factory.mktemp("clips")).path
    subprocess.run([sys.executable, SEED, folder, clip], check=True)
    return folder


@pytest.fixture
def films(killable, seeded, tmp_path):
    """The server of a team, with a copy of its items."""
    return killable(shutil.copytree(seeded, tmp_path / "team"))


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
    take(page, "composed")
    expect(page.get_by_role("heading", name="Answer it yourself first")).to_be_visible()
    assert "the blue cup is lifted" not in page.content()
    page.get_by_label("Your answer").focus()
    page.keyboard.type("the blue one")
    page.keyboard.press("Enter")
    expect(page.get_by_text("the blue cup is lifted").first).to_be_visible()
    page.get_by_role("heading", name="Field by field").wait_for()
    page.wait_for_load_state("load")  # the keys are there when the scripts have run
    page.get_by_label("If a condition is left out").focus()
    page.keyboard.type("first: at 0.1 s the red one is picked up, too")
    page.keyboard.press("Enter")
    page.keyboard.type("second: at 1.9 s the red one is lifted, too")
    page.get_by_role("heading", level=1).click()
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
    page.locator("#message").focus()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You have decided: accept.")).to_be_visible()


def settled(page, films):
    """Two answers side by side, the decision between them, and the rates that follow."""
    page.goto(f"{films.url}/work")
    take(page, "twice")
    expect(page.get_by_role("heading", name="Two answers")).to_be_visible()
    expect(page.locator("tr.differs")).to_have_count(3)
    page.wait_for_load_state("load")
    page.keyboard.press("n")
    page.keyboard.press("x")
    page.keyboard.press("n")
    page.keyboard.press("v")
    page.keyboard.press("n")
    page.keyboard.press("4")
    page.get_by_label("What your decision rests on").select_option("the second")
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_text("no reason")).to_be_visible()
    page.wait_for_load_state("load")
    page.keyboard.press("m")
    page.locator("#message").fill("The red one is picked up at 1.8 s as well.")
    page.get_by_role("button", name="Return to the author").press("Enter")
    expect(page.get_by_text("You have decided: return.")).to_be_visible()
    page.goto(f"{films.url}/projects/twice/rates")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review results")


def counted_and_edited(page, films):
    """Own counts come first; an edit is the next revision."""
    page.goto(f"{films.url}/work")
    take(page, "reasoning")
    expect(page.get_by_role("heading", name="Make your own count first")).to_be_visible()
    assert "the blue cup is lifted" not in page.content()
    page.goto(f"{films.url}/work")
    take(page, "experts")
    page.get_by_role("link", name="Edit", exact=True).press("Enter")
    page.get_by_label("question", exact=True).fill("Which cup is lifted first?")
    page.get_by_role("button", name="Save as the next revision").press("Enter")
    expect(page.get_by_text("Revision 2, in-review")).to_be_visible()
    expect(page.get_by_text("Which cup is lifted first?")).to_be_visible()


def test_looks_at_items_by_keyboard(page, films):
    enter(page, films, "Eve")
    solved_and_accepted(page, films)
    counted_and_edited(page, films)
    settled(page, films)


SLUGS = {"perceptioncomp": "composed", "mmvu": "experts", "humanpcr-r": "reasoning"}  # of `seed_review`
# What a protocol wants of a reviewer alone: counts and answers before the form, scores and witnesses in it.
OWN = {"perceptioncomp": (1, 2), "humanpcr-r": (2, 3), "humanpcr-r, meta": (2, 1), "own": (0, 1)}


class Acts:
    """The keys or clicks of a reviewer: acts, and answers that the protocol wants of them alone."""

    def __init__(self, page, *, with_keys):
        self.page, self.with_keys, self.n, self.own = page, with_keys, 0, [0, 0]

    def press(self, key, button):
        """An act."""
        self.page.keyboard.press(key) if self.with_keys else button.click()
        self.n += 1

    def answer_first(self):
        """Answer or count, before anything of others is shown."""
        form = self.page.locator("form:has(input[value=solve]), form:has(input[value=count])")
        for field in form.locator("input:not([type=hidden])").all():
            field.fill("2" if field.get_attribute("inputmode") else "the blue one")
            self.own[0] += 1
        self.press("Enter", form.locator("button.main"))

    def answer_rest(self):
        """Give scores and witnesses; the focus is where the next one is open."""
        accept = self.page.get_by_role("button", name="Accept", exact=True)
        for _ in range(9):
            if accept.evaluate("one => one === document.activeElement"):
                break
            is_text = self.page.locator("textarea:focus").count()
            self.page.keyboard.press("3") if not is_text else self.page.keyboard.type("first: at 1 s a cup")
            self.page.keyboard.press("Tab") if is_text else None
            self.own[1] += 1
        self.press("Enter", accept)


@pytest.mark.parametrize("with_keys", [True, False], ids=["keys", "clicks"])
def test_an_acceptance_without_remarks_takes_four_acts_at_most(page, films, with_keys):
    """Of each shipped protocol and of one of a user: take, own answers, all right, accept."""
    enter(page, films, "Eve")
    looks = [*protocol_names(), "own", "humanpcr-r, meta"]
    n_acts = {}
    for look in looks:
        if look.endswith("meta"):
            page.get_by_role("button", name="Sign out").click()
            enter(page, films, "Max")
        page.goto(f"{films.url}/work")
        acts = Acts(page, with_keys=with_keys)
        slug = SLUGS.get(look.partition(",")[0], look)
        row = page.get_by_role("row").filter(has=page.locator(f"form[action='/projects/{slug}/next']"))
        next_one = row.locator("button:not([disabled])")
        next_one.focus()
        acts.press("Enter", next_one)
        expect(page.get_by_role("heading", level=2).first).to_be_visible()
        page.wait_for_load_state("load")
        if page.get_by_role("heading", name=re.compile("(yourself|own count) first")).count():
            acts.answer_first()
        page.get_by_role("heading", name="Field by field").wait_for()
        page.wait_for_load_state("load")
        page.get_by_role("heading", level=1).click()  # from a field to the page, so that A is a key
        acts.press("a", page.get_by_role("button", name="All right"))
        acts.answer_rest()
        expect(page.get_by_text("You have decided: accept.")).to_be_visible()
        assert tuple(acts.own) == OWN.get(look, (0, 0)), look
        n_acts[look] = acts.n
    assert n_acts == {look: 4 if OWN.get(look, (0,))[0] else 3 for look in looks}


def test_all_right_leaves_answers_and_scores_as_they_are(page, films):
    enter(page, films, "Eve")
    take(page, "twice")
    page.get_by_role("heading", name="Field by field").wait_for()
    page.wait_for_load_state("load")
    page.keyboard.press("n")
    page.keyboard.press("x")
    page.get_by_role("button", name="All right").click()
    picked = page.locator("form[data-look] input:checked")
    assert picked.evaluate_all("all => all.map((one) => one.value)") == ["no", "yes"]
    expect(page.locator("fieldset", has_text="How plain").get_by_role("radio").first).to_be_focused()


def state(page):
    """How the form of the decision stands."""
    return page.locator("form[data-look] [data-save-state]")


def all_well(page):
    """Say of every row that it is well."""
    for one in page.locator("form[data-look] fieldset[data-row]").all():
        one.get_by_role("radio").first.check()


def test_nothing_written_is_lost_by_a_kill_or_a_second_tab(page, films):
    enter(page, films, "Eve")
    take(page, "experts")
    page.get_by_role("heading", name="Field by field").wait_for()
    page.wait_for_load_state("load")  # what is typed is kept when the scripts have run
    words = page.locator("#message")
    words.press_sequentially("The first half. ", delay=5)
    expect(state(page)).to_have_text(SAVED)
    films.kill()
    words.press_sequentially("The second half.", delay=5)
    expect(state(page)).to_have_text("not saved, kept here", timeout=3_000)
    films.start()
    expect(state(page)).to_have_text(SAVED, timeout=10_000)
    page.reload(wait_until="load")
    expect(words).to_have_value("The first half. The second half.")
    other = page.context.new_page()
    other.goto(page.url, wait_until="load")
    other.locator("#message").fill("Of the second tab.")
    expect(state(other)).to_have_text(SAVED)
    words.fill("Of the first tab.")
    expect(state(page)).to_have_text("not saved, kept here: there is another version")
    page.get_by_role("button", name="Show both").click()
    expect(page.get_by_role("heading", name="What was saved in another tab")).to_be_visible()
    expect(page.get_by_text("Of the second tab.")).to_be_visible()
    expect(words).to_have_value("Of the first tab.")
    all_well(page)
    expect(state(page)).to_have_text(SAVED)
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("You have decided: accept.")).to_be_visible(timeout=15_000)


def test_verdicts_that_are_picked_before_the_scripts_run_are_saved(page, films, without_scripts):
    enter(page, films, "Eve")
    take(page, "experts")
    page.get_by_role("heading", name="Field by field").wait_for()
    with without_scripts(page):
        page.goto(page.url, wait_until="commit")
        page.locator("form[data-look] fieldset[data-row] input").first.focus()
        page.keyboard.press("Space")
        page.get_by_label("Message to the author").focus()
        page.keyboard.type("Said early.")
        page.get_by_label("Comment without deciding").focus()
        page.keyboard.type("Asked early.")
        expect(page.get_by_text("nothing written yet")).to_have_count(2)
    expect(page.locator("[data-save-state]").filter(has_text=SAVED)).to_have_count(2)
    page.reload()
    expect(page.locator("form[data-look] input:checked")).to_have_count(1)
    expect(page.get_by_label("Message to the author")).to_have_value("Said early.")
    expect(page.get_by_label("Comment without deciding")).to_have_value("Asked early.")
