import base64

import pytest
from PIL import Image

from vidence.records import Answered, FrameRef, Media, Selection


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
    assert used == [f"#{images[0]['id']}", f"#{images[0]['id']}", f"#{images[1]['id']}"]
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
    own = runs.load(
        "own",
        items=[r.item for r in run.rows],
        trials=[r.trial for r in run.rows],
        facts={"media_root": str(root)},
    )
    _, page = page_of(own, media_root=tmp_path / "elsewhere")
    assert len(page.all("image")) == 2
    moved = runs.load(
        "moved",
        items=[r.item for r in run.rows],
        trials=[r.trial for r in run.rows],
        facts={"media_root": str(tmp_path / "gone")},
    )
    _, page = page_of(moved, media_root=root)
    assert len(page.all("image")) == 2


def test_sixteen_of_many_frames_are_pictured_with_the_first_and_the_last(runs, page_of, tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    for i in range(40):
        Image.new("RGB", (32, 24), (i * 6, 0, 0)).save(folder / f"{i:03d}.png")
    item = runs.question("p", "-", "A", media=(Media(path="frames", kind="frames"),))
    frames = tuple(FrameRef(frame_index=i, time_s=float(i)) for i in range(40))
    trial = runs.marked(
        item,
        Answered(answer="A"),
        reply=runs.said("A"),
        selection=Selection(selector="all", version=1, frames=frames, n_candidates=40),
    )
    _, page = page_of(runs.load(items=[item], trials=[trial]), media_root=tmp_path)
    assert any("16 of the 40 are pictured." in note for note in page.text_of("p", class_="note"))
    (image,) = page.all("image")
    assert (image["width"], image["height"]) == (str(4 * 36 - 4), str(4 * 28 - 4))


def test_a_damaged_picture_is_said_and_breaks_nothing(runs, page_of, tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    Image.new("RGB", (32, 24)).save(folder / "000.png")
    Image.new("RGB", (32, 24)).save(folder / "001.png")
    whole = (folder / "001.png").read_bytes()
    (folder / "001.png").write_bytes(whole[: len(whole) // 2])
    item = runs.question("p", "-", "A", media=(Media(path="frames", kind="frames"),))
    frames = tuple(FrameRef(frame_index=i, time_s=float(i)) for i in range(2))
    trial = runs.marked(
        item,
        Answered(answer="A"),
        reply=runs.said("A"),
        selection=Selection(selector="all", version=1, frames=frames, n_candidates=2),
    )
    _, page = page_of(runs.load(items=[item], trials=[trial]), media_root=tmp_path)
    (note,) = [n for n in page.text_of("p", class_="note") if "cannot be pictured" in n]
    assert "001.png" in note
    assert page.all("image") == []
