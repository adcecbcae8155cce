"""Limits on the size of frames."""

import pytest

from vidence.errors import UsageError
from vidence.media.sizes import Size


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
def test_sizes_limit_and_never_enlarge(text: str, given: tuple[int, int], expected: tuple[int, int]) -> None:
    size = Size.parse(text)
    assert size.fit(*given) == expected
    assert str(size) == text


@pytest.mark.parametrize("text", ["", "720", "short", "short:", "short:0", "short:-4", "wide:3", "native:3"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="say native, short:PIXELS"):
        Size.parse(text)


def test_a_size_that_contradicts_itself_is_refused() -> None:
    for kind, pixels in (("native", 5), ("short", 0), ("long", -1)):
        with pytest.raises(UsageError):
            Size(kind=kind, pixels=pixels)
