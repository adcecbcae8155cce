"""Writing items in Chromium: marks by keyboard, saves through crashes, two tabs, a session that ends."""

import re
import shutil
import sqlite3
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageDraw
from playwright.sync_api import expect

from videos.stamped import write

PASSWORD = "correct horse battery"  # noqa: S105 - of tests
SAVED = re.compile(r"^saved \d")
HOSTILE = "<img src=x onerror=window.pwned=1>"
LISTEN = """() => {
  window.told = [];
  document.addEventListener("vidence:saved", (event) => window.told.push(event.detail.version));
}"""
FILM = f"clips/{HOSTILE}.mp4"


def kept(team) -> tuple[str, list[tuple[int, str]]]:
    """What SQLite says of its file, and each save in the log of drafts."""
    connection = sqlite3.connect(team.data / "studio.sqlite3")
    try:
        log = connection.execute("SELECT version, body FROM studio_draftlogrow ORDER BY version").fetchall()
        return connection.execute("PRAGMA integrity_check").fetchone()[0], log
    finally:
        connection.close()


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A folder with one project, one author and one film; each test has a copy."""
    folder = tmp_path_factory.mktemp("begun")
    (folder / "media" / "clips").mkdir(parents=True)
    write(folder / "media" / FILM, numbers=range(60))
    for words, said in (
        (("project", folder / "team", "films", "--protocol", "mmvu", "--title", "Films"), ""),
        (("user", "add", folder / "team", "Ann", "--roles", "author", "--password-stdin"), PASSWORD),
        (("user", "add", folder / "team", "Bob", "--roles", "reviewer", "--password-stdin"), PASSWORD),
    ):
        command = [sys.executable, "-m", "vidence", "studio", *map(str, words)]
        subprocess.run(command, input=said, text=True, check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture
def team(killable, begun, tmp_path):
    """A server of the copy."""
    folder = shutil.copytree(begun, tmp_path / "copy")
    return killable(folder / "team", "--media-root", folder / "media")


@pytest.fixture
def address(page, team, sign_in):
    """A new item on the film; its form."""
    sign_in(page, team.url, "Ann", "/projects/films/media/")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Register the selected media").click()
    page.get_by_role("link", name="New item").click()
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/edit")
    return page.url


def state(page):
    return page.locator("[data-save-state]")


def looked(page, name):
    """What axe says of a page, and whether it fits, on a wide screen and on a narrow one."""
    assert [one["id"] for one in Axe().run(page).response["violations"]] == [], name
    for width, height in ((400, 800), (1400, 900)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (name, width)


def test_marks_by_keyboard_become_evidence_that_is_saved(page, team, address):
    page.locator("section[data-player][data-state=painted]").wait_for()
    page.get_by_label("Question").focus()
    page.keyboard.type("Which block turns white second?")
    page.keyboard.press("Alt+Shift+Period")
    frame = page.locator("section[data-player]")
    expect(frame).to_have_attribute("data-frame", "10")
    page.keyboard.press("Alt+i")
    page.keyboard.press("Alt+Shift+Period")
    expect(frame).to_have_attribute("data-frame", "20")
    for key in ("Alt+o", "Alt+p", "Alt+e"):
        page.keyboard.press(key)
    expect(page.locator("#f-evidence-0-text")).to_be_focused()
    page.keyboard.type("the second block")
    assert page.locator("#f-evidence-0-start").input_value() == "0.333333"
    assert page.locator("#f-evidence-0-end").input_value() == "0.666667"
    assert page.locator("#f-evidence-0-kind").input_value() == "proactive"
    expect(state(page)).to_have_text(SAVED)
    expect(page.locator("[data-checks]")).to_contain_text("Empty parts are checked")
    expect(page.locator("[data-checks]")).not_to_contain_text("The right option is empty")
    page.get_by_role("button", name="Add a step").press("Enter")
    page.keyboard.type("It turns white.")
    page.keyboard.press("Control+s")
    expect(state(page)).to_have_text(SAVED)
    page.reload()
    assert page.locator("#f-evidence-0-text").input_value() == "the second block"
    assert page.locator("#f-step-0").input_value() == "It turns white."
    page.locator("#f-step-0").press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not handed in")
    expect(page.locator("[data-checks]")).to_contain_text("The right option is empty")
    looked(page, "not-handed-in")
    assert page.evaluate("window.pwned") is None


def test_no_acknowledged_save_is_lost_when_the_server_is_killed(page, team, address):
    page.evaluate(LISTEN)
    question = page.get_by_label("Question")
    for number in range(2):
        question.press_sequentially(f"round {number}: which block is white? ", delay=5)
        expect(state(page)).to_have_text(SAVED)
        question.press_sequentially("and this is typed while it is killed ", delay=5)
        if number % 2:
            page.keyboard.press("Control+s")  # on its way, answered or not
        team.kill()
        question.press_sequentially("and this behind it. ", delay=5)
        expect(state(page)).to_have_text("not saved, kept here", timeout=6_000)
        told = page.evaluate("window.told")
        integrity, log = kept(team)
        assert integrity == "ok"
        assert {one for one, _ in log} >= set(told)
        team.start()
        expect(state(page)).to_have_text(SAVED, timeout=30_000)
    written = question.input_value()
    team.kill()
    question.press_sequentially("The browser ends, too.", delay=5)
    expect(state(page)).to_have_text("not saved, kept here", timeout=6_000)
    context = page.context
    page.close()
    team.start()
    again = context.new_page()
    again.goto(address)
    assert again.get_by_label("Question").input_value() == written.strip()
    expect(again.get_by_role("alert")).to_contain_text("This browser has an unsaved text")
    again.get_by_role("button", name="Put it into the form").click()
    expect(state(again)).to_have_text(SAVED)
    again.reload()
    assert again.get_by_label("Question").input_value().endswith("The browser ends, too.")
    assert again.get_by_role("alert").count() == 0


def test_two_tabs_show_both_texts_and_a_kept_one_is_not_put_over_a_newer(page, team, address):
    other = page.context.new_page()
    other.goto(address)
    page.get_by_label("Question").fill(f"Which block is thick? {HOSTILE}")
    expect(state(page)).to_have_text(SAVED)
    other.get_by_label("Question").fill(f"Which block is thin? {HOSTILE}")
    expect(state(other)).to_have_text("not saved, kept here: there is another version")
    third = page.context.new_page()
    third.goto(address)
    expect(third.get_by_role("alert")).to_contain_text("written on version 0; the form shows version 1")
    assert "thick" in third.get_by_label("Question").input_value()
    other.get_by_role("button", name="Show both").click()
    expect(other.get_by_role("heading", level=1)).to_contain_text("Two versions")
    assert other.locator("del").all_inner_texts() == ["thick"]
    assert other.locator("ins").all_inner_texts() == ["thin"]
    looked(other, "conflict")
    other.get_by_role("button", name="Continue with the text written here").click()
    expect(other.get_by_label("Question")).to_have_value(f"Which block is thin? {HOSTILE}")
    assert other.evaluate("window.pwned") is None
    assert [version for version, _ in kept(team)[1]] == [1, 2]


def test_a_session_that_ends_keeps_the_text_until_one_is_back(page, team, address):
    page.context.clear_cookies()
    page.get_by_label("Question").fill("Which block is written after the end?")
    expect(page.get_by_role("alert")).to_contain_text("You are signed out")
    expect(state(page)).to_contain_text("not saved, kept here")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in in another tab").click()
    second = opened.value
    second.get_by_label("Name").fill("Ann")
    second.get_by_label("Password").fill(PASSWORD)
    second.get_by_label("Password").press("Enter")
    second.wait_for_url(f"{team.url}/")
    expect(state(page)).to_have_text(SAVED, timeout=10_000)
    assert page.get_by_role("alert").all_inner_texts() == []
    page.reload()
    assert page.get_by_label("Question").input_value() == "Which block is written after the end?"


def test_words_that_are_typed_before_the_scripts_run_are_saved(page, team, address, without_scripts):
    with without_scripts(page):
        page.goto(address, wait_until="commit")
        page.get_by_label("Question").focus()
        page.keyboard.type("Which block is typed early?")
        page.locator("#f-evidence-0-kind").focus()
        page.keyboard.press("ArrowDown")
        expect(state(page)).to_have_text("nothing written yet")
    expect(state(page)).to_have_text(SAVED)
    page.reload()
    assert page.get_by_label("Question").input_value() == "Which block is typed early?"
    assert [version for version, _ in kept(team)[1]] == [1]
    page.wait_for_timeout(900)
    assert [version for version, _ in kept(team)[1]] == [1], "a page that nobody writes in saves nothing"


def test_oracle_frames_are_picked_at_the_painted_frame_in_an_order(page, team, address):
    player = page.locator("section[data-player]")
    expect(player).to_have_attribute("data-frame", "0")
    for frame in ("10", "20"):
        page.keyboard.press("Shift+Period")
        expect(player).to_have_attribute("data-frame", frame)
        page.keyboard.press("f")
    frames = page.locator("#f-evidence-0-frames")
    expect(frames).to_have_value("10, 20")
    assert page.locator("#f-evidence-0-kind").input_value() == "oracle"
    page.locator("#f-evidence-0-text").fill("the second block is white in these alone")
    page.keyboard.press("Alt+Shift+Period")
    expect(player).to_have_attribute("data-frame", "30")
    page.keyboard.press("Alt+f")
    expect(frames).to_have_value("10, 20, 30")
    page.get_by_role("button", name="Frame 30: one place earlier").press("Enter")
    expect(frames).to_have_value("10, 30, 20")
    page.get_by_role("button", name="Frame 10: remove it").press("Enter")
    expect(frames).to_have_value("30, 20")
    assert page.locator(".picked img").evaluate_all("all => all.map(one => one.alt)") == [
        "frame 30",
        "frame 20",
    ]
    expect(state(page)).to_have_text(SAVED)
    looked(page, "oracle-frames")
    page.reload()
    expect(frames).to_have_value("30, 20")
    assert page.locator(".picked li").count() == 2


def test_a_box_is_drawn_on_a_picture_or_written_as_numbers(page, team, sign_in):
    plates = team.data.parent / "media" / "plates"
    plates.mkdir()
    for number, colour in enumerate(("navy", "darkred")):
        picture = Image.new("RGB", (640, 480), colour)
        ImageDraw.Draw(picture).rectangle((200, 120, 360, 300), fill="white")
        picture.save(plates / f"{number}.png")
    sign_in(page, team.url, "Ann", "/projects/films/media/")
    page.get_by_role("checkbox", name="plates images", exact=True).check()
    page.get_by_role("button", name="Register the selected media").click()
    page.get_by_role("link", name="New item").click()
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/edit")
    second = page.locator("section[data-player]").nth(1)
    expect(second).to_have_attribute("data-state", "painted")
    page.get_by_role("button", name="Draw a box on 1.png").click()
    image = second.locator(".stage img")
    image.scroll_into_view_if_needed()
    place = image.bounding_box()
    scale = place["width"] / 640
    page.mouse.move(place["x"] + 200 * scale, place["y"] + 120 * scale)
    page.mouse.down()
    page.mouse.move(place["x"] + 300 * scale, place["y"] + 200 * scale)
    page.mouse.move(place["x"] + 360 * scale, place["y"] + 300 * scale)
    page.mouse.up()
    expect(page.locator("#f-evidence-0-text")).to_be_focused()
    drawn = [float(page.locator(f"#f-evidence-0-{side}").input_value()) for side in ("x0", "y0", "x1", "y1")]
    assert drawn == pytest.approx([200, 120, 360, 300], abs=3)
    assert page.locator("#f-evidence-0-medium").input_value() == "1"
    page.keyboard.type("the white plate")
    page.locator("#f-evidence-0-x0").fill("10")
    assert second.locator(".boxes rect").last.get_attribute("x") == "10"
    page.locator("#f-evidence-0-x1").fill("700")
    expect(state(page)).to_have_text(SAVED)
    expect(page.locator("[data-checks]")).to_contain_text("640 x 480 pixels")
    page.locator("#f-evidence-0-x1").fill("360")
    expect(page.locator("[data-checks]")).not_to_contain_text("640 x 480 pixels")
    looked(page, "boxes")
    page.reload()
    expect(second.locator(".boxes rect").last).to_have_attribute("x", "10")
