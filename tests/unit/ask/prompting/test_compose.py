"""Order and content of the parts of a prompt."""

from pathlib import Path

import numpy as np
import pytest

from vidence.ask.prompting.compose import Layout, Prompter, ShownFrame
from vidence.ask.prompting.templates import Templates
from vidence.errors import UsageError
from vidence.media.encode import EncodedFrame, Encoding, Size, decode_image, encode
from vidence.media.subtitles import Line
from vidence.records import ImagePart, Item, Media, Subtitling, TextPart, VideoPart

CHOICE = Item(item_id="q", question="What is it?", choices=("cat", "dog"), answer="A")
OPEN = Item(item_id="q", question="What is it?", answer="cat", answer_kind="text")


def frame(grey: int) -> EncodedFrame:
    picture = np.full((8, 16, 3), grey, np.uint8)
    return encode(picture, Encoding(size=Size.parse("native"), format="png"))


def frames(n: int) -> list[ShownFrame]:
    return [ShownFrame(frame=frame(10 * i), time_s=0.5 * i) for i in range(n)]


def prompter(layout: str = "images", *, style: str = "direct", frame_times: bool = False) -> Prompter:
    return Prompter(Templates.load("plain"), style=style, layout=layout, frame_times=frame_times)


def test_frames_come_first_then_the_words() -> None:
    shown = frames(3)
    prompted = prompter().prompt(CHOICE, shown, duration_s=2.0)
    *pictures, words = prompted.prompt.parts
    assert [p.digest for p in pictures if isinstance(p, ImagePart)] == [s.frame.digest for s in shown]
    assert [p.frames for p in pictures if isinstance(p, ImagePart)] == [(0,), (1,), (2,)]
    assert isinstance(words, TextPart)
    assert "What is it?" in words.text
    assert "3 frames" in words.text
    first = pictures[0]
    assert isinstance(first, ImagePart)
    assert (first.width_px, first.height_px, first.media_type) == (16, 8, "image/png")
    assert prompted.images == {s.frame.digest: s.frame.data for s in shown}


def test_the_prompt_keeps_choices_and_template() -> None:
    templates = Templates.load("plain")
    prompt = prompter(style="cot").prompt(CHOICE, (), duration_s=0.0).prompt
    assert prompt.choices == ("cat", "dog")
    assert prompt.system == ""
    assert prompt.template == templates.label("choice-cot")
    prompt = prompter().prompt(OPEN, (), duration_s=0.0).prompt
    assert prompt.template.startswith("plain/open-direct.txt ")
    assert prompt.choices == ()
    prompt = prompter().prompt(CHOICE, frames(1), duration_s=1.0, more="forced").prompt
    assert [type(part) for part in prompt.parts] == [ImagePart, TextPart, TextPart]
    assert prompt.parts[2] == TextPart(text=Templates.load("plain").say("forced", {}))


def test_frame_times_stand_before_each_frame_and_the_same_is_held_once() -> None:
    parts = prompter(frame_times=True).prompt(CHOICE, frames(2), duration_s=1.0).prompt.parts
    assert [type(p) for p in parts] == [TextPart, ImagePart, TextPart, ImagePart, TextPart]
    assert [p.text for p in parts[:4:2] if isinstance(p, TextPart)] == ["Frame 1, 0.0 s:", "Frame 2, 0.5 s:"]
    shown = [ShownFrame(frame=frame(7), time_s=t) for t in (0.0, 1.0)]
    prompted = prompter().prompt(CHOICE, shown, duration_s=1.0)
    assert [type(p) for p in prompted.prompt.parts] == [ImagePart, ImagePart, TextPart]
    assert list(prompted.images) == [shown[0].frame.digest]


@pytest.mark.parametrize("layout", ["images", "montage:4x2", "video"])
def test_without_frames_there_are_only_words(layout: str) -> None:
    prompted = prompter(layout, frame_times=True).prompt(CHOICE, (), duration_s=0.0)
    assert [type(p) for p in prompted.prompt.parts] == [TextPart]
    assert prompted.images == {}


def test_a_montage_holds_the_frames_row_by_row() -> None:
    prompted = prompter("montage:2x2").prompt(CHOICE, frames(5), duration_s=2.5)
    first, second, words = prompted.prompt.parts
    assert isinstance(first, ImagePart)
    assert isinstance(second, ImagePart)
    assert isinstance(words, TextPart)
    assert (first.frames, second.frames) == ((0, 1, 2, 3), (4,))
    assert (first.width_px, first.height_px, first.media_type) == (32, 16, "image/jpeg")
    assert set(prompted.images) == {first.digest, second.digest}
    assert "5 frames" in words.text
    pixels = decode_image(prompted.images[first.digest])
    centres = pixels[[4, 4, 12, 12], [8, 24, 8, 24]].mean(axis=1)
    np.testing.assert_allclose(centres, [0, 10, 20, 30], atol=4)


