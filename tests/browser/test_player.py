"""The player in Chromium: every frame carries its number, and what is said is compared with what is painted.

The server is a process of its own with one page more (`serve_players.py`); no test measures time.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

from videos.special import MAKERS, Clip
from videos.stamped import HEIGHT, N_BITS, WIDTH, copy, packet_places, picture, write

HERE = Path(__file__).parent
PLAYED = ("h264", "ntsc-index-at-end", "vp9", "av1", "cut", "mkv", "late-video")
PERHAPS_COPIED = ("fragmented",)  # a header that is too short: the last frames are out of reach
COPIED = ("vfr", "open-gop", "offset", "intra-refresh", "hevc-open", "mpeg4")
READ = """(id) => {
  const film = document.querySelector(`#${id} video`), canvas = document.createElement("canvas");
  canvas.width = film.videoWidth; canvas.height = film.videoHeight;
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  pen.drawImage(film, 0, 0);
  const wide = canvas.width / BITS, high = canvas.height * SHARE;
  let number = 0;
  for (let bit = 0; bit < BITS; bit += 1) {
    const area = pen.getImageData((bit + 0.3) * wide, high * 0.3, wide * 0.4, high * 0.4).data;
    let sum = 0;
    for (let at = 0; at < area.length; at += 4) sum += area[at];
    number = number * 2 + (sum / (area.length / 4) > 127 ? 1 : 0);
  }
  return number;
}""".replace("BITS", str(N_BITS)).replace("SHARE", str(WIDTH / N_BITS / HEIGHT))


# Do orders one after the other; what was said after each, and the number in the picture then.
ORDERS = """async ([id, orders]) => {
  const read = READ, section = document.getElementById(id), box = section.querySelector(".go-to");
  const press = (place, key) => place.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  const seen = [];
  const said = async () => {
    const until = performance.now() + 5000;
    while (section.dataset.frame === undefined && performance.now() < until)
      await new Promise((done) => setTimeout(done, 2));
  };
  for (const [[kind, value], frame] of orders) {
    if (kind === "go") section.dispatchEvent(new CustomEvent("vidence:go", {detail: value}));
    if (kind === "key") press(document.body, value);
    if (kind === "time") { box.value = value; press(box, "Enter"); }
    await said();
    // On a busy machine a browser may report nothing for seconds, which is said: then it is asked once more.
    if (section.dataset.state === "unconfirmed") {
      section.dispatchEvent(new CustomEvent("vidence:go", {detail: frame}));
      await said();
    }
    seen.push([Number(section.dataset.frame), read(id), section.querySelector(".readout").textContent]);
  }
  return seen;
}""".replace("READ", READ)


def ntsc(folder: Path) -> Clip:
    """29.97 frames a second with B-frames, its index behind the pictures."""
    path = write(folder / "ntsc.mp4", time_base=Fraction(1001, 30000), numbers=range(90), ticks=range(90))
    content = path.read_bytes()
    assert content.index(b"moov") > content.index(b"mdat")
    return Clip(path, tuple(range(90)), tuple(n * 1001 / 30000 for n in range(90)))


def late_video(folder: Path) -> Clip:
    """A film whose sound begins a second before its pictures."""
    import av

    source, target = MAKERS["h264"](folder).path, folder / "late.mp4"
    with av.open(str(source)) as read, av.open(str(target), "w") as made:
        film = read.streams.video[0]
        copied, sound = made.add_stream_from_template(film), made.add_stream("aac", rate=48000)
        sound.layout = "mono"
        for packet in read.demux(film):
            if packet.size:
                packet.pts += round(1 / film.time_base)
                packet.dts += round(1 / film.time_base)
                packet.stream = copied
                made.mux(packet)
        for start in range(0, 48000 * 5, 960):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 960), np.float32), format="fltp", layout="mono")
            frame.rate, frame.pts = 48000, start
            made.mux(sound.encode(frame))
        made.mux(sound.encode(None))
    return Clip(target, tuple(range(120)), tuple(n / 30 for n in range(120)))


# Frames of 4 to 900 ms: codec, suffix, ticks in a second, options, and by how many seconds all is later.
VPX = {"deadline": "good", "cpu-used": "5", "auto-alt-ref": "1", "lag-in-frames": "16", "b": "400k"}
OPEN = {"x264-params": "open-gop=1:keyint=9:min-keyint=9:scenecut=0"}
UNEVEN = {
    "short-groups": ("libx264", "mp4", 90_000, {"g": "5", "bf": "3"}, 0),
    "long-groups": ("libx264", "mp4", 12_800, {"g": "25", "bf": "2"}, 0),
    "later": ("libx264", "mov", 1000, {"g": "8", "bf": "3"}, 5),
    "open-groups": ("libx264", "mp4", 90_000, {"bf": "3", **OPEN}, 0),
    "matroska": ("libx264", "mkv", 1000, {"g": "8", "bf": "2"}, 0),
    "webm": ("libvpx-vp9", "webm", 1000, {"g": "8", **VPX}, 0),
    "hevc": ("libx265", "mp4", 90_000, {"x265-params": "log-level=error:keyint=10:pools=1"}, 0),
}


def uneven(name: str, folder: Path) -> Clip:
    """A film with B-frames whose frames last very unequally."""
    codec, suffix, second, options, later_s = UNEVEN[name]
    rng = np.random.default_rng(list(UNEVEN).index(name))
    n = 60
    steps_s = np.where(rng.random(n) < 0.15, 0.004, rng.uniform(0.01, 0.1, n))
    steps_s[rng.random(n) < 0.1] = rng.uniform(0.2, 0.9)
    ticks = np.concatenate(([0], np.cumsum(np.rint(steps_s * second).astype(int))[:-1])).tolist()
    path = folder / f"{name}.{suffix}"
    clock = Fraction(1, second)
    write(path, codec=codec, options=options, ticks=ticks, time_base=clock, numbers=range(n))
    if later_s:
        path = copy(path, path.with_stem(f"{name}-copied"), shift_s=later_s)
    return Clip(path, tuple(range(n)), tuple(tick / second for tick in ticks))


OWN: dict[str, Callable[[Path], Clip]] = {
    "ntsc-index-at-end": ntsc,
    "late-video": late_video,
    **{name: partial(uneven, name) for name in UNEVEN},
}


@dataclass(frozen=True, kw_only=True)
class Players:
    """The running server, and the clips that it shows by their names."""

    door: str
    clips: dict[str, Clip]

    @property
    def url(self) -> str:
        return self.door.partition("/enter")[0]


@pytest.fixture(scope="module")
def players(serve_script, tmp_path_factory) -> Players:
    folder = tmp_path_factory.mktemp("clips")
    clips = {
        name: (OWN.get(name) or MAKERS[name])(folder) for name in (*PLAYED, *PERHAPS_COPIED, *COPIED, *UNEVEN)
    }
    frames = folder / "frames"
    frames.mkdir()
    for number in range(30):
        Image.fromarray(picture(number)[:HEIGHT]).save(frames / f"{number:03}.png")
    named = [f"{name}=video={clip.path}" for name, clip in clips.items()]
    door = serve_script("serve_players.py", folder / "studio", *named, f"folder=frames={frames}")
    return Players(door=door, clips=clips)


@pytest.fixture(scope="module")
def session(browser, players):
    """One browser that came in by the printed address; its console stays quiet."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.new_page().goto(players.door)
    yield context
    context.close()


