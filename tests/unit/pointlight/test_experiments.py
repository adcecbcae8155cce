"""What PsychoPy and jsPsych are handed: the script runs by its interface, the page in a browser elsewhere."""

import json
import runpy
import sys
import types
from pathlib import Path

import pytest

from vidence.pointlight.dots import dots_of
from vidence.pointlight.experiments import write_player
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import spec_of
from vidence.pointlight.stimulus import Stimulus, make_stimulus


def shown(**settings: str) -> Stimulus:
    given = {"fps": "30", "screen_px_per_cm": "40", "screen_distance_cm": "57", "dropout": "0.2"} | settings
    return make_stimulus(staged(["walker:walk?duration_s=0.4"]), spec_of(given))


class Screen:
    """A screen of 60 refreshes per second that PsychoPy would show, and what was drawn on it."""

    def __init__(self, *, hz: float = 60.0, late_at: int = -1, escape_at: int = -1) -> None:
        self.hz, self.late_at, self.escape_at = hz, late_at, escape_at
        self.flips: list[tuple[list[tuple[float, float]], list[float], list[float]]] = []
        self.windows: list[dict[str, object]] = []
        self.now_s, self.is_closed = 100.0, False
        screen = self

        class Window:
            def __init__(self, **given: object) -> None:
                screen.windows.append(given)

            def getActualFrameRate(self) -> float:
                return screen.hz

            def flip(self) -> float:
                screen.now_s += 1 / screen.hz + (0.05 if len(screen.flips) == screen.late_at else 0.0)
                if screen.drawn is not None:
                    screen.flips.append(screen.drawn)
                screen.drawn = None
                return screen.now_s

            def close(self) -> None:
                screen.is_closed = True

        class ElementArrayStim:
            def __init__(self, win: object, **given: object) -> None:
                self.given = given
                screen.group = given

            def draw(self) -> None:
                screen.drawn = (self.xys, self.sizes, self.opacities)

        self.drawn = None
        self.visual = types.SimpleNamespace(Window=Window, ElementArrayStim=ElementArrayStim)
        clock = types.SimpleNamespace(reset=lambda: None)
        self.core = types.SimpleNamespace(Clock=lambda: clock)
        self.event = types.SimpleNamespace(getKeys=self.keys)

    def keys(self, timeStamped: object) -> list[tuple[str, float]]:
        return [("escape", self.now_s)] if len(self.flips) >= self.escape_at > 0 else []


def played(folder: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    monkeypatch.setitem(sys.modules, "psychopy", types.SimpleNamespace(
        core=screen.core, event=screen.event, visual=screen.visual))  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["play.py", "--log", str(folder / "log.csv"), *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(folder / "play.py"), run_name="__main__")
    assert ended.value.code == 0, ended.value.code
    return (folder / "log.csv").read_text().splitlines()


def test_the_script_holds_each_frame_for_whole_refreshes(tmp_path, monkeypatch):
    made, screen = shown(), Screen()
    write_player("psychopy", made, tmp_path)
    log = played(tmp_path, screen, monkeypatch)
    told = dots_of(made)
    assert len(screen.flips) == 2 * made.n_frames
    assert len(log) == 1 + made.n_frames
    assert all(line.endswith(",0") for line in log[1:])
    for number, frame in enumerate(told.frames):
        for xys, sizes, opacities in screen.flips[2 * number : 2 * number + 2]:
            assert opacities == [1.0 if ok else 0.0 for ok in frame.visible]
            seen = [(x, y) for x, y, ok in zip(frame.x_px, frame.y_px, frame.visible, strict=True) if ok]
            assert [at for at, shown_at in zip(xys, opacities, strict=True) if shown_at] == seen
            assert sizes == [2 * radius for radius in frame.radius_px]
    assert screen.windows[0]["color"] == [0] * 3
    assert screen.is_closed
    assert screen.group["nElements"] == 13
    assert screen.group["elementMask"] == "circle"


def test_late_frames_and_escape_stand_in_the_log(tmp_path, monkeypatch):
    write_player("psychopy", shown(), tmp_path)
    log = played(tmp_path, Screen(late_at=6, escape_at=10), monkeypatch)
    assert [line.rsplit(",", 1)[1] for line in log[1:]] == ["0", "0", "0", "1", "1"]


def test_another_screen_keeps_visual_angles(tmp_path, monkeypatch):
    made, screen = shown(), Screen()
    write_player("psychopy", made, tmp_path)
    played(tmp_path, screen, monkeypatch, "--screen-px-per-cm", "80", "--screen-distance-cm", "57")
    assert screen.flips[0][1] == pytest.approx([4 * made.radii_px[0, 0]] * 13)


def test_a_screen_that_does_not_fit_shows_nothing(tmp_path, monkeypatch):
    write_player("psychopy", shown(), tmp_path)
    screen = Screen(hz=50.0)
    with pytest.raises(AssertionError, match="no whole number of refreshes"):
        played(tmp_path, screen, monkeypatch)
    assert screen.flips == []
    assert screen.is_closed


def test_the_page_has_its_dots_and_asks_nobody(tmp_path):
    made = shown()
    write_player("jspsych", made, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"index.html", "point-light.js", "trial.js", "dots.js"}
    text = (tmp_path / "dots.js").read_text()
    told = text.removeprefix("window.videnceDots = ").removesuffix(";\n")
    assert len(json.loads(told)["frames"]) == made.n_frames
    assert not any("://" in p.read_text() for p in tmp_path.glob("*.*"))
