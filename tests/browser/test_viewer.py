"""What people do in the viewer: find a question, look at it beside another run, watch a run that goes on."""

import json
import shutil
import subprocess
import sys

import msgspec
import pytest
from playwright.sync_api import expect

from subjects.viewed import OTHERS, PWN, TRIALS, state, write_run
from vidence.engine.store import RunStore
from vidence.records import Prompt, TextPart, VideoPart
from vidence.studio.bridge.places import place_id
from videos.pans import pan, write


@pytest.fixture
def runs(tmp_path):
    """Two runs of the same questions about a film, with texts that attack."""
    media = tmp_path / "media"
    media.mkdir()
    write(media / "film.mp4", pan(2.0, n_frames=60))
    facts = {"media_root": str(media)}
    write_run(
        tmp_path / "runs" / "a", facts=facts, plan={"name": "Ours <img src=x onerror='window.pwned=1'>"}
    )
    whole = Prompt(parts=(VideoPart(path="film.mp4", digest="a" * 64), TextPart(text="Look, and answer.")))
    others = [msgspec.structs.replace(one, prompt=whole) for one in OTHERS]
    write_run(tmp_path / "runs" / "b", trials=others, facts=facts, plan={"name": "Theirs"})
    return tmp_path / "runs"


def test_from_the_runs_to_a_flip_and_its_frames(page, view_server, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    before = state(runs)
    served = view_server("--no-open", runs)
    page.goto(served.door)
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
    page.get_by_role("checkbox", name="Ours").check()
    page.get_by_role("checkbox", name="Theirs").check()
    page.get_by_role("button", name="Compare the ticked runs").click()
    expect(page.locator("#piece")).to_contain_text("How the replies were produced", timeout=60_000)
    page.get_by_role("link", name="2 scored differently").click()
    expect(page.locator(".piece tbody tr")).to_have_count(2)
    page.get_by_role("link", name="q2").click()
    expect(page.locator("section.told")).to_have_count(2)
    expect(page.locator("[data-player]")).to_have_attribute("data-state", "painted")
    lane = page.get_by_role("img", name="sent whole to Theirs: 0.000 s to 6.000 s")
    assert lane.locator("rect.span").get_attribute("width") == "1000"
    page.locator("svg.lane").nth(1).scroll_into_view_if_needed()
    for frame in (3, 45):  # a click on a frame that was shown paints that frame
        box, at = page.locator(f"line[data-frame='{frame}']").bounding_box(), page.locator("[data-player]")
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(at).to_have_attribute("data-frame", str(frame))
        expect(at).to_have_attribute("data-state", "painted")
    page.goto(f"{served.url}/runs")
    page.locator("th a", has_text="Ours").click()
    expect(page.locator("#piece")).to_contain_text("How it was run")
    page.get_by_role("link", name="1 unreadable").first.click()
    page.locator(".piece tbody a").click()
    expect(page.locator("section.told pre").first).to_contain_text(PWN)
    assert page.evaluate("() => window.pwned") is None
    assert state(runs) == before


def test_a_run_that_goes_on_is_seen_to_grow_and_keeps_what_is_ticked(
    page, view_server, tmp_path, monkeypatch
):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    run = write_run(tmp_path / "runs" / "a", trials=TRIALS[:1])
    with RunStore(run, is_writer=True) as store:
        page.goto(view_server("--no-open", tmp_path / "runs").door)
        expect(page.locator("#piece")).to_contain_text("1 of 4")
        page.get_by_role("checkbox").check()
        store.add(TRIALS[1])
        expect(page.locator("#piece")).to_contain_text("2 of 4", timeout=15_000)
        expect(page.get_by_role("checkbox")).to_be_checked()
        page.goto("about:blank")  # what looks every 2 s ends before the server does


def test_without_scripts_everything_but_the_player_is_there(
    browser, view_server, runs, tmp_path, monkeypatch
):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    shutil.rmtree(runs / "b")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(view_server("--no-open", runs).door)
    page.locator("th a", has_text="Ours").click()
    page.get_by_role("link", name="All questions").click()
    page.get_by_role("link", name="q1").click()
    expect(page.locator("video")).to_have_attribute("controls", "")
    expect(page.locator("section.told")).to_contain_text("Answer: A")
    context.close()


def test_exported_pages_stand_on_their_own_in_a_browser(page, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    places = [f"run={place_id(runs / name)}" for name in "ab"]
    command = [sys.executable, "-m", "vidence", "view", runs, "--export", tmp_path / "pages"]
    subprocess.run([*command, "--list", f"http://127.0.0.1:1/items?{'&'.join(places)}&flip=any"], check=True)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "pages" / "index.html").as_uri())
    page.locator("th a", has_text="Ours").click()
    expect(page.locator("#piece")).to_contain_text("How it was run")
    page.get_by_role("link", name="All questions").wait_for(
        state="detached"
    )  # another list than the exported
    page.goto((tmp_path / "pages" / "items-1.html").as_uri())
    expect(page.locator(".piece tbody tr")).to_have_count(2)
    page.get_by_role("link", name="q2").click()
    expect(page.get_by_role("img", name="frame 45, 1.50 s")).to_have_count(2)
    page.wait_for_function("() => [...document.images].every((one) => one.complete && one.naturalWidth > 0)")
    page.set_viewport_size({"width": 250, "height": 800})  # narrower than two frames
    tops = "all => all.map(one => new Set(Array.from(one.children, each => each.offsetTop)).size)"
    assert page.locator(".stills").evaluate_all(tops) == [1, 1]
    assert page.evaluate("() => window.pwned") is None
    assert {url.split(":")[0] for url in asked} == {"file"}