@pytest.fixture
def page(session):
    complaints: list[str] = []
    opened = session.new_page()
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.close()
    assert complaints == []


class Shown:
    """One player on a page."""

    def __init__(self, page, players: Players, *names: str, lanes: list[dict] | None = None) -> None:
        self.page, self.name = page, names[0]
        asked = [("name", name) for name in names]
        page.goto(
            f"{players.url}/players?{urlencode(asked + ([('lanes', json.dumps(lanes))] if lanes else []))}"
        )
        self.section = page.locator(f"#{names[0]}")
        self.is_at(0)

    def is_at(self, index: int) -> None:
        """Wait until the player says that this frame is painted."""
        expect(self.section).to_have_attribute("data-frame", str(index), timeout=20_000)

    def frame(self) -> int:
        return int(self.section.get_attribute("data-frame"))

    def painted(self) -> int:
        """The number in the picture that is painted."""
        return self.page.evaluate(READ, self.name)

    def go(self, index: int) -> None:
        box = self.section.get_by_role("textbox")
        box.fill(str(index))
        box.press("Enter")

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def paused(self) -> None:
        expect(self.section).to_have_attribute("data-state", "painted")


@pytest.mark.parametrize("name", [*PLAYED, *PERHAPS_COPIED, *COPIED])
def test_every_frame_that_is_said_is_the_one_painted(page, players, rng, name):
    numbers = players.clips[name].numbers
    shown = Shown(page, players, name)
    last = len(numbers) - 1
    status = shown.section.locator("p[role=status]")
    if name not in PERHAPS_COPIED:
        expect(status).to_have_text(re.compile("copy" if name in COPIED else "^$"))
    for index in [last, *rng.integers(0, last, 8).tolist()]:
        shown.go(index)
        shown.is_at(index)
        assert shown.painted() == numbers[index]
    here = shown.frame()
    for key, by in ((".", 1), (".", 1), (",", -1), ("Shift+>", 10), ("Shift+<", -10)):
        here = min(max(here + by, 0), last)
        shown.press(key)
        shown.is_at(here)
        assert shown.painted() == numbers[here]
    shown.go(0)
    shown.is_at(0)
    for _ in range(3):
        shown.press("k")
        before = shown.frame() if shown.section.get_attribute("data-frame") else -1
        page.wait_for_timeout(150)
        shown.press("k")
        shown.paused()
        page.wait_for_timeout(100)
        assert shown.painted() == numbers[shown.frame()]
        assert shown.frame() >= before


