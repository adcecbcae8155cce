"""Encoded frames and montages."""

import hashlib
import io
import re

import numpy as np
import pytest
from PIL import Image

from vidence.errors import MediaError, UsageError
from vidence.media.encode import (
    IMAGE_FORMATS,
    MOST_PIXELS,
    Encoding,
    Size,
    decode_image,
    encode,
    montage,
    open_image,
)
from videos.hostile import huge_png

_PNG = Encoding(size=Size(), format="png")
_JPEG = Encoding(size=Size(), format="jpeg")


def noise(height, width, seed=0):
    smooth = np.random.default_rng(seed).integers(0, 255, (height // 4 + 1, width // 4 + 1, 3), np.uint8)
    return smooth.repeat(4, axis=0).repeat(4, axis=1)[:height, :width].copy()


def test_png_gives_back_the_same_pixels():
    image = noise(37, 53)
    frame = encode(image, _PNG)
    assert (frame.width_px, frame.height_px, frame.media_type) == (53, 37, "image/png")
    np.testing.assert_array_equal(decode_image(frame.data), image)


def test_jpeg_is_what_its_options_say():
    image = noise(64, 96)[..., :1].repeat(3, axis=2)
    frame = encode(image, _JPEG)
    assert frame.media_type == "image/jpeg"
    assert frame.digest == hashlib.sha256(frame.data).hexdigest()
    with Image.open(io.BytesIO(frame.data)) as picture:
        assert picture.size == (96, 64)
        assert [layer[1:3] for layer in picture.layer] == [(2, 2), (1, 1), (1, 1)]  # 4:2:0
    assert np.abs(decode_image(frame.data).astype(int) - image).mean() < 6
    assert len(encode(image, Encoding(size=Size(), quality=40)).data) < len(frame.data)


def test_the_key_tells_encodings_apart_and_is_safe_for_files():
    sizes = [Size(), Size.parse("short:720"), Size.parse("long:720"), Size.parse("short:72")]
    formats = [("jpeg", 5), ("jpeg", 85), ("png", 85)]
    keys = [Encoding(size=size, format=f, quality=q).key for size in sizes for f, q in formats]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[a-z0-9-]{1,64}", key) for key in keys)
    assert all("area" in key for key in keys)
    for quality in (0, 96, -1):
        with pytest.raises(UsageError, match=f"JPEG quality {quality}; expected 1 to 95"):
            Encoding(size=Size(), quality=quality)


def test_bytes_that_are_no_image_are_an_error():
    whole = encode(noise(64, 64), _JPEG).data
    buffer = io.BytesIO()
    Image.new("RGB", (6, 4)).save(buffer, "PPM")  # which Pillow alone knows
    with pytest.raises(MediaError, match="is not a readable image"):
        open_image(buffer.getvalue())
    for data in (b"", b"hello", whole[: len(whole) // 2]):
        with pytest.raises(MediaError, match=rf"the data \({len(data)} bytes\): "):
            decode_image(data)


def test_a_montage_is_filled_row_by_row_and_black_where_empty():
    images = [np.full((10, 16, 3), 40 * (i + 1), np.uint8) for i in range(5)]
    whole = montage([encode(i, _PNG) for i in images], columns=3, rows=2, encoding=_PNG)
    pixels = decode_image(whole.data)
    assert pixels.shape == (20, 48, 3)
    cells = pixels.reshape(2, 10, 3, 16, 3).transpose(0, 2, 1, 3, 4).reshape(6, 10, 16, 3)
    assert [int(cell.max()) for cell in cells] == [40, 80, 120, 160, 200, 0]
    assert [int(cell.min()) for cell in cells] == [40, 80, 120, 160, 200, 0]
    # Cells are equal, and smaller frames sit in the middle.
    large, small = (encode(np.full((*size, 3), 255, np.uint8), _PNG) for size in ((20, 20), (10, 4)))
    pixels = decode_image(montage([large, small], columns=2, rows=1, encoding=_PNG).data)
    assert pixels.shape == (20, 40, 3)
    assert pixels[:, 20:].any(axis=2).sum() == 40
    assert pixels[5:15, 28:32].min() == 255


@pytest.mark.parametrize(("n", "columns", "rows"), [(0, 2, 2), (5, 2, 2), (1, 0, 2)])
def test_a_montage_that_does_not_fit_is_refused(n, columns, rows):
    with pytest.raises(UsageError, match=f"{columns}x{rows} cannot hold {n} frames"):
        montage([encode(noise(8, 8), _PNG)] * n, columns=columns, rows=rows, encoding=_PNG)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("native", (1921, 1081), (1921, 1081)),
        ("short:720", (1920, 1080), (1280, 720)),
        ("short:720", (1080, 1920), (720, 1280)),
        ("short:720", (640, 360), (640, 360)),
        ("short:448", (1366, 768), (797, 448)),
        ("long:448", (1920, 1080), (448, 252)),
        ("long:448", (1080, 1920), (252, 448)),
        ("long:448", (448, 100), (448, 100)),
        ("long:10", (10000, 3), (10, 1)),
    ],
)
def test_sizes_limit_and_never_enlarge(text, given, expected):
    size = Size.parse(text)
    assert size.fit(*given) == expected
    assert str(size) == text


@pytest.mark.parametrize("text", ["", "720", "short", "short:", "short:0", "short:-4", "wide:3", "native:3"])
def test_other_words_are_refused(text):
    with pytest.raises(UsageError, match="use native, short:PIXELS"):
        Size.parse(text)
    for kind, pixels in (("native", 5), ("short", 0), ("long", -1)):
        with pytest.raises(UsageError):
            Size(kind=kind, pixels=pixels)


@pytest.mark.parametrize("name", IMAGE_FORMATS)
def test_these_formats_are_opened_from_files_and_from_bytes(name, tmp_path):
    buffer = io.BytesIO()
    Image.new("RGB", (6, 4)).save(buffer, name)
    path = tmp_path / "a.bin"  # what it holds counts, not its name
    path.write_bytes(buffer.getvalue())
    for source in (path, buffer.getvalue()):
        with open_image(source) as picture:
            assert (picture.format, picture.size) == (name, (6, 4))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "PostScript"),
        (b"\xc5\xd0\xd3\xc6" + bytes(40), r"PostScript \(EPS\)"),
        (b"%PDF-1.4\n", "PDF"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
        (b"\0\0\0\x1cftypavif" + bytes(40), "AVIF"),
        (b"\0\0\0\x1cftypheic" + bytes(40), "HEIC"),
    ],
)
def test_another_format_is_refused_by_its_name(content, name, tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    with pytest.raises(MediaError, match=rf"a\.jpg: {name} is unsupported; convert it to JPEG, PNG"):
        open_image(path)
    with pytest.raises(MediaError, match=rf"the data \({len(content)} bytes\): {name} is unsupported"):
        open_image(content)


def test_a_picture_has_a_bound_also_where_pillow_has_none(monkeypatch, tmp_path):
    side = int(MOST_PIXELS**0.5) + 1
    path = tmp_path / "a.png"
    path.write_bytes(huge_png(side))
    with pytest.raises(MediaError, match=r"too large \(\d+ pixels\); expected at most 178,956,970 pixels"):
        open_image(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    with pytest.raises(MediaError, match=rf"a\.png: the picture is too large \({side} x {side}\)"):
        open_image(path)
