"""Which formats are opened, which are refused by name, and how large a picture may be."""

import io
from pathlib import Path

import pytest
from PIL import Image

from vidence.errors import MediaError
from vidence.media.accepted import IMAGE_FORMATS, MOST_PIXELS, open_image
from videos.hostile import huge_png


@pytest.mark.parametrize("name", IMAGE_FORMATS)
def test_these_formats_are_opened_from_files_and_from_bytes(name: str, tmp_path: Path) -> None:
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
def test_another_format_is_refused_by_its_name(content: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    with pytest.raises(MediaError, match=rf"a\.jpg: is {name}, which is not opened; expected JPEG, PNG"):
        open_image(path)
    with pytest.raises(MediaError, match=rf"the data \({len(content)} bytes\): is {name}, which is not"):
        open_image(content)


def test_a_format_that_nobody_knows_and_one_that_pillow_alone_knows() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (6, 4)).save(buffer, "PPM")
    for content in (b"hello", buffer.getvalue()):
        with pytest.raises(MediaError, match="is no image that can be read"):
            open_image(content)


def test_a_picture_has_a_bound_also_where_pillow_has_none(monkeypatch, tmp_path: Path) -> None:
    side = int(MOST_PIXELS**0.5) + 1
    path = tmp_path / "a.png"
    path.write_bytes(huge_png(side))
    with pytest.raises(MediaError, match=r"too large \(\d+ pixels\); expected at most 178,956,970 pixels"):
        open_image(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    with pytest.raises(MediaError, match=rf"a\.png: its picture is too large \({side} x {side}\)"):
        open_image(path)