@pytest.mark.parametrize("name", UNEVEN)
def test_every_frame_around_a_keyframe_is_reached_from_everywhere(page, players, name):
    clip = players.clips[name]
    times_s, last = clip.times_s, len(clip.times_s) - 1
    packets = sorted((time, is_key) for _, _, time, is_key in packet_places(clip.path))
    keys = [index for index, (_, is_key) in enumerate(packets) if is_key]
    Shown(page, players, name)
    orders, wanted = [], []
    for index in sorted({key + by for key in keys for by in range(-2, 3)} & set(range(last + 1))):
        before, after = max(index - 1, 0), min(index + 1, last)
        middle_s = (times_s[index] + times_s[after]) / 2
        for order, frame in (
            (("go", 0), 0),
            (("go", index), index),
            (("go", last), last),
            (("time", f"{middle_s:.6f}s"), index),
            (("go", before), before),
            (("key", "."), before + 1),
            (("go", after), after),
            (("key", ","), after - 1),
        ):
            orders.append(order)
            wanted.append(frame)
    film = page.locator(f"#{name} video")
    address = film.get_attribute("src")
    seen = page.evaluate(ORDERS, [name, list(zip(orders, wanted, strict=True))])
    assert film.get_attribute("src") == address  # it needed no copy on the way
    late = [at for at, (*_, words) in enumerate(seen) if "not confirmed" in words]
    assert len(late) <= len(seen) // 100  # where a busy machine paints too late, and the player says so
    for at in late:
        (seen[at],) = page.evaluate(ORDERS, [name, [[("go", wanted[at]), wanted[at]]]])
    assert [entry for entry in zip(orders, wanted, seen, strict=True) if entry[2][:2] != [entry[1]] * 2] == []
    for frame, (*_, words) in zip(wanted, seen, strict=True):
        number, time_s = re.fullmatch(rf"frame (\d+) of {last + 1} · (\S+) s", words).groups()
        assert int(number) == frame
        assert float(time_s) == pytest.approx(times_s[frame], abs=0.0006)