def test_a_montage_with_times_lists_them_before_the_picture() -> None:
    parts = prompter("montage:2x1", frame_times=True).prompt(CHOICE, frames(3), duration_s=1.5).prompt.parts
    assert [type(p).__name__[0] for p in parts] == list("TTITIT")
    assert [p.text for p in parts if isinstance(p, TextPart)][2] == "Frame 3, 1.0 s:"


def test_the_quality_of_montages_can_be_set() -> None:
    sizes = {}
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (64, 64, 3), np.uint8)
    shown = [ShownFrame(frame=encode(noise, Encoding(size=Size.parse("native"), format="png")), time_s=0.0)]
    for quality in (30, 95):
        made = Prompter(
            Templates.load("plain"),
            style="cot",
            layout="montage:1x1",
            frame_times=False,
            jpeg_quality=quality,
        ).prompt(CHOICE, shown, duration_s=1.0)
        sizes[quality] = len(next(iter(made.images.values())))
    assert sizes[30] < sizes[95]


def test_a_whole_video_stands_in_place_of_frames_where_it_is_asked_for() -> None:
    video = VideoPart(path="a.mp4", digest="0" * 64)
    prompted = prompter("video", frame_times=True).prompt(CHOICE, frames(2), duration_s=1.0, video=video)
    assert prompted.prompt.parts[0] == video
    assert [type(p) for p in prompted.prompt.parts] == [VideoPart, TextPart]
    assert prompted.images == {}
    assert "frame" not in prompted.prompt.text
    with pytest.raises(UsageError, match="'q' has no video file"):
        prompter("video").prompt(CHOICE, frames(1), duration_s=1.0)
    video = VideoPart(path="a.mp4", digest="0" * 64)
    parts = prompter().prompt(CHOICE, frames(1), duration_s=1.0, video=video).prompt.parts
    assert [type(p) for p in parts] == [ImagePart, TextPart]


@pytest.mark.parametrize("name", ["choice-cot", "choice-direct"])
def test_the_words_of_actpld_say_that_a_montage_is_a_grid(name: str) -> None:
    said = {}
    for layout in ("images", "montage:4x2"):
        made = Prompter(Templates.load("actpld"), style=name[7:], layout=layout, frame_times=False)
        said[layout] = made.prompt(CHOICE, frames(8), duration_s=1.0).prompt.parts[-1].text
    assert said["images"].startswith("You see 8 moments of a clip, in order of time.\n")
    assert "in order of time, row by row in a grid of 4 columns and 2 rows.\n" in said["montage:4x2"]


def own_words(folder: Path, **files: str) -> Templates:
    for name, text in files.items():
        (folder / f"{name.replace('_', '-')}.txt").write_text(text)
    return Templates.load("plain", override=folder)


def made_of(templates: Templates, style: str = "direct") -> Prompter:
    return Prompter(templates, style=style, layout="images", frame_times=False)


@pytest.mark.parametrize("name", ["choice_direct", "open_direct"])
def test_words_that_never_show_the_question_are_refused(tmp_path: Path, name: str) -> None:
    templates = own_words(tmp_path, **{name: "{{ choices }} Answer: X"})
    expected = (
        rf"{name.replace('_', '-')}\.txt does not use \{{\{{ question .*no model would see the question"
    )
    with pytest.raises(UsageError, match=expected + r".*\{% set left_out = question %\}"):
        made_of(templates)
    made_of(templates, style="cot")  # whose words are others


def test_the_question_may_stand_in_the_system_message_or_be_left_out(tmp_path: Path) -> None:
    templates = own_words(tmp_path, choice_direct="{{ letters|join }}?", system="{{ question }}")
    prompt = made_of(templates).prompt(CHOICE, (), duration_s=0.0).prompt
    assert (prompt.system, prompt.text) == ("What is it?", "AB?")
    words = "{% set left_out = question %}{{ choices[0].text }} or {{ choices[1].text }}?"
    prompt = made_of(own_words(tmp_path, choice_direct=words)).prompt(CHOICE, (), duration_s=0.0).prompt
    assert prompt.text == "cat or dog?"
    (tmp_path / "system.txt").write_text("You see {{ n_frames }} frames.")
    words = Templates.load("plain", override=tmp_path)
    made = Prompter(words, style="direct", layout="images", frame_times=False)
    assert made.prompt(CHOICE, frames(2), duration_s=1.0).prompt.system == "You see 2 frames."


