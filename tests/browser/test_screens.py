"""Every screen of the studio: what axe says of it, whether it fits its window, and its pictures in the docs.

Each is looked at 400 px wide and light, 1,400 px wide and dark, and is not wider than 320 px. With
``VIDENCE_PICTURES`` (``make pictures`` names the folder) each is photographed as well at both widths.
"""

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

PICTURES = Path(__file__).parents[2] / "docs" / "studio" / "pictures"
PASSWORD = "correct horse battery"  # noqa: S105 - of tests
AXE = Axe().axe_script
# Every rule once; in the other width and scheme what depends on places and colours.
PLACES = {"runOnly": ["color-contrast", "scrollable-region-focusable", "target-size", "bypass", "region"]}
LOOKS = ((400, "light", {}), (1400, "dark", PLACES))
NARROW = 320
FOUND = """options => axe.run(options).then(found => found.violations.map(
  one => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`))"""
BEYOND = """() => [...document.querySelectorAll("body *")].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !one.closest(".wide, pre, .skip, .unseen, svg, .lanes");
}).slice(0, 3).map(one => one.outerHTML.slice(0, 120))"""
# What has the focus: null for nothing, else what is wrong with how it is shown.
FOCUS = """() => {
  const one = document.activeElement;
  if (one === document.body) return null;
  if (one.type === "date" || one.type === "datetime-local") return "";  // the browser draws rings within
  const lines = [...one.getClientRects()].sort((a, b) => b.width * b.height - a.width * a.height);
  const box = lines[0] ?? one.getBoundingClientRect(), style = getComputedStyle(one);  // words may wrap
  const from = Math.max(box.left, 0), to = Math.min(box.right, innerWidth);
  const isOfIt = (at) => at !== null && (one.contains(at) || at.closest("label")?.control === one);
  let shown_px = 0;
  for (let y = Math.max(box.top, 0) + 1; to > from && y < Math.min(box.bottom, innerHeight); y += 2)
    if (isOfIt(document.elementFromPoint((from + to) / 2, y))) shown_px += 2;
  const isInSight = shown_px >= Math.min(box.height - 3, 20);
  const hasRing = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  if (isInSight && hasRing) return "";
  return `${isInSight ? "no ring" : "out of sight"}: ${one.outerHTML.slice(0, 120)}`;
}"""
STOPS = 25
HEIGHTS_PX = {1400: 900, 400: 800}
LARGEST_BYTES = 120_000


@pytest.fixture(scope="module")
def team(serve_script, tmp_path_factory):
    """A team's studio in which every screen has something to show."""
    folder = tmp_path_factory.mktemp("screens")
    return Team(serve_script("serve_screens.py", folder, PASSWORD).rstrip("/"), folder)


@dataclass
class Team:
    """Where it is, and its folder."""

    url: str
    folder: Path


@dataclass
class Looked:
    """A browser that goes from screen to screen, and what is wrong with each."""

    browser: object
    team: Team
    pages: dict[str, object] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def page(self, name):
        """The page of somebody, signed in; of nobody for an empty name."""
        if name not in self.pages:
            page = self.browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else 0)
            page.on("pageerror", lambda error: self.complaints.append(str(error)))
            self.pages[name] = page
            if name:
                page.goto(f"{self.team.url}/sign-in")
                page.get_by_label("Name").fill(name)
                page.get_by_label("Password").fill(PASSWORD)
                page.keyboard.press("Enter")
                expect(page.get_by_role("heading", level=1)).not_to_have_text("Sign in")
        return self.pages[name]

    def at(self, name, where, heading=""):
        """Go to an address as somebody."""
        page = self.page(name)
        page.goto(f"{self.team.url}{where}")
        if heading:
            expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        return page

    def look(self, page, name, *, first=None):
        """Note what is wrong with a screen; its pictures, where it has a name, begin with `first`."""
        if name:
            self.names.append(name)
        page.evaluate(AXE)
        self._fits(page, name, NARROW)
        for width, scheme, options in LOOKS:
            self._fits(page, name, width)
            page.emulate_media(color_scheme=scheme)
            told = {"preload": False, **options}
            found = [*page.evaluate(FOUND, told), *(self._stops(page) if width == LOOKS[0][0] else ())]
            self.faults += [f"{name}, {width} px, {scheme}: {one}" for one in found]
        folder = os.environ.get("VIDENCE_PICTURES")
        if folder and (PICTURES / f"{name}.png").exists():
            for width, height in HEIGHTS_PX.items():
                page.set_viewport_size({"width": width, "height": height})
                photograph(page, Path(folder) / f"{name}{'' if width == 1400 else '-400'}.png", first=first)
        page.set_viewport_size({"width": 1280, "height": 900})

    def _stops(self, page):
        """What is wrong with the focus where Tab stops: in sight, under nothing else, with a ring."""
        page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
        for _ in range(STOPS):
            page.keyboard.press("Tab")
            fault = page.evaluate(FOCUS)
            if fault is None:
                return
            if fault:
                yield fault

    def _fits(self, page, name, width):
        """Make the window that wide, and note what runs over its edge."""
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("document.documentElement !== null")  # a page that loads itself again
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            self.faults.append(f"{name}: wider than {width} px: {page.evaluate(BEYOND)}")