PANEL = """
[[benchmarks]]
benchmark = "table"
data = "items.jsonl"
[[models]]
model = "scripted:A"
name = "a"
[[models]]
model = "scripted:B"
name = "a-name-that-is-wider-than-the-screen-of-a-phone"
"""
SIDEWAYS = """() => [document.scrollingElement, ...document.querySelectorAll(".scroll")].filter(
  one => one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 120))"""


def test_a_narrow_viewer_scrolls_in_one_direction(page, view_server, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    page.set_viewport_size({"width": 400, "height": 800})
    served = view_server("--no-open", runs)
    page.goto(served.door)
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
    places = "&".join(f"run={place_id(runs / name)}" for name in "ab")
    there = {
        "runs": "Theirs",
        f"run/{place_id(runs / 'a')}": "How it was run",
        f"items?{places}": "q2",
        f"item?{places}&item=q2&repeat=0&n=0": "Look, and answer.",
        f"compare?{places}": "How the replies were produced",
    }
    for address, words in there.items():
        page.goto(f"{served.url}/{address}")
        expect(page.locator("main")).to_contain_text(words, timeout=60_000)
        assert page.evaluate(SIDEWAYS) == [], address


def test_the_page_of_a_run_is_turned_and_scrolls_in_one_direction(browser, page, tmp_path):
    shown = {"media": [{"path": "v.mp4"}], "choices": ["yes", "no"], "answer": "A"}
    lines = [
        {"item_id": f"q{n}", "question": f"Question {n}?", "tags": {"kind": f"k{n % 4}"}, **shown}
        for n in range(120)
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "panel.toml").write_text(f'title = "Two"\n[settings]\nselector = "none"\n{PANEL}')
    ask = ("run", "table", "--data", "items.jsonl", "--out", "run", "--model", "scripted:A", "--selector")
    folders = [f"panel/table/{name}" for name in ("a", "a-name-that-is-wider-than-the-screen-of-a-phone")]
    for words in (
        (*ask, "none"),
        ("panel", "panel.toml", "--out", "panel"),
        ("compare", *folders, "--html", "two.html"),
    ):
        subprocess.run([sys.executable, "-m", "vidence", *words], cwd=tmp_path, check=True)
    address = (tmp_path / "run" / "report.html").as_uri()
    page.set_viewport_size({"width": 400, "height": 800})
    for one in (address, (tmp_path / "panel" / "panel.html").as_uri(), (tmp_path / "two.html").as_uri()):
        page.goto(one)
        page.evaluate(
            "document.querySelectorAll('details.more, details.run').forEach(one => one.open = true)"
        )
        assert page.evaluate(SIDEWAYS) == [], one
    page.set_viewport_size({"width": 1400, "height": 800})
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    questions, after = page.locator("details.item:visible"), page.get_by_role("button", name="After")
    expect(questions).to_have_count(20)
    after.focus()
    for _ in range(5):
        page.keyboard.press("Enter")
    expect(questions).to_have_count(20)
    expect(after).to_be_disabled()
    page.get_by_label("Words in question").fill("question 77")
    expect(questions).to_have_count(1)
    expect(after).to_be_hidden()
    page.goto(f"{address}#q101")
    expect(page.locator("#q101")).to_be_visible()
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(address)
    expect(plain.locator("details.item:visible")).to_have_count(120)
    context.close()
