"""Where evidence and frames stand on the line of a question."""

import xml.etree.ElementTree as ET

import pytest

from vidence.records import Evidence, FrameRef, Item, Media, Selection
from vidence.report.timeline import MOST_TICKS, Lane, lanes, timeline


def item(*evidence, **media):
    settings = {"path": "v.mp4", **media}
    return Item(item_id="q", question="?", answer="A", media=(Media(**settings),), evidence=evidence)


def selection(*times_s):
    frames = tuple(FrameRef(frame_index=i, time_s=time) for i, time in enumerate(times_s))
    return Selection(selector="s", version=1, frames=frames, n_candidates=9)


def by_class(drawing, name):
    root = ET.fromstring(drawing.svg)  # noqa: S314 - our own drawing
    return [e for e in root.iter() if e.get("class") == name]


def texts(drawing):
    root = ET.fromstring(drawing.svg)  # noqa: S314 - our own drawing
    return [e.text for e in root.iter("text")]


def test_frames_and_evidence_stand_where_their_times_say():
    drawing = timeline(item(Evidence(start_s=5.0, end_s=7.5)), [Lane(name="one", times_s=(0.0, 5.0, 10.0))])
    (span,) = by_class(drawing, "span")
    assert (span.get("x"), span.get("width")) == ("50.000%", "25.000%")
    assert [e.get("x1") for e in by_class(drawing, "shot")] == ["0.000%", "50.000%", "100.000%"]
    assert "1 of 3 in the evidence" in texts(drawing)
    assert "5.0 to 7.5 s" in texts(drawing)
    assert texts(drawing)[-1] == "10.0 s"
    assert [words for _, words in drawing.legend] == ["evidence", "a frame that was shown"]


def test_a_cut_of_a_video_has_its_own_ends():
    drawing = timeline(item(Evidence(start_s=15.0), start_s=10.0, end_s=20.0), [])
    (span,) = by_class(drawing, "span")
    assert (span.get("x"), span.get("width")) == ("50.000%", "50.000%")


def test_runs_that_showed_the_same_frames_share_a_line():
    found = lanes([("a", selection(2, 1)), ("b", selection(1, 2)), ("c", selection(1)), ("d", None)])
    assert found == [Lane(name="a, b", times_s=(1, 2)), Lane(name="c", times_s=(1,))]
    assert lanes([("a long name of a run", selection(1)), ("another name", selection(1))])[0].name == "2 runs"
    assert lanes([("", selection(1)), ("", selection(1))]) == [Lane(name="frames shown", times_s=(1,))]


def test_very_many_frames_are_thinned():
    drawing = timeline(item(), [Lane(name="all", times_s=tuple(range(1000)))])
    assert len(by_class(drawing, "shot")) <= MOST_TICKS
    assert "1,000 frames" in texts(drawing)


@pytest.mark.parametrize(
    ("about", "found"),
    [
        (item(), []),
        (item(), [Lane(name="one", times_s=(0.0,))]),
        (item(kind="image"), [Lane(name="one", times_s=(0.0, 1.0))]),
        (item(Evidence(frames=(3, 4))), []),
        (Item(item_id="q", question="?", answer="A"), [Lane(name="one", times_s=(0.0, 1.0))]),
        (
            Item(item_id="q", question="?", answer="A", media=(Media(path="a"), Media(path="b"))),
            [Lane(name="one", times_s=(0.0, 1.0))],
        ),
    ],
)
def test_without_times_on_one_axis_there_is_nothing_to_draw(about, found):
    assert timeline(about, found) is None


def test_evidence_beyond_the_frames_is_drawn_and_stays_inside():
    drawing = timeline(item(Evidence(start_s=-3.0, end_s=40.0)), [Lane(name="one", times_s=(1.0, 2.0))])
    (span,) = by_class(drawing, "span")
    assert (span.get("x"), span.get("width")) == ("0.000%", "100.000%")


@pytest.mark.parametrize("hostile", ["<script>x</script>", '" onload="x', "a \x00 b"])
def test_names_are_words_never_markup(hostile):
    drawing = timeline(item(), [Lane(name=hostile, times_s=(0.0, 1.0))])
    root = ET.fromstring(drawing.svg)  # noqa: S314 - our own drawing
    assert {e.tag for e in root.iter()} <= {"svg", "text", "rect", "line"}
    assert not any(name.startswith("on") for e in root.iter() for name in e.attrib)