def photograph(page, target, *, first):
    """What is seen of a page in its window, in few colours; where a part is named, that part at its top."""
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")
    if first is not None:
        first.first.evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 8)")
    page.wait_for_timeout(150)
    with Image.open(io.BytesIO(page.screenshot())) as image:
        rgb = image.convert("RGB")
    for colours in (256, 128, 64, 32, 16):
        rgb.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)
        if target.stat().st_size <= LARGEST_BYTES:
            return
    raise AssertionError(f"{target.name} has {target.stat().st_size} bytes")


def take(page, team, project):
    """Take the next item of a project."""
    page.goto(f"{team.url}/work")
    page.locator(f"form[action='/projects/{project}/next'] button").first.click()


def painted(page):
    """Wait for the first frame of the player."""
    page.locator("section[data-player][data-state=painted]").first.wait_for()


def of_everybody(to: Looked):
    """The door, the first page, one's own pages."""
    to.look(to.at("", "/sign-in", "Sign in"), "sign-in")
    to.look(to.at("Eve", "/", "Studio"), "start")
    to.look(to.at("Amy", "/password", "Your password"), "password")
    to.look(to.at("Eve", "/work", "My work"), "review-work")
    to.look(to.at("Eve", "/no-such", "Nothing here"), "")


def of_operators(to: Looked):
    """Projects, accounts, people and their rules, the state of the server."""
    page = to.at("Gina", "/new-project", "")
    page.get_by_label("Title").fill("Street scenes")
    page.get_by_label("Name in addresses").fill("streets")
    page.get_by_label("Protocol").select_option("perceptioncomp")
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_text("The protocol is valid")).to_be_visible()
    to.look(page, "new-project")
    page = to.at("Gina", "/accounts", "Accounts")
    page.locator("summary", has_text="Ben").click()
    to.look(page, "accounts")
    films = "/projects/films"
    for name in ("people", "trials", "ledger"):
        to.look(to.at("Olga", f"{films}/{name}"), name)
    to.look(to.at("Gina", "/health", "State of the server"), "health")
    to.look(to.at("Dara", "/projects/demonstration/", "Demonstration"), "project")
    to.look(to.at("Dara", "/projects/demonstration/rates"), "review-rates")
    to.look(to.at("Dara", "/projects/demonstration/releases/"), "releases")


def of_people(to: Looked):
    """What everybody who works has."""
    films = "/projects/films"
    to.look(to.at("Amy", f"{films}/time"), "time")
    to.look(to.at("Amy", f"{films}/guidelines"), "guidelines")
    to.look(to.at("Rob", f"{films}/qualification"), "qualification")


def in_state(page, state):
    """The link of the first item of a project that is in a state."""
    rows = page.get_by_role("row").filter(has=page.get_by_role("cell", name=state, exact=True))
    return rows.get_by_role("link").first


def of_authors(to: Looked):
    """Media, a new item, its form, what was returned, messages and hints."""
    home = "/projects/demonstration/"
    to.look(to.at("Ann", f"{home}media/"), "media")
    to.look(to.at("Ann", f"{home}new/"), "new-item")
    page = to.at("Ann", home)
    address = in_state(page, "returned").get_attribute("href")
    page = to.at("Ann", f"{address}edit")
    painted(page)
    to.look(page, "revise")
    page = to.at("Ann", home)
    in_state(page, "drafting").click()
    page.get_by_role("link", name="Continue writing").click()
    painted(page)
    page.get_by_label("Question", exact=True).fill("Which card is seen first?")
    for key in ("Alt+i", "Alt+Shift+Period", "Alt+o", "Alt+e"):
        page.keyboard.press(key)
    expect(page.locator("[data-save-state]")).to_have_text(re.compile(r"^saved \d"))
    to.look(page, "annotate")
    other = page.context.new_page()
    other.goto(page.url)
    painted(other)
    other.get_by_label("Question", exact=True).fill("Which card is seen last?")
    expect(other.locator("[data-save-state]")).to_have_text(re.compile(r"^saved \d"))
    page.get_by_label("Question", exact=True).fill("Which card is seen twice?")
    page.get_by_role("button", name="Show both").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two versions")
    other.close()
    to.look(page, "conflict")
    page = to.at("Ann", address)
    to.look(page, "item-history")
    page = to.at("Bo", f"{home}hints")
    to.look(page, "hints-list")
    page.get_by_role("link", name="kettle").click()
    to.look(page, "hints")