def test_a_click_on_a_lane_is_an_exact_frame(page, players):
    sixteen = [(2 * i + 1) * 90 // 32 for i in range(16)]
    lanes = [
        {"name": "shown to X", "frames": [3, 17, 31, 88]},
        {"name": "evidence", "spans": [[0.5, 1.0]]},
        {"name": "shown to Y", "frames": sixteen},
    ]
    shown = Shown(page, players, "ntsc-index-at-end", lanes=lanes)
    first = shown.section.locator("svg.lane").nth(0)
    for index in (31, 3, 88, 17):
        box = first.bounding_box()
        x = index / 90 * box["width"]
        first.click(position={"x": x + 3, "y": 10})
        shown.is_at(index)
        assert shown.painted() == index
    third = shown.section.locator("svg.lane").nth(2)
    for index in reversed(sixteen):
        third.click(position={"x": index / 90 * third.bounding_box()["width"] + 1, "y": 10})
        shown.is_at(index)
        assert shown.painted() == index
    second = shown.section.locator("svg.lane").nth(1)
    second.click(position={"x": (50 + 0.5) / 90 * second.bounding_box()["width"], "y": 5})
    shown.is_at(50)
    assert shown.painted() == 50
    expect(first).to_have_attribute("aria-label", "shown to X: 4 frames")
    shown.section.get_by_role("button", name="Previous: shown to X").click()
    shown.is_at(31)
    shown.section.get_by_role("button", name="Next: shown to X").click()
    shown.is_at(88)
    shown.section.get_by_role("button", name="Previous: evidence").click()
    shown.is_at(14)  # 0.5 s is in frame 14
    first.hover(position={"x": 31 / 90 * first.bounding_box()["width"], "y": 10})
    expect(shown.section.locator("figure.preview figcaption")).to_have_text(
        re.compile("frame 31, .*shown to X")
    )
    expect(shown.section.locator("figure.preview img")).to_have_attribute("src", re.compile("/still/31.jpg"))


def test_marks_name_the_painted_frame_for_forms(page, players):
    shown = Shown(page, players, "vfr")
    times_s = players.clips["vfr"].times_s
    page.evaluate(
        """() => { window.said = [];
        for (const name of ["mark", "evidence", "evidence-kind"]) document.addEventListener(`vidence:${name}`,
          (event) => window.said.push([name, event.detail])); }"""
    )
    shown.press("e")
    shown.go(40)
    shown.is_at(40)
    shown.press("o")
    shown.go(20)
    shown.is_at(20)
    shown.press("i")
    shown.press("e")
    shown.press("p")
    place = [
        {"index": one, "pts": round(times_s[one] * 90000), "seconds": pytest.approx(times_s[one])}
        for one in (20, 40)
    ]
    media = shown.section.get_attribute("data-media")
    said = page.evaluate("() => window.said")
    assert said == [
        ["mark", {"kind": "end", **place[1], "media": media}],
        ["mark", {"kind": "start", **place[0], "media": media}],
        [
            "evidence",
            {"start": {**place[0], "media": media}, "end": {**place[1], "media": media}, "media": media},
        ],
        ["evidence-kind", {"media": media}],
    ]
    expect(shown.section.locator("span.marks")).to_have_text(re.compile(r"20 \(.* to 40 \("))


def test_the_marked_range_is_played_and_ends_on_its_last_frame(page, players):
    shown = Shown(page, players, "h264")
    for index, key in ((10, "i"), (16, "o")):
        shown.go(index)
        shown.is_at(index)
        shown.press(key)
    shown.press("r")
    expect(shown.section).to_have_attribute("data-state", "playing")
    shown.is_at(16)
    shown.paused()
    assert shown.painted() == 16
    loop = shown.section.get_by_role("button", name="Loop the marked range")
    loop.click()
    expect(loop).to_have_attribute("aria-pressed", "true")
    page.evaluate(
        """() => { window.seen = [];
        document.addEventListener("vidence:frame", (event) => window.seen.push(event.detail.index)); }"""
    )
    shown.press("r")
    page.wait_for_timeout(1500)
    shown.press("k")
    seen = page.evaluate("() => window.seen")
    assert any(after < before for before, after in pairwise(seen)), "it did not loop"
    assert min(seen) >= 10


def test_keys_move_the_player_and_stay_out_of_text_fields(page, players):
    shown = Shown(page, players, "h264")
    note = page.get_by_label("Note")
    note.click()
    page.keyboard.type("k.j,")
    assert note.input_value() == "k.j,"
    assert shown.frame() == 0
    shown.press("Alt+.")
    shown.is_at(1)
    assert note.input_value() == "k.j,"
    shown = Shown(page, players, "h264")
    shown.press("]")
    expect(shown.section.locator("span.speed")).to_have_text("1.25x")
    page.reload()
    expect(shown.section.locator("span.speed")).to_have_text("1.25x")
    shown.is_at(0)
    shown.press("[")
    expect(shown.section.locator("span.speed")).to_have_text("1x")
    shown.press("g")
    page.keyboard.type("1.95s")
    page.keyboard.press("Enter")
    shown.is_at(58)
    shown.press("l")
    shown.is_at(119)
    shown.press("j")
    shown.is_at(0)
    shown.press("g")
    page.keyboard.type("1.5")
    page.keyboard.press("Enter")
    expect(shown.section.locator("p[role=status]")).to_have_text(re.compile("Enter a frame"))


def test_no_frame_is_claimed_before_it_is_painted_and_a_copy_goes_on(page, players):
    shown = Shown(page, players, "h264")
    page.evaluate("""([read, id]) => { window.wrong = []; window.said = 0; }""", [READ, "h264"])
    page.evaluate(READ.replace("(id) => {", "() => { window.painted = (id) => {", 1) + "}")
    page.evaluate(
        """() => { const section = document.querySelector("#h264");
        new MutationObserver(() => { const said = section.dataset.frame;
          if (said === undefined) return;
          window.said += 1;
          if (window.painted("h264") !== Number(said)) window.wrong.push(said);
        }).observe(section, {attributes: true, attributeFilter: ["data-frame"]}); }"""
    )
    for index in (90, 10, 61, 12, 119, 1):
        shown.go(index)
        expect(shown.section.locator("span.readout")).to_have_text(re.compile(r"frame \d+"))
        shown.is_at(index)
    assert page.evaluate("() => [window.wrong, window.said >= 6]") == [[], True]
    shown = Shown(page, players, "h264")
    shown.go(33)
    shown.is_at(33)
    page.evaluate("() => document.querySelector('#h264 video').dispatchEvent(new Event('error'))")
    expect(shown.section.locator("p[role=status]")).to_have_text(
        re.compile("copy for browsers"), timeout=20_000
    )
    shown.go(77)
    shown.is_at(77)
    assert shown.painted() == 77


def test_a_browser_that_reports_no_painted_frame_is_not_believed(page, players):
    page.add_init_script("delete HTMLVideoElement.prototype.requestVideoFrameCallback")
    page.goto(f"{players.url}/players?name=mkv")
    section = page.locator("#mkv")
    words = section.locator("span.readout")
    expect(words).to_have_text("about frame 0: not confirmed by this browser", timeout=20_000)
    section.get_by_role("textbox").fill("40")
    section.get_by_role("textbox").press("Enter")
    expect(words).to_have_text("about frame 40: not confirmed by this browser")
    page.keyboard.press("k")
    page.wait_for_timeout(800)
    page.keyboard.press("k")
    page.wait_for_timeout(400)
    about = re.fullmatch(r"about frame (\d+): not confirmed by this browser", words.text_content())
    assert int(about[1]) == pytest.approx(page.evaluate(READ, "mkv"), abs=2)
    assert section.get_attribute("data-frame") is None
    page.keyboard.press("i")
    expect(section.locator("p[role=status]")).to_have_text(re.compile("No frame is on screen yet"))


def test_a_folder_of_frames_is_a_strip_with_a_large_picture(page, players):
    shown = Shown(page, players, "folder")
    image = shown.section.locator(".stage img")
    expect(image).to_have_attribute("alt", "frame 0")
    shown.press(".")
    shown.is_at(1)
    expect(image).to_have_attribute("src", re.compile(r"/still/1\.jpg\?size=native"))
    shown.section.get_by_role("button", name="Frame 15", exact=True).click()
    shown.is_at(15)
    shown.section.get_by_role("button", name="Zoom").click()
    expect(shown.section.locator(".stage")).to_have_class(re.compile("zoomed"))


@pytest.mark.parametrize("width", [400, 1400])
def test_players_are_whole_and_named_at_any_width(page, players, width):
    page.set_viewport_size({"width": width, "height": 900})
    shown = Shown(page, players, "h264", "vfr", "folder")
    for name in ("vfr", "folder"):
        expect(page.locator(f"#{name}")).to_have_attribute("data-frame", "0", timeout=20_000)
    found = Axe().run(page).response["violations"]
    assert [f"{one['id']}: {one['help']}" for one in found] == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    shown.press(".")
    shown.is_at(1)
    assert page.locator("#vfr").get_attribute("data-frame") == "0"
    page.locator("#vfr").get_by_role("button", name="One frame forward").click()
    expect(page.locator("#vfr")).to_have_attribute("data-frame", "1")
    shown.press(".")
    expect(page.locator("#vfr")).to_have_attribute("data-frame", "2")
    assert shown.frame() == 1
    if folder := os.environ.get("VIDENCE_SCREENS"):
        page.screenshot(path=f"{folder}/player-{width}.png", full_page=True)
