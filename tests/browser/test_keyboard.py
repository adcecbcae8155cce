"""From writing to acceptance without a mouse: an author, a reviewer and a third who looks again.

Wherever Tab stops, what has the focus must be in sight, under nothing else, and have a ring.
"""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from videos.stamped import write

PASSWORD = "correct horse battery"  # noqa: S105 - of tests
SAVED = re.compile(r"^saved \d")
FAR = 90
"""More stops of Tab than lie between any two things that somebody wants to reach."""
PROTOCOL = """title = "Answered first, looked at twice"
returns = 1
least_message = 20
[[stages]]
role = "reviewer"
solves = true
[[stages.checks]]
id = "plain"
words = "The question has one answer."
field = "question"
[[stages.checks]]
id = "right"
words = "The answer is right, and no other option is."
field = "answer"
[[stages.checks]]
id = "place"
words = "The evidence is where it is said to be."
field = "evidence"
[[stages.checks]]
id = "seen"
words = "All that is needed can be seen."
[[stages.scores]]
id = "clarity"
words = "How plain it is what is asked."
[[stages]]
role = "meta"
[[stages.checks]]
id = "pieces"
words = "How many pieces of evidence does the answer need?"
kind = "count"
least = 1
[[stages.checks]]
id = "agrees"
words = "The question, its answer and its evidence belong together."
"""
SEED = """
import sys
from pathlib import Path
from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings
from vidence.studio.upkeep import migrate, secret_of
folder, media, protocol, password = Path(sys.argv[1]), *sys.argv[2:]
folder.mkdir()
configure(StudioSettings(mode="team", data=folder), secret=secret_of(folder))
migrate()
from vidence.studio.accounts import add_user
from vidence.studio.intake import add_medium
from vidence.studio.projects import add_project
project = add_project("films", protocol, title="Films", media_root=media)
add_medium(project, "blocks.mp4", kind="video", url="", source_id="")
for name, role in (("Ann", "author"), ("Bob", "reviewer"), ("Cleo", "meta")):
    add_user(name, password, roles=[role], project="films")
"""
SEEN = """wanted => {
  const one = document.activeElement;
  const box = one.getBoundingClientRect();
  const style = getComputedStyle(one);
  const from = Math.max(box.left, 0), to = Math.min(box.right, innerWidth);
  const isOfIt = (at) => at !== null && (one.contains(at) || at.closest("label")?.control === one);
  let shown_px = 0;
  for (let y = Math.max(box.top, 0) + 1; to > from && y < Math.min(box.bottom, innerHeight); y += 2)
    if (isOfIt(document.elementFromPoint((from + to) / 2, y))) shown_px += 2;
  return {
    is_wanted: one === wanted,
    is_nothing: one === document.body,
    name: `${one.localName} ${one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent}`,
    is_in_sight: shown_px >= Math.min(box.height - 3, 20),
    has_ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
  };
}"""


@pytest.fixture(scope="module")
def films(serve_all, tmp_path_factory):
    """A studio with a project, a film, and one of each role."""
    folder = tmp_path_factory.mktemp("films")
    (folder / "media").mkdir()
    write(folder / "media" / "blocks.mp4", numbers=range(60))
    protocol = folder / "twice.toml"
    protocol.write_text(PROTOCOL)
    team = folder / "team"
    command = [sys.executable, "-c", SEED, team, folder / "media", protocol, PASSWORD]
    subprocess.run(command, check=True)
    return serve_all("studio", "serve", team, "--port", "0")


class Keyboard:
    """Somebody who has nothing but keys."""

    def __init__(self, page) -> None:
        self.page, self.faults, self.n_stops = page, set(), 0
        self.press, self.type = page.keyboard.press, page.keyboard.type

    def to(self, wanted, *, key="Tab"):
        """Press Tab until something has the focus; nothing on the way holds it, hides it or has no ring."""
        expect(wanted).to_have_count(1)
        found = wanted.element_handle()
        names = []
        for _ in range(FAR):
            self.press(key)
            self.n_stops += 1
            seen = self.page.evaluate(SEEN, found)
            names.append(" ".join(seen["name"].split())[:60])
            if not seen["is_nothing"]:
                self._note(seen)
            if seen["is_wanted"]:
                return
        raise AssertionError(f"{FAR} stops of {key} did not reach {wanted}: {names}")

    def look(self):
        """Note what is wrong with how the focus is shown."""
        self._note(self.page.evaluate(SEEN))

    def _note(self, seen):
        name = " ".join(seen["name"].split())[:60]
        if not seen["is_in_sight"]:
            self.faults.add(f"{self.page.title()}: {name}: out of sight, or under something else")
        if not seen["has_ring"]:
            self.faults.add(f"{self.page.title()}: {name}: without a ring")

    def follow(self, name):
        """Go to a link, and open it."""
        self.to(self.page.get_by_role("link", name=name, exact=True))
        self.press("Enter")

    def push(self, name):
        """Go to a button, and press it."""
        self.to(self.page.get_by_role("button", name=name, exact=True))
        self.press("Space")

    def write(self, label, words):
        """Go to a field, and type."""
        self.to(self.page.get_by_label(label, exact=True))
        self.type(words)


