import base64

import pytest
from PIL import Image

from vidence.records import Answered, FrameRef, Media, Prompt, Selection, TextPart, Trial, VideoPart
from vidence.report.questions import ContactSheets, error_of, how_read, prompt_text, shown_words
from vidence.report.results import Row, load_run, with_prompts


def row(runs, position):
    trial = runs.trials[position]
    return Row(item=runs.items[position], trial=trial, score=trial.score)


def test_how_an_answer_was_read_names_rule_parser_and_score(runs):
    assert how_read(row(runs, 0)) == "Read 'A' by the rule 'answer-line' of robust, version 1; score 1."
    assert how_read(row(runs, 2)) == "Not read by robust, version 1: no letter; score 0."
    assert how_read(row(runs, 4)) == "Refused: policy; score 0."
    assert how_read(row(runs, 5)) == "Failed in the stage 'media'; score 0."
    assert how_read(row(runs, 6)).endswith("; not scored yet.")
    trial = runs.marked(runs.items[6], Answered(answer="a long answer " * 5))
    said = how_read(Row(item=runs.items[6], trial=trial, score=trial.score))
    assert said.startswith("The reply is taken as the answer by needs-judge, version 1")
    assert error_of(row(runs, 5)) == "MediaError: v3.mp4: cannot be read"
    assert error_of(row(runs, 0)) == ""


def test_the_prompt_says_where_the_images_stood(runs):
    assert prompt_text(runs.trials[0].prompt) == (
        "[system] Be brief.\n\nLook at these frames.\n[4 images]\nAnswer with a letter."
    )
    video = Prompt(parts=(VideoPart(path="v.mp4", digest="0" * 64), TextPart(text="What?")))
    assert prompt_text(video) == "[the video]\nWhat?"
    assert prompt_text(None) == ""


def test_what_was_shown_is_said_with_its_times(runs):
    assert shown_words(runs.trials[0]) == "4 frames of 40 by midpoints, at 0.00, 0.40, 0.80, 1.20 s."
    assert shown_words(runs.trials[5]) == "No frames were shown."
    video = Prompt(parts=(VideoPart(path="v.mp4", digest="0" * 64),))
    trial = Trial(item_id="q1", prompt=video, score=runs.trials[0].score)
    assert shown_words(trial) == "The whole video was sent."


@pytest.fixture
def pictured(runs, tmp_path):
    """Two questions about the same two images, one about another, one about an image that is gone."""
    root = tmp_path / "media"
    root.mkdir()
    for name, colour in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
        Image.new("RGB", (64, 48), colour).save(root / f"{name}.png")

    def item(item_id, *names):
        media = tuple(Media(path=f"{name}.png", kind="image") for name in names)
        return runs.question(item_id, "-", "A", media=media)

    def trial(item):
        frames = tuple(FrameRef(media_index=i, frame_index=0, time_s=0.0) for i in range(len(item.media)))
        selection = Selection(selector="all", version=1, frames=frames, n_candidates=len(frames))
        return runs.marked(item, Answered(answer="A"), reply=runs.said("A"), selection=selection)

    items = [item("p1", "red", "blue"), item("p2", "red", "blue"), item("p3", "blue"), item("p4", "gone")]
    return runs.load(items=items, trials=[trial(i) for i in items]), root


def test_frames_are_pictured_once_for_all_questions_that_share_them(
    pictured, page_of, stays_at_home, tmp_path
):
    run, root = pictured
    text, page = page_of(run, media_root=root, cache_root=tmp_path / "cache")
    stays_at_home(text, page)
    images = page.all("image")
    assert len(images) == 2
    used = [attrs["href"] for attrs in page.all("use")]
    # Each question has its frames twice: in its place, and large behind a link.
    assert used == [f"#{images[i]['id']}" for i in (0, 0, 0, 0, 1, 1)]
    ids = {attrs.get("id") for attrs in page.all("a")}
    opened = [attrs["href"][1:] for attrs in page.all("a") if attrs.get("class") == "open"]
    assert len(opened) == 3
    assert set(opened) <= ids
    assert any("gone.png is not there" in note for note in page.text_of("p", class_="note"))
    jpeg = base64.b64decode(images[0]["href"].split(",")[1])
    (tmp_path / "sheet.jpg").write_bytes(jpeg)
    with Image.open(tmp_path / "sheet.jpg") as sheet:
        assert sheet.size == (int(images[0]["width"]), int(images[0]["height"])) == (132, 48)
        red, blue = sheet.getpixel((50, 40)), sheet.getpixel((120, 40))
    assert red[0] > 200
    assert red[2] < 60
    assert blue[2] > 200
    assert blue[0] < 60


