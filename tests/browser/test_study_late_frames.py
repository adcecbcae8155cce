"""R-33: the canvas on a busy machine. Every frame that came late is logged, and the trial is marked."""

import msgspec
import pytest

from subjects.light_study import lights
from vidence.media.lights import light_player
from vidence.study.dots import dots_script
from vidence.study.study import Phase, PlannedTrial, Response, Study

# What was drawn when, seen from outside of the player: each refresh, and the frame that was drawn in it.
WATCH = """
window.drawn = [];
const request = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (step) => request((now) => { window.now = now; step(now); });
const draw = CanvasRenderingContext2D.prototype.arc;
CanvasRenderingContext2D.prototype.arc = function (x, ...rest) {
  window.drawn.push([window.now, Math.round(x - 32)]);
  return draw.call(this, x, ...rest);
};
window.load = (ms, every) => setInterval(() => {
  const until = performance.now() + ms;
  while (performance.now() < until);
}, every);
"""


@pytest.fixture
def film(page):
    """A canvas with a button in an empty page; each frame has its number as the place of its dot."""

    def start(fps: float, n_frames: int, load: tuple[int, int] | None):
        page.goto("about:blank")
        page.set_content("<main><div id=film></div></main>")
        for script in (WATCH, light_player().decode(), dots_script().decode()):
            page.add_script_tag(content=script)
        dots = msgspec.to_builtins(lights(0, fps=fps, n_frames=n_frames))
        page.evaluate("(dots) => { window.seen = videnceStudyDots.mount(film, dots); }", dots)
        if load:
            page.evaluate("([ms, every]) => { window.busy = window.load(ms, every); }", load)
        page.get_by_role("button", name="Play").click()
        page.wait_for_function("seen.n_plays === 1 && !seen.isPlaying", timeout=60_000)
        page.evaluate("clearInterval(window.busy)")
        return page.evaluate("({ drawn, seen })")

    return start


def late_by_watching(drawn, fps, n_frames):
    """The numbers of the frames that missed the refresh after they were due, or were never drawn."""
    begun = drawn[0][0]
    at = {number: now - begun for now, number in drawn}
    due = {number: 1000 * number / fps for number in range(n_frames)}
    return [n for n in range(n_frames) if n not in at or at[n] - due[n] > 1000 / 60 + 3.3]


@pytest.mark.parametrize(
    ("fps", "load"),
    [(60.0, None), (30.0, (75, 170)), (59.94, (75, 170)), (60.0, (75, 170)), (59.94, (120, 300))],
)
def test_every_late_frame_is_logged_at_any_rate(film, fps, load):
    n_frames = int(2 * fps)
    found = film(fps, n_frames, load)
    late = found["seen"]["late"]
    assert [frame for _, frame, _ in late] == late_by_watching(found["drawn"], fps, n_frames)
    assert {play for play, _, _ in late} <= {1}
    assert all(ms >= 1000 / max(60, fps) - 1 for _, _, ms in late)
    if load:
        assert len(late) > 3
    shown = [number for _, number in found["drawn"]]
    assert shown == sorted(set(shown))  # never one twice, never back
    trial = PlannedTrial(place=0, phase="lights", item_id="i", condition="dots")
    response = Response(participant="P01", trial=trial, late_frames=len(late))
    limited = Study(phases=(Phase(name="lights", condition="dots", most_late=3),))
    assert limited.failed(response) is (len(late) > 3)
