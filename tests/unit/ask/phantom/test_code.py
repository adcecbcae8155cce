"""Codes in pixels: the documented layout, what they survive, and that damage never reads as a piece."""

import io
import zlib

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from vidence.ask.phantom.code import Payload, draw, read, read_montage, strip
from vidence.ask.phantom.scene import Card, Scene
from vidence.errors import UsageError

PAYLOAD = Payload(world=40_001, piece=1_234, value=17)


def scenery(width_px: int = 320, height_px: int = 180, *, seed: int = 0) -> NDArray[np.uint8]:
    return Scene(width_px, height_px, rng=np.random.default_rng(seed)).frame(3.0, None)


def as_jpeg(image: NDArray[np.uint8], quality: int, *, width_px: int | None = None) -> NDArray[np.uint8]:
    picture = Image.fromarray(image)
    if width_px is not None:
        picture = picture.resize((width_px, round(width_px * picture.height / picture.width)))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file).convert("RGB"))


X265_QUIET = {"x265-params": "log-level=none"}


def encoded(frames: list[NDArray[np.uint8]], codec: str, *, crf: int) -> list[NDArray[np.uint8]]:
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        quiet = X265_QUIET if codec == "libx265" else {}
        options = {"crf": str(crf), "preset": "veryfast", **quiet}
        stream = container.add_stream(codec, rate=10, options=options)
        stream.height, stream.width, stream.pix_fmt = *frames[0].shape[:2], "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
    file.seek(0)
    with av.open(file) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def test_the_blocks_are_as_documented():
    fields = f"{0b101101:06b}{40_001:016b}{1_234:012b}{17:012b}"
    checksum = zlib.crc32(bytes([0, 0b101101, 40_001 >> 8, 40_001 & 255, 1_234 >> 8, 1_234 & 255, 0, 17]))
    bits = fields + f"{checksum:032b}"
    image = np.full((180, 320), 128, np.uint8)
    drawn = draw(image, PAYLOAD)
    for row in range(3):
        y = int((14.5 + row + 0.5) * 10)
        blocks = [int(drawn[y, column * 10 + 5] > 128) for column in range(32)]
        data = [int(bit) for bit in bits[row * 26 : (row + 1) * 26]]
        assert blocks == [0, 1, 0, *data, 0, 1, 0]
    assert np.array_equal(drawn[:140], image[:140])
    assert (drawn[140:145] < 128).all()
    assert (drawn[175:] < 128).all()


def test_drawing_leaves_the_image_as_it_was_and_a_changed_aspect_is_no_harm():
    image = scenery()
    before = image.copy()
    drawn = draw(image, PAYLOAD)
    assert np.array_equal(image, before)
    assert drawn.shape == image.shape
    assert read(drawn) == PAYLOAD
    drawn = Image.fromarray(draw(scenery(640, 360), PAYLOAD))
    for size in ((161, 90), (200, 113), (448, 252), (300, 180)):
        assert read(np.asarray(drawn.resize(size))) == PAYLOAD


@pytest.mark.parametrize("shape", [(90, 160), (180, 320), (251, 447), (270, 480), (320, 240), (360, 640)])
def test_it_reads_back_at_any_size_in_colour_and_grey(shape: tuple[int, int]):
    grey = draw(np.full(shape, 90, np.uint8), PAYLOAD)
    assert read(grey) == PAYLOAD
    assert read(np.repeat(grey[:, :, None], 3, axis=2)) == PAYLOAD


@pytest.mark.parametrize("codec", ["libx264", "libx265"])
def test_it_survives_two_generations_of_video_then_jpeg_and_downscaling(codec: str):
    """The worst case that is promised: crf 32 twice, then JPEG of quality 60 at 160 px."""
    scene = Scene(320, 180, rng=np.random.default_rng(1))
    cards = [
        Card(colour="red", payload=Payload(world=7, piece=i // 5, value=i // 5 + 1)) if i % 10 > 4 else None
        for i in range(30)
    ]
    frames = [scene.frame(i / 10, card) for i, card in enumerate(cards)]
    for _ in range(2):
        frames = encoded(frames, codec, crf=32)
    assert len(frames) == len(cards)
    for width_px in (320, 213, 160):
        found = [read(as_jpeg(frame, 60, width_px=width_px)) for frame in frames]
        assert found == [card and card.payload for card in cards]


@pytest.mark.parametrize("seed", range(8))
def test_scenery_without_a_code_reads_as_none(seed: int):
    assert read(scenery(seed=seed)) is None
    assert read(as_jpeg(scenery(seed=seed), 30)) is None


def test_flat_small_pale_or_cropped_images_read_as_none():
    for level in (0, 128, 255):
        assert read(np.full((180, 320, 3), level, np.uint8)) is None
    assert read(np.zeros((10, 10, 3), np.uint8)) is None
    assert read(np.zeros((17, 640), np.uint8)) is None
    drawn = draw(np.full((180, 320), 128, np.uint8), PAYLOAD)
    assert read((drawn * 0.1 + 100).astype(np.uint8)) is None
    drawn = draw(scenery(), PAYLOAD)
    assert read(drawn[:, :300]) is None
    assert read(drawn[:, ::-1]) is None
    assert read(drawn[::-1]) is None
    with pytest.raises(UsageError, match="width 159 px is too small"):
        strip(PAYLOAD, 159, height_px=90)


@pytest.mark.parametrize(
    ("field", "number"), [("world", 1 << 16), ("piece", 1 << 12), ("value", 1 << 12), ("value", -1)]
)
def test_numbers_that_do_not_fit_are_refused(field: str, number: int):
    with pytest.raises(UsageError, match=f"{field} {number} does not fit"):
        Payload(**{"world": 0, "piece": 0, "value": 0, field: number})


def cell(number: int) -> NDArray[np.uint8]:
    return draw(scenery(), Payload(world=1, piece=number, value=number))


@pytest.mark.parametrize(("columns", "rows"), [(1, 2), (2, 2), (4, 2), (3, 3), (4, 4)])
def test_a_montage_is_read_cell_by_cell(columns: int, rows: int):
    picture = np.vstack([np.hstack([cell(r * columns + c) for c in range(columns)]) for r in range(rows)])
    found = read_montage(as_jpeg(picture, 60), columns * rows)
    assert [code.piece for code in found] == list(range(columns * rows))


def test_empty_cells_and_scenery_add_nothing():
    empty = np.zeros_like(cell(0))
    picture = np.vstack([np.hstack([cell(3), scenery(), cell(5)]), np.hstack([cell(1), empty, empty])])
    assert [code.piece for code in read_montage(picture, 4)] == [3, 5, 1]
    assert read_montage(np.zeros((360, 640, 3), np.uint8), 4) == ()