def test_pictures_stop_at_their_budget(pictured, page_of, monkeypatch):
    run, root = pictured
    monkeypatch.setattr("vidence.report.page.PICTURES_BYTES", 1)
    _, page = page_of(run, media_root=root)
    assert len(page.all("image")) == 1
    assert any("to keep this page small" in note for note in page.text_of("p", class_="note"))


def test_the_folder_of_the_run_comes_before_the_one_given(pictured, page_of, runs, tmp_path):
    run, root = pictured
    rows = {"items": [r.item for r in run.rows], "trials": [r.trial for r in run.rows]}
    for name, own, given in (("own", root, tmp_path / "elsewhere"), ("moved", tmp_path / "gone", root)):
        loaded = runs.load(name, **rows, facts={"media_root": str(own)})
        _, page = page_of(loaded, media_root=given)
        assert len(page.all("image")) == 2


def test_sixteen_of_many_frames_are_pictured_with_the_first_and_the_last(runs, page_of, tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    for i in range(40):
        Image.new("RGB", (32, 24), (i * 6, 0, 0)).save(folder / f"{i:03d}.png")
    item = runs.question("p", "-", "A", media=(Media(path="frames", kind="frames"),))
    frames = tuple(FrameRef(frame_index=i, time_s=float(i)) for i in range(40))
    every = Selection(selector="all", version=1, frames=frames, n_candidates=40)
    trial = runs.marked(item, Answered(answer="A"), reply=runs.said("A"), selection=every)
    _, page = page_of(runs.load(items=[item], trials=[trial]), media_root=tmp_path)
    assert any("16 of the 40 are pictured." in note for note in page.text_of("p", class_="note"))
    (image,) = page.all("image")
    assert (image["width"], image["height"]) == (str(4 * 36 - 4), str(4 * 28 - 4))
    # A damaged picture is said, and breaks nothing.
    whole = (folder / "001.png").read_bytes()
    (folder / "001.png").write_bytes(whole[: len(whole) // 2])
    two = Selection(selector="all", version=1, frames=frames[:2], n_candidates=2)
    trial = runs.marked(item, Answered(answer="A"), reply=runs.said("A"), selection=two)
    _, page = page_of(runs.load("damaged", items=[item], trials=[trial]), media_root=tmp_path)
    (note,) = [n for n in page.text_of("p", class_="note") if "cannot be pictured" in n]
    assert "001.png" in note
    assert page.all("image") == []


@pytest.mark.parametrize(("n_sheets", "side_px"), [(1, 360), (30, 360), (60, 220), (200, 120), (5000, 120)])
def test_fewer_pictures_are_larger(n_sheets, side_px):
    sheets = ContactSheets(cache_root=None, media_root=None, budget_bytes=8_000_000)
    sheets.make_room(n_sheets)
    assert sheets.thumb_px == side_px


def test_a_page_of_brief_rows_has_what_was_sent(runs):
    folder = runs.write("r")
    whole, brief = load_run(folder), load_run(folder, are_brief=True)
    assert whole.rows[0].trial.prompt.parts
    assert not any(prompt_text(row.trial.prompt) for row in brief.rows)
    assert [row.trial for row in with_prompts(brief, brief.rows)] == [row.trial for row in whole.rows]
    assert with_prompts(whole, whole.rows) is whole.rows