def test_words_without_the_choices_are_noted(tmp_path: Path) -> None:
    prompter = made_of(own_words(tmp_path, choice_direct="{{ question }} Answer: X"))
    (note,) = prompter.notes([OPEN, CHOICE])
    assert "choice-direct.txt does not use {{ choices }}, so that no model would see the choices" in note
    assert prompter.notes([OPEN]) == ()
    assert made_of(Templates.load("plain")).notes([CHOICE]) == ()


@pytest.mark.parametrize("text", ["", "image", "montage", "montage:0x2", "montage:4x", "montage:4*2"])
def test_unknown_layouts(text: str) -> None:
    with pytest.raises(UsageError, match="expected images, video or montage"):
        Layout.parse(text)


def test_layouts_and_styles() -> None:
    assert Layout.parse("images") == Layout(kind="images")
    assert Layout.parse("video") == Layout(kind="video")
    assert Layout.parse("montage:10x3") == Layout(kind="montage", columns=10, rows=3)
    with pytest.raises(UsageError, match="no style 'cott'; expected direct or cot"):
        prompter(style="cott")


def own(folder: Path, words: str) -> Prompter:
    (folder / "choice-direct.txt").write_text(words)
    templates = Templates.load("humanpcr", override=folder)
    return Prompter(templates, style="direct", layout="images", frame_times=False)


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("{{ question }} Below are the frames.\n{{ frames }}\n", [TextPart, ImagePart, ImagePart]),
        ("Here: {{ frames }} {{ question }}", [TextPart, ImagePart, ImagePart, TextPart]),
        ("{{ question }}", [ImagePart, ImagePart, TextPart]),
    ],
)
def test_a_template_places_the_frames(tmp_path: Path, words: str, kinds: list[type]) -> None:
    prompt = own(tmp_path, words).prompt(CHOICE, frames(2), duration_s=1.0).prompt
    assert [type(part) for part in prompt.parts] == kinds
    assert "\0" not in prompt.text
    assert "What is it?" in prompt.text


def test_frames_twice_or_in_the_system_message_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"own/choice-direct.txt shows {{ frames }} 2 times"):
        own(tmp_path, "{{ frames }} {{ question }} {{ frames }}").prompt(CHOICE, (), duration_s=0.0)
    (tmp_path / "system.txt").write_text("{{ frames }}")
    with pytest.raises(UsageError, match="there is no variable 'frames'"):
        Templates.load("humanpcr", override=tmp_path)


@pytest.mark.parametrize(
    ("kinds", "said"), [(["video"], "video"), (["image"], "image"), (["image", "image"], "multiple images")]
)
def test_the_modality_is_that_of_the_question(tmp_path: Path, kinds: list[str], said: str) -> None:
    media = tuple(Media(path=f"{i}.x", kind=kind) for i, kind in enumerate(kinds))  # type: ignore[arg-type]
    item = Item(item_id="q", question="What?", choices=("cat", "dog"), answer="A", media=media)
    prompt = own(tmp_path, "Given the {{ modality }}: {{ question }}").prompt(item, (), duration_s=0.0).prompt
    assert prompt.text == f"Given the {said}: What?"


LINES = (
    Line(start_s=0.0, end_s=0.4, text="Hello."),
    Line(start_s=0.9, end_s=1.0, text="The cat sits."),
    Line(start_s=30.0, end_s=31.0, text="The end."),
)


def said(subtitles: Subtitling, layout: str = "images") -> list[str]:
    """The parts of a prompt with three frames, at 0, .5 and 1 s; pictures as a sign."""
    asks = Prompter(
        Templates.load("plain"), style="direct", layout=layout, frame_times=False, subtitles=subtitles
    )
    parts = asks.prompt(CHOICE, frames(3), duration_s=40.0, lines=LINES).prompt.parts
    return [part.text if isinstance(part, TextPart) else "*" for part in parts]


def test_subtitles_of_the_shown_frames_stand_between_frames_and_question() -> None:
    *pictures, lines, question = said("shown")
    assert pictures == ["*", "*", "*"]
    assert lines == "What is said at the moments shown:\nHello.\nThe cat sits."
    assert "What is it?" in question
    assert said("shown", "montage:2x2")[:2] == ["*", lines]


def test_subtitles_among_the_frames_stand_before_the_first_later_one() -> None:
    assert said("interleaved")[:-1] == ["*", "Hello.", "*", "The cat sits.", "*"]


def test_all_subtitles_are_shown_or_none() -> None:
    assert said("all")[3] == "What is said in the video:\nHello.\nThe cat sits.\nThe end."
    assert said("none")[:-1] == ["*", "*", "*"]
    no_lines = Prompter(
        Templates.load("plain"), style="direct", layout="images", frame_times=False, subtitles="all"
    ).prompt(CHOICE, frames(1), duration_s=1.0)
    assert len(no_lines.prompt.parts) == 2
    with pytest.raises(UsageError, match="expected none, all, shown or interleaved"):
        said("paper")