def of_reviewers(to: Looked):
    """Every form of a look: own answer, own counts, verdicts, an edit, two answers, a second stage."""
    page = to.page("Eve")
    take(page, to.team, "composed")
    painted(page)
    to.look(page, "review-solve")
    page.get_by_label("Your answer").fill("the blue one")
    page.get_by_label("Your answer").press("Enter")
    expect(page.get_by_role("heading", name="Field by field")).to_be_visible()
    painted(page)
    to.look(page, "review-witness", first=page.get_by_label("If a condition is left out"))
    take(page, to.team, "reasoning")
    painted(page)
    to.look(page, "review-count", first=page.get_by_role("heading", name="Make your own count first"))
    take(page, to.team, "experts")
    painted(page)
    to.look(page, "review")
    page.get_by_role("link", name="Edit", exact=True).click()
    to.look(page, "review-edit")
    page.go_back()
    painted(page)
    for one in page.locator("form[data-look] fieldset[data-row]").all():
        one.get_by_role("radio").first.check()
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("You have decided: accept.")).to_be_visible()
    take(page, to.team, "twice")
    expect(page.get_by_role("heading", name="Two answers")).to_be_visible()
    painted(page)
    to.look(page, "review-adjudicate", first=page.get_by_role("heading", name="Two answers"))
    page = to.page("Cleo")
    take(page, to.team, "demonstration")
    painted(page)
    to.look(page, "review-meta")
    page = to.at("Eve", "/projects/made/questions")
    to.look(page, "review-sets")
    page.get_by_role("link", name="fruit").click()
    page.get_by_role("button", name="Import the drawn questions").click()
    expect(page.get_by_text("5 questions were imported")).to_be_visible()
    to.look(page, "review-questions")
    page.get_by_role("button", name="Take the next question").click()
    expect(page.get_by_role("heading", name="Field by field")).to_be_visible()
    to.look(page, "review-made")


def of_boards(to: Looked):
    """The boards of a set of tracks, shots and cards."""
    page = to.at("Gina", "/sets/")
    to.look(page, "boards-sets")
    page.get_by_role("link", name="street").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("street")
    to.look(page, "boards-set")
    at = page.url
    ready = page.locator("html[data-boards=ready]")
    for name, where in (
        ("tracks", "tracks"),
        ("shots", "shots"),
        ("cards", "cards"),
        ("counts", "counts?place=left:top&first=8&last=80"),
    ):
        page.goto(f"{at}north/{where}")
        expect(ready).to_have_count(1)
        to.look(page, f"boards-{name}")
    page.goto(f"{at}north/cards")
    expect(ready).to_have_count(1)
    row = page.locator("[data-track='3']")
    row.get_by_label("A: looks").fill("A tall figure in a purple coat and grey trousers.")
    row.get_by_label("B: way and acts").fill(
        "They come from the left side. They go on to the right without a stop."
    )
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("form.undo")).to_contain_text("3/B")
    page.locator("[data-track='3']").get_by_role("link", name="Which of them does A fit?").click()
    to.look(page, "boards-line-up")
    page.goto(f"{at}north/false-cards")
    expect(ready).to_have_count(1)
    to.look(page, "boards-false-cards")
    for left in (1, 0):
        page.keyboard.press("x")
        if left:
            expect(page.get_by_text("1 of 2 sentences left")).to_have_count(1)
            expect(ready).to_have_count(1)
    expect(page.locator("[data-player]")).to_have_count(1)
    to.look(page, "boards-false-film")


def of_the_viewer(to: Looked):
    """Runs, a run, two beside each other, their questions, one question, a diagnosis, a set in the making."""
    page = to.at("Rita", "/runs", "Runs")
    expect(page.locator("[data-unfinished]")).to_have_count(0, timeout=15_000)
    to.look(page, "view-runs")
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    page.get_by_role("button", name="Compare the ticked runs").click()
    expect(page.locator("#piece")).to_contain_text("How the replies were produced", timeout=15_000)
    to.look(page, "view-compare")
    page.get_by_role("link", name=re.compile("scored differently")).click()
    to.look(page, "view-questions")
    page.locator(".piece tbody a").first.click()
    painted(page)
    page.get_by_role("button", name=re.compile("Next: evidence")).first.click()
    to.look(page, "view-question", first=page.locator("section[data-player]"))
    to.look(page, "view-replies", first=page.get_by_role("heading", name="Replies"))
    page = to.at("Rita", "/runs", "Runs")
    page.get_by_role("link", name=re.compile("fuser")).first.click()
    expect(page.locator("#piece")).to_contain_text("How it was run", timeout=15_000)
    drawn, said = page.locator(".figure .mark").first, page.locator(".legend .mark").first
    stroke = "one => getComputedStyle(one).stroke"
    assert said.evaluate(stroke) == drawn.evaluate(stroke)
    to.look(page, "view-run")
    page.get_by_role("link", name=re.compile("mrfs")).first.click()
    to.look(page, "view-diagnosis")
    page = to.at("Rita", "/runs", "Runs")
    page.get_by_role("link", name=re.compile("street")).first.click()
    to.look(page, "view-set")


