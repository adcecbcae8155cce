"""Boards by keyboard: tracks are corrected, a set is made again, and its questions change."""

import json

import pytest
from playwright.sync_api import expect

from subjects.street_set import StreetSet
from vidence.make.review.people.rows import CountRow, TrackRow, read_rows

N_TRACKS = 8


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    street = StreetSet(tmp_path_factory.mktemp("street")).draw()
    street.make()
    return street


@pytest.fixture(scope="module")
def let_in(browser, serve_all, drawn, tmp_path_factory):
    """The address of the set, opened by keyboard, and what a browser has that was let in."""
    served = serve_all("studio", "open", tmp_path_factory.mktemp("studio"), drawn.config)
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.door)
    page.get_by_role("link", name="Boards").press("Enter")
    page.get_by_role("button", name="Open").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("street")
    yield page.url, context.storage_state()
    context.close()


@pytest.fixture
def opened(browser, let_in):
    """The page of the set; what its console complains of fails the test."""
    address, state = let_in
    context = browser.new_context(viewport={"width": 1400, "height": 900}, storage_state=state)
    page = context.new_page()
    complaints = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert [one for one in complaints if "Failed to load resource" not in one] == []


def ready(page):
    """Wait for the keys of the board."""
    expect(page.locator("html[data-boards=ready]")).to_have_count(1)


