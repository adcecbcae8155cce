"""Boards by keyboard: tracks are corrected, a set is made again, and its questions change."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from subjects.street_set import StreetSet
from vidence.make.people.rows import CountRow, TrackRow, read_rows


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    street = StreetSet(tmp_path_factory.mktemp("street")).draw()
    street.make()
    return street


@pytest.fixture
def opened(page, studio_server, drawn):
    """The page of the set, in a studio of one person."""
    served = studio_server(drawn.config)
    page.goto(served.door)
    page.goto(f"{served.url}/sets/")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Open").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("street")
    return page


def board(page, name):
    """Go to a board of the video by its link, with the keyboard."""
    page.get_by_role("link", name=f"{name} of north").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(name.casefold())


def violations(page):
    return [f"{one['id']}: {one['help']}" for one in Axe().run(page).response["violations"]]


def to_row(page, track):
    """Go to the row of a track with the keys for the next one."""
    for _ in range(12):
        if page.evaluate("document.activeElement.dataset.track") == track:
            return
        page.keyboard.press("n")
    raise AssertionError(f"no row of track {track}")


def key_on(page, track, key, *, says):
    """Press a key on the row of a track, and wait for what the page says then."""
    for _ in range(12):
        page.keyboard.press("b")
    to_row(page, track)
    page.keyboard.press(key)
    expect(page.locator("form.undo")).to_contain_text(says)


def counted(street):
    """The tracks that each question counts, by what it asks."""
    return {one.question: set(one.facts["tracks"].split(", ")) for one in street.drafts()}


def test_a_track_is_corrected_by_keyboard_and_the_question_changes(opened, drawn):
    before = counted(drawn)
    first_bytes = (drawn.made / "drafts.jsonl").read_bytes()
    board(opened, "Tracks")
    expect(opened.locator("[data-row]")).to_have_count(8)
    expect(opened.locator("[data-row]:focus")).to_have_count(1)
    key_on(opened, "5", "v", says="the last: 5 ok")
    key_on(opened, "7", "x", says="the last: 7 phantom")
    expect(opened.locator("[data-row]")).to_have_count(7)
    expect(opened.locator(".remake")).to_contain_text("drafts of this video")
    for _ in range(12):
        opened.keyboard.press("b")
    to_row(opened, "3")
    opened.locator("[data-track='3'] input[name=frame]").nth(4).focus()
    opened.keyboard.press("Space")
    opened.keyboard.press("s")
    expect(opened.locator("form.undo")).to_contain_text("the last: 3 split:")
    expect(opened.locator("[data-track='3/1']")).to_have_count(1)
    opened.keyboard.press("u")
    expect(opened.locator("form.undo")).to_contain_text("the last: 7 phantom")
    expect(opened.locator("[data-track='3']")).to_have_count(1)
    acts = [(one.track_id, one.act) for one in read_rows(drawn.people, TrackRow, videos=None)]
    assert acts == [("5", "ok"), ("7", "phantom")]

    drawn.make()
    after = counted(drawn)
    assert any("7" in tracks for tracks in before.values())
    assert not any("7" in tracks for tracks in after.values())
    reasons = [json.loads(line) for line in (drawn.made / "dropped.jsonl").read_text().splitlines()]
    assert [one["what"] for one in reasons if one["reason"] == "by-a-person"] == ["north: 7"]
    opened.reload()
    expect(opened.locator(".remake")).to_have_count(0)

    opened.keyboard.press("u")
    expect(opened.locator("form.undo")).to_contain_text("the last: 5 ok")
    opened.keyboard.press("u")
    expect(opened.locator("form.undo button")).to_be_disabled()
    drawn.make()
    assert (drawn.made / "drafts.jsonl").read_bytes() == first_bytes


def test_tracks_are_joined_with_the_marked_one(opened, drawn):
    board(opened, "Tracks")
    to_row(opened, "3")
    opened.locator("[data-track='3'] input[name=frame]").nth(4).focus()
    opened.keyboard.press("Space")
    opened.keyboard.press("s")
    expect(opened.locator("form.undo")).to_contain_text("the last: 3 split:")
    for _ in range(12):
        opened.keyboard.press("b")
    to_row(opened, "3/1")
    opened.keyboard.press("t")
    key_on(opened, "3/2", "+", says="the last: 3/2 join:3/1")
    expect(opened.locator("[data-track='3/2']")).to_have_count(0)
    for _ in range(2):
        opened.keyboard.press("u")
        opened.wait_for_load_state()
    expect(opened.locator("form.undo button")).to_be_disabled()


def test_a_cut_is_added_at_the_frame_of_the_player(opened, drawn):
    board(opened, "Shots")
    player = opened.locator("[data-player]")
    expect(player).to_have_attribute("data-frame", "0", timeout=15_000)
    for frame in (1, 2, 3):
        opened.keyboard.press(".")
        expect(player).to_have_attribute("data-frame", str(frame))
    opened.keyboard.press("s")
    expect(opened.locator("form.undo")).to_contain_text("the last: cut-at:3")
    expect(opened.locator("[data-row]")).to_have_count(2)
    opened.keyboard.press("u")
    expect(opened.locator("[data-row]")).to_have_count(1)


def test_words_that_leak_are_marked_while_typing(opened, drawn):
    board(opened, "Cards")
    row = opened.locator("[data-track='3']")
    row.get_by_label("A: looks").focus()
    opened.keyboard.type("A tall figure in a purple coat and grey trousers.")
    opened.keyboard.press("Tab")
    opened.keyboard.type("They come from the left in a purple coat and go on to the right, past all.")
    expect(row.locator("mark.leak").filter(has_text="purple")).to_have_count(1)
    row.get_by_label("B: way and acts").press("ControlOrMeta+a")
    opened.keyboard.type("They come from the left side. They go on to the right without a stop, past others.")
    expect(row.locator("mark.leak")).to_have_count(0)
    row.get_by_role("button", name="Keep the words").press("Enter")
    expect(opened.locator("form.undo")).to_contain_text("3/B written")
    opened.locator("[data-track='3']").get_by_role("link", name="Whom does A fit?").press("Enter")
    expect(opened.locator("[data-row]")).to_have_count(8)
    opened.locator("input[value='3']").press("Space")
    opened.get_by_role("button", name="That is all whom it fits").press("Enter")
    expect(opened.get_by_role("status")).to_contain_text("It fits one")


def test_people_are_counted_with_one_key(opened, drawn):
    board(opened, "Counts")
    opened.get_by_label("People who").select_option("entered:left")
    opened.get_by_role("button", name="Count this").press("Enter")
    player = opened.locator("[data-player]")
    expect(player).to_have_attribute("data-frame", "0", timeout=15_000)
    opened.keyboard.press("c")
    opened.keyboard.press(".")
    expect(player).to_have_attribute("data-frame", "1")
    for key in ("c", "c", "Shift+C", "q"):
        opened.keyboard.press(key)
    expect(opened.locator("[data-count]")).to_have_text("2")
    assert violations(opened) == []
    opened.get_by_role("button", name="Done", exact=True).press("Enter")
    expect(opened.locator("#done")).to_contain_text("solo: 2 (2 to 3)")
    (row,) = read_rows(drawn.people, CountRow, videos=None)
    assert (row.place, row.n, row.n_high, row.frames) == ("entered:left", 2, 3, (0, 1))
    opened.keyboard.press("u")
    expect(opened.locator("#done")).not_to_contain_text("solo")


@pytest.mark.parametrize("width", [400, 1400])
def test_boards_fit_and_have_no_violation(opened, width):
    opened.set_viewport_size({"width": width, "height": 900})
    at = opened.url
    for name in ("", "north/tracks", "north/shots", "north/cards", "north/false-cards", "north/counts?place=left:top"):
        opened.goto(at + name)
        expect(opened.get_by_role("heading", level=1)).to_be_visible()
        assert violations(opened) == [], name
        assert opened.evaluate("document.documentElement.scrollWidth") <= width, name