def of_the_board(to: Looked):
    """The board of a hidden split, and the page that takes submissions."""
    to.look(to.at("Finn", "/", "Studio"), "start-of-submitters")
    to.look(to.at("Finn", "/board", "Board"), "board")
    page = to.at("Finn", "/board/submit", "Submit")
    to.look(page, "submit")
    broken = {
        "name": "submission.jsonl",
        "mimeType": "text/plain",
        "buffer": b'{"item_id": "x", "answer": "A"}',
    }
    page.get_by_label("Answers").set_input_files(broken)
    page.get_by_label("Answers").press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("10 missing answers")
    to.look(page, "submit-refused")


def of_studies(to: Looked):
    """A study as its participant sees it, and as its operator does."""
    key = (to.team.folder / "key").read_text()
    page = to.at("", f"/j/{key}", "Taking part")
    to.look(page, "study-consent")
    page.get_by_role("button", name="I agree").click()
    to.look(page, "study-begin")
    page.get_by_role("button", name="Begin").click()
    painted(page)
    page.get_by_label("What did you see?").fill("A blue card lies on the table before the red one.")
    expect(page.locator("[data-save-state]")).to_have_text(re.compile(r"^saved \d"))
    to.look(page, "study-trial")
    page.get_by_role("button", name="Send the answer").click()
    expect(page.get_by_role("alert")).to_contain_text("fill it in")
    to.look(page, "study-refused")

    def answer():
        for _ in range(3):
            where = page.url
            page.locator("h1").click()
            for pressed in ("2", "4", "Control+Enter"):
                page.keyboard.press(pressed)
            page.wait_for_url(lambda url, where=where: url != where)
            page.wait_for_load_state("load")

    answer()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("button", name="Show the video")).to_be_visible()
    to.look(page, "study-once")
    answer()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_alt_text("Frame 1", exact=True)).to_be_visible()
    to.look(page, "study-frames")
    to.look(to.at("", page.get_by_role("link", name="Leave").get_attribute("href"), "Leave"), "study-leave")
    page.go_back()
    answer()
    to.look(page, "study-end")
    page = to.at("Gina", "/studies/", "Studies")
    to.look(page, "studies")
    page.get_by_role("link", name="What happens in the film").click()
    to.look(page, "study-status")
    page = to.at("Gina", "/studies/new", "Write a study")
    page.get_by_label("Folder name").fill("exam")
    page.get_by_label("Preset").select_option("exam")
    page.get_by_label("Title that participants see").fill("Films of experts")
    page.get_by_label("Items:").fill("mmvu")
    page.get_by_label("Number of items").fill("12")
    page.get_by_label("Number of people").fill("4")
    page.get_by_role("button", name="Write the text").click()
    to.look(page, "study-build")
    page.get_by_role("button", name="Check and save").click()
    expect(page.get_by_role("heading", name="Saved")).to_be_visible()
    to.look(page, "study-kept")


def of_exported_pages(to: Looked):
    """The same as files that need no server."""
    pages = to.team.folder / "pages"
    runs = to.team.folder / "demo" / "runs"
    command = [sys.executable, "-m", "vidence", "view", runs, "--export", pages, "--most", "2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page = to.page("")
    page.goto((pages / "index.html").as_uri())
    to.look(page, "view-exported")


FAMILIES: tuple[Callable[[Looked], None], ...] = (
    of_everybody,
    of_operators,
    of_people,
    of_authors,
    of_reviewers,
    of_boards,
    of_the_viewer,
    of_the_board,
    of_studies,
    of_exported_pages,
)


def test_every_screen_is_open_to_everybody_and_fits(browser, team):
    to = Looked(browser, team)
    for walk in FAMILIES:
        walk(to)
    for page in to.pages.values():
        page.context.close()
    assert to.faults == [], "\n".join(to.faults)
    if "VIDENCE_PICTURES" not in os.environ:
        drawn = {one.stem for one in PICTURES.glob("*.png")}
        assert drawn <= {name + width for name in to.names for width in ("", "-400")}
    assert [one for one in to.complaints if "Failed to load resource" not in one] == []
