"""The pictures of the studio: each screen wide and narrow, small, and told on a page."""

import re
from pathlib import Path

from PIL import Image

STUDIO = Path(__file__).parents[2] / "docs" / "studio"
MOST_BYTES, MOST_BYTES_IN_ALL = 120_000, 4_000_000


def test_every_screen_has_a_wide_and_a_narrow_picture_that_a_page_shows():
    there = {one.name: one for one in (STUDIO / "pictures").glob("*.png")}
    wide = {name for name in there if not name.endswith("-400.png")}
    assert {name.replace(".png", "-400.png") for name in wide} == set(there) - wide
    for name, path in there.items():
        with Image.open(path) as image:
            assert image.width == (1400 if name in wide else 400), name
        assert path.stat().st_size <= MOST_BYTES, name
    assert sum(one.stat().st_size for one in there.values()) <= MOST_BYTES_IN_ALL
    pages = "".join(one.read_text(encoding="utf-8") for one in sorted(STUDIO.glob("*.md")))
    assert set(re.findall(r"\(pictures/([\w-]+\.png)\)", pages)) == set(there)