def board(page, name):
    """Go to a board of the video by its link, with the keyboard."""
    page.get_by_role("link", name=f"{name} of north", exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(name.casefold())
    ready(page)


def to_row(page, track):
    """Go to the row of a track with the keys for the next one and the one before."""
    for _ in range(N_TRACKS + 1):
        page.keyboard.press("b")
    for _ in range(N_TRACKS + 1):
        if page.evaluate("document.activeElement.dataset.track") == track:
            return
        page.keyboard.press("n")
    raise AssertionError(f"no row of track {track}")


def press(page, key, *, says):
    """Press a key, and wait for what the page says was the last act then."""
    page.keyboard.press(key)
    expect(page.locator("form.undo")).to_contain_text(says)
    ready(page)


def split_by_keys(page, track):
    """Choose a crop in the middle with the arrow keys, and split there."""
    to_row(page, track)
    page.locator(f"[data-track='{track}'] input[name=frame]").first.press("Space")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    press(page, "s", says=f"the last: {track} split:")


def counted(street):
    """The tracks that each question counts, by what it asks."""
    return {one.question: set(one.facts["tracks"].split(", ")) for one in street.drafts()}


def test_a_track_is_corrected_by_keyboard_and_the_question_changes(opened, drawn):
    before, first_bytes = counted(drawn), (drawn.made / "drafts.jsonl").read_bytes()
    board(opened, "Tracks")
    rows = opened.locator("[data-row]")
    expect(rows).to_have_count(N_TRACKS + 1)
    expect(opened.locator("[data-row]:focus")).to_have_count(1)
    to_row(opened, "5")
    press(opened, "v", says="the last: 5 ok")
    to_row(opened, "7")
    press(opened, "x", says="the last: 7 phantom")
    expect(rows).to_have_count(N_TRACKS)
    expect(opened.locator(".remake")).to_contain_text("drafts of this video")
    split_by_keys(opened, "3")
    to_row(opened, "3/1")
    opened.keyboard.press("t")
    to_row(opened, "3/2")
    press(opened, "+", says="the last: 3/2 join:3/1")
    expect(rows).to_have_count(N_TRACKS)
    press(opened, "u", says="the last: 3 split:")
    press(opened, "u", says="the last: 7 phantom")
    acts = [(one.track_id, one.act) for one in read_rows(drawn.people, TrackRow, videos=None)]
    assert acts == [("5", "ok"), ("7", "phantom")]
    drawn.make()
    after = counted(drawn)
    assert any("7" in tracks for tracks in before.values())
    assert not any("7" in tracks for tracks in after.values())
    reasons = [json.loads(line) for line in (drawn.made / "dropped.jsonl").read_text().splitlines()]
    assert [one["what"] for one in reasons if one["reason"] == "by-a-person"] == ["north: 7"]
    opened.reload()
    ready(opened)
    expect(opened.locator(".remake")).to_have_count(0)
    press(opened, "u", says="the last: 5 ok")
    opened.keyboard.press("u")
    expect(opened.locator("form.undo button")).to_be_disabled()
    drawn.make()
    assert (drawn.made / "drafts.jsonl").read_bytes() == first_bytes


def test_a_cut_is_added_at_the_frame_of_the_player(opened):
    board(opened, "Shots")
    player = opened.locator("[data-player]")
    expect(player).to_have_attribute("data-frame", "0", timeout=15_000)
    for frame in (1, 2, 3):
        opened.keyboard.press(".")
        expect(player).to_have_attribute("data-frame", str(frame))
    press(opened, "s", says="the last: cut-at:3")
    expect(opened.locator("[data-row]")).to_have_count(2)
    opened.keyboard.press("u")
    expect(opened.locator("[data-row]")).to_have_count(1)
    ready(opened)
    expect(player).to_have_attribute("data-frame", "0", timeout=15_000)
    for key, frame in ((".", 1), ("i", 1), (".", 2), (".", 3), ("o", 3)):
        opened.keyboard.press(key)
        expect(player).to_have_attribute("data-frame", str(frame))
    press(opened, "m", says="the last: gradual:1-3")
    expect(opened.get_by_text("the first 3 show both shots")).to_have_count(1)
    expect(opened.locator("#s-1:focus")).to_have_count(1)  # where somebody goes on
    opened.keyboard.press("u")
    expect(opened.locator("[data-row]")).to_have_count(1)


def test_words_that_leak_are_marked_and_a_card_finds_its_person(opened):
    board(opened, "Cards")
    row = opened.locator("[data-track='3']")
    row.get_by_label("A: looks").focus()
    opened.keyboard.insert_text("A tall figure in a purple coat and grey trousers.")
    opened.keyboard.press("Tab")
    opened.keyboard.insert_text("They come from the left in a purple coat and go on to the right, past all.")
    opened.keyboard.press("Tab")
    press(opened, "Enter", says="the last: 3/B")
    expect(row.locator("mark.leak").filter(has_text="purple")).to_have_count(1)
    row.get_by_label("B: way and acts").focus()
    opened.keyboard.press("ControlOrMeta+a")
    opened.keyboard.insert_text(
        "They come from the left side. They go on to the right without a stop, past all."
    )
    opened.keyboard.press("Tab")
    opened.keyboard.press("Enter")
    expect(row.locator("mark.leak")).to_have_count(0)
    ready(opened)
    row.get_by_role("link", name="Which of them does A fit?").press("Enter")
    expect(opened.locator("[data-row]")).to_have_count(N_TRACKS)
    opened.get_by_role("checkbox", name="Person 1", exact=True).press("Space")
    opened.get_by_role("button", name="Save the selection").press("Enter")
    expect(opened.get_by_text("it is the card of 3")).to_be_visible()


def test_people_are_counted_with_one_key(opened, drawn):
    board(opened, "Counts")
    opened.get_by_label("People who").select_option("entered:left")
    opened.get_by_role("button", name="Count this").press("Enter")
    player = opened.locator("[data-player]")
    expect(player).to_have_attribute("data-frame", "0", timeout=15_000)
    ready(opened)
    opened.keyboard.press("c")
    opened.keyboard.press(".")
    expect(player).to_have_attribute("data-frame", "1")
    for key in ("c", "c", "Shift+C", "q"):
        opened.keyboard.press(key)
    expect(opened.locator("[data-count]")).to_have_text("2")
    opened.get_by_role("button", name="Done", exact=True).press("Enter")
    expect(opened.locator("#done")).to_contain_text("solo: 2 (2 to 3)")
    (row,) = read_rows(drawn.people, CountRow, videos=None)
    assert (row.place, row.n, row.n_high, row.frames) == ("entered:left", 2, 3, (0, 1))
    ready(opened)
    opened.keyboard.press("u")
    expect(opened.locator("#done")).not_to_contain_text("solo")


def test_a_person_who_was_counted_keeps_a_numbered_dot(opened, drawn):
    track = max(drawn.opened().video("north").tracked.tracks, key=lambda one: len(one.frame_indices))
    half = len(track.frame_indices) // 2
    frame, (x, y) = int(track.frame_indices[half]), track.centroids_px[half].tolist()
    board(opened, "Counts")
    opened.goto(f"{opened.url}?place=visited:whole&first={frame}&last={frame + 8}")
    ready(opened)
    player, dots = opened.locator("[data-player]"), opened.locator("svg.dots")
    expect(player).to_have_attribute("data-frame", str(frame), timeout=15_000)
    box, (wide, high) = dots.bounding_box(), dots.get_attribute("viewBox").split()[2:]
    scale = min(box["width"] / float(wide), box["height"] / float(high))
    left = box["x"] + (box["width"] - scale * float(wide)) / 2 + x * scale
    opened.mouse.click(left, box["y"] + (box["height"] - scale * float(high)) / 2 + y * scale)
    expect(opened.locator("[data-counted] li")).to_have_text(f"frame {frame}")
    at = float(opened.locator("[data-dot='1'] circle").get_attribute("cx"))
    assert at == pytest.approx(x, abs=1)  # a click is at a whole pixel of the screen
    opened.keyboard.press(".")
    expect(player).to_have_attribute("data-frame", str(frame + 1))
    dots.focus()
    opened.keyboard.press("ArrowLeft")
    opened.keyboard.press("c")
    expect(opened.locator("[data-dot]")).to_have_count(2)
    expect(opened.get_by_text("Kept in this browser until you press Done.")).to_be_visible()
    opened.reload()
    ready(opened)
    expect(opened.locator("[data-counted] li")).to_have_count(2)
    expect(opened.locator("[data-count]")).to_have_text("2")
    opened.get_by_role("button", name="Done", exact=True).press("Enter")
    expect(opened.locator("#done")).to_contain_text("solo: 2")
    ready(opened)
    opened.keyboard.press("u")
    expect(opened.locator("#done")).not_to_contain_text("solo")
    opened.goto(opened.url.partition("#")[0] + f"?place=visited:whole&first={frame}&last={frame + 8}")
    expect(opened.locator("[data-count]")).to_have_text("0")


def test_words_and_counts_that_are_typed_before_the_scripts_run_are_kept(opened, without_scripts):
    page, at = opened, opened.url
    with without_scripts(page):
        page.goto(f"{at}north/cards", wait_until="commit")
        words = page.locator("[data-track='3']").get_by_label("B: way and acts")
        words.focus()
        page.keyboard.press("Control+a")
        page.keyboard.type("They wear a red coat.")
    ready(page)
    expect(words).to_be_focused()
    asked = []

    def stay(dialog):
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.locator("[data-track='5']").get_by_role("button", name="Keep the words").press("Enter")
    expect(words).to_have_value("They wear a red coat.")
    assert asked == ["beforeunload"]
    for early, said in (("", "2"), ("5", "5")):
        with without_scripts(page):
            page.goto(f"{at}north/counts?place=left:top&first=12&last=60", wait_until="commit")
            note = page.get_by_label("Note")
            note.focus()
            page.keyboard.type(early)
        expect(page.locator("html[data-counts=ready]")).to_have_count(1)
        if not early:
            page.get_by_label("Note").fill(said)
        expect(note).to_have_value(said)
    page.reload()
    expect(note).to_have_value("5")