def entered(keys, url, name):
    """Sign in; whoever was there has signed out."""
    page = keys.page
    if page.url == "about:blank":
        page.goto(f"{url}/work")
    else:
        keys.push("Sign out")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.wait_for_load_state("load")
    keys.write("Name", name)
    keys.write("Password", PASSWORD)
    keys.press("Enter")
    expect(page.get_by_text(name, exact=True)).to_be_visible()


def opened(page):
    """Wait until the scripts have run and the player shows its first frame: nothing moves then."""
    page.wait_for_load_state("load")
    player = page.locator("section[data-player]")
    expect(player).to_have_attribute("data-state", "painted", timeout=15_000)
    return player


def marked(keys):
    """Two marks at painted frames become evidence; where they stand is exact."""
    page = keys.page
    player = opened(page)
    keys.to(page.get_by_role("button", name="One frame forward"))
    for key, frame in ((".", "1"), (".", "2"), ("Shift+Period", "12")):
        keys.press(key)
        expect(player).to_have_attribute("data-frame", frame)
    keys.press("i")
    for key, frame in (("Shift+Period", "22"), (",", "21")):
        keys.press(key)
        expect(player).to_have_attribute("data-frame", frame)
    keys.press("o")
    keys.press("e")
    expect(page.locator("#f-evidence-0-text")).to_be_focused()
    keys.type("the second block turns white")
    assert page.locator("#f-evidence-0-start").input_value() == "0.4"
    assert page.locator("#f-evidence-0-end").input_value() == "0.7"
    keys.write("For steps, such as 1, 3", "1")


def wrote(keys, films):
    """Begin an item, write it, and hand it in; its name."""
    page = keys.page
    heading = page.get_by_role("heading", level=1)
    entered(keys, films.url, "Ann")
    keys.follow("vidence")
    keys.follow("Films")
    keys.follow("New item")
    keys.to(page.get_by_role("checkbox"))
    keys.press("Space")
    form = page.get_by_label("Form", exact=True)
    keys.to(form)
    keys.press("Home")
    while form.input_value() != "mmvu/mcq":
        before = form.input_value()
        keys.press("ArrowDown")
        expect(form).not_to_have_value(before)
    keys.push("Begin")
    expect(page.get_by_label("Question", exact=True)).to_be_visible()
    name = heading.inner_text()
    marked(keys)
    keys.to(page.get_by_label("Question", exact=True), key="Shift+Tab")
    keys.type("Which block turns white in the second place?")
    keys.write("Language, such as en", "en")
    keys.to(page.locator("#f-right-text"))
    keys.type("the thick one")
    for n, words in enumerate(("flat", "hollow", "green", "round")):
        keys.to(page.locator(f"#f-wrong-{n}-text"))
        keys.type(f"the {words} one")
        keys.to(page.locator(f"#f-wrong-{n}-why"))
        keys.type("it looks so")
    for label, words in {
        "Subject": "Physics",
        "Textbook": "Optics",
        "Chapter": "3",
        "Concept": "light",
        "Step 1": "Several blocks stand side by side.",
        "Step 2": "They turn white one behind the other.",
        "Required knowledge": "Binary numbers",
        "Page that explains it (URL)": "https://en.wikipedia.org/wiki/Binary_number",
    }.items():
        keys.to(page.get_by_label(label, exact=True).first)
        keys.type(words)
    expect(page.locator("[data-save-state]")).to_have_text(SAVED)
    keys.to(page.get_by_role("button", name="Hand in"), key="Shift+Tab")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Revision 1")).to_be_visible()
    return name


def took(keys, films, name, item):
    """Sign in, and claim the next item that waits."""
    entered(keys, films.url, name)
    keys.follow("My work")
    keys.push("Take the next")
    expect(keys.page.get_by_role("heading", level=1)).to_have_text(item)
    opened(keys.page)


def judged(keys, score=""):
    """A verdict on each row by its keys, and the decision by its button."""
    page = keys.page
    page.get_by_role("heading", name="Field by field").wait_for()
    opened(page)
    rows = page.locator("form[data-look] fieldset[data-row]").count()
    for value in "v" * (rows - len(score)) + score:
        keys.press("n")
        keys.press(value)
        keys.look()
    expect(page.locator("form[data-look] input:checked")).to_have_count(rows)
    keys.push("Accept")
    expect(page.get_by_text("You have decided: accept.")).to_be_visible()


def test_an_item_is_written_reviewed_and_accepted_without_a_mouse(page, films):
    page.set_viewport_size({"width": 400, "height": 800})  # the harder one
    keys = Keyboard(page)

    item = wrote(keys, films)

    took(keys, films, "Bob", item)
    expect(page.get_by_role("heading", name="Answer it yourself first")).to_be_visible()
    assert "the second block turns white" not in page.content()
    keys.write("Your answer", "the thick one")
    keys.press("Enter")
    judged(keys, score="4")

    took(keys, films, "Cleo", item)
    expect(page.get_by_role("heading", name="Make your own count first")).to_be_visible()
    keys.to(page.locator("form[data-autosave] input[inputmode=numeric]"))
    keys.type("1")
    keys.push("These are my counts")
    judged(keys)

    keys.follow("Films")
    keys.follow(item)
    expect(page.get_by_text("accepted, returns left")).to_be_visible()
    for exact in ("0.4", "0.7"):
        expect(page.locator("dl.revision dd").filter(has_text=re.compile(f"^{exact}$"))).to_have_count(1)
    assert keys.faults == set()
