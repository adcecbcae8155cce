"""What PsychoPy and jsPsych are handed: the script runs by its interface, the page in a browser elsewhere."""

import json
import runpy
import sys
import types

import pytest

from vidence.pointlight.drawing import frames
from vidence.pointlight.experiments import dots_of, write_player
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import spec_of
from vidence.pointlight.stimulus import make_stimulus


def shown():
    """A walk with two noise dots; the head is hidden in some frames."""
    (figure,) = staged(["walker:walk?duration_s=0.4"])
    figure.is_valid[8:16, figure.index("head")] = False
    return make_stimulus([figure], spec_of({"width_px": "128", "height_px": "96", "n_noise": "2"}))


def test_places_are_those_of_the_pictures():
    made = shown()
    told = dots_of(made)
    assert [dot.joint for dot in told.dots] == [*made.names[:13], "", ""]
    assert [dot.figure for dot in told.dots] == [0] * 13 + [-1] * 2
    for number, picture in enumerate(frames(made)):
        frame = told.frames[number]
        for dot, is_seen in enumerate(frame.visible):
            if is_seen:
                x, y = 64 + frame.x_px[dot], 48 - frame.y_px[dot]
                assert picture[int(y), int(x)].min() > 200
            else:
                assert frame.x_px[dot] is frame.y_px[dot] is None
    assert [frame.visible[0] for frame in told.frames].count(False) == 4


class Screen:
    """A screen of 60 refreshes per second that PsychoPy would show, and what was drawn on it."""

    def __init__(self, *, hz=60.0, late_at=-1, escape_at=-1):
        self.hz, self.late_at, self.escape_at = hz, late_at, escape_at
        self.flips: list[tuple[list[tuple[float, float]], list[float]]] = []
        self.windows: list[dict[str, object]] = []
        self.now_s, self.is_closed = 100.0, False
        screen = self

        class Window:
            def __init__(self, **given):
                screen.windows.append(given)

            def getActualFrameRate(self):
                return screen.hz

            def flip(self):
                screen.now_s += 1 / screen.hz + (0.05 if len(screen.flips) == screen.late_at else 0.0)
                if screen.drawn is not None:
                    screen.flips.append(screen.drawn)
                screen.drawn = None
                return screen.now_s

            def close(self):
                screen.is_closed = True

        class ElementArrayStim:
            def __init__(self, win, **given):
                self.given = given
                screen.group = given

            def draw(self):
                screen.drawn = (self.xys, self.opacities)

        self.drawn = None
        self.visual = types.SimpleNamespace(Window=Window, ElementArrayStim=ElementArrayStim)
        clock = types.SimpleNamespace(reset=lambda: None)
        self.core = types.SimpleNamespace(Clock=lambda: clock)
        self.event = types.SimpleNamespace(getKeys=self.keys)

    def keys(self, timeStamped):
        return [("escape", self.now_s)] if len(self.flips) >= self.escape_at > 0 else []


def played(folder, screen, monkeypatch, *words):
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
        for xys, opacities in screen.flips[2 * number : 2 * number + 2]:
            assert opacities == [1.0 if ok else 0.0 for ok in frame.visible]
            seen = [(x, y) for x, y, ok in zip(frame.x_px, frame.y_px, frame.visible, strict=True) if ok]
            assert [at for at, shown_at in zip(xys, opacities, strict=True) if shown_at] == seen
    assert screen.windows[0]["color"] == [0] * 3
    assert screen.is_closed
    assert screen.group["nElements"] == 15
    assert screen.group["sizes"] == [2 * told.radius_px] * 15
    assert screen.group["elementMask"] == "circle"


def test_a_screen_that_does_not_fit_shows_nothing(tmp_path, monkeypatch):
    write_player("psychopy", shown(), tmp_path)
    screen = Screen(hz=50.0)
    with pytest.raises(AssertionError, match="no whole number of refreshes"):
        played(tmp_path, screen, monkeypatch)
    assert screen.flips == []
    assert screen.is_closed
    log = played(tmp_path, Screen(late_at=6, escape_at=10), monkeypatch)  # late frames and Escape
    assert [line.rsplit(",", 1)[1] for line in log[1:]] == ["0", "0", "0", "1", "1"]


def test_the_page_has_its_dots_and_asks_nobody(tmp_path):
    made = shown()
    write_player("jspsych", made, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"index.html", "point-light.js", "trial.js", "dots.js"}
    text = (tmp_path / "dots.js").read_text()
    told = text.removeprefix("window.videnceDots = ").removesuffix(";\n")
    assert len(json.loads(told)["frames"]) == made.n_frames
    assert not any("://" in p.read_text() for p in tmp_path.glob("*.*"))
