"""The table of what requests for parts of a file get, and what no request may do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.studio.rules.ranges import MOST_BYTES, Beyond, ByteRange, Whole, holds, is_known, wanted_bytes

SIZE = 96_117


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-", (0, SIZE - 1)),
        ("bytes=0-1", (0, 1)),
        ("bytes=100-199", (100, 199)),
        ("bytes=-500", (SIZE - 500, SIZE - 1)),
        ("bytes=-999999999", (0, SIZE - 1)),
        ("bytes=96000-999999", (96_000, SIZE - 1)),
        ("BYTES= 5-6 ", (5, 6)),
        (f"bytes={SIZE - 1}-", (SIZE - 1, SIZE - 1)),
    ],
)
def test_one_range_is_a_part(header, expected):
    assert wanted_bytes(header, size=SIZE) == ByteRange(first=expected[0], last=expected[1], size=SIZE)


@pytest.mark.parametrize("header", [f"bytes={SIZE}-", "bytes=999999999-", "bytes=9-3", "bytes=-0"])
def test_a_range_without_a_byte_is_refused_with_the_size(header):
    found = wanted_bytes(header, size=SIZE)
    assert found == Beyond(size=SIZE)
    assert found.content_range == f"bytes */{SIZE}"


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes=a-b",
        "bytes=-",
        "bytes=--5",
        "bytes=-5-",
        "bytes 0-1",
        "lines=0-5",
        "bytes=0-1,5-9",
        "bytes=0-1,0-1,0-1",
        "bytes=+1-5",
        "bytes=\u0663-\u0664",
        "bytes=0-1\n",
        f"bytes={'9' * 5000}-",
        f"bytes=0-{'9' * 5000}",
        f"bytes=-{'9' * 5000}",
    ],
)
def test_what_is_no_single_range_gets_the_whole_file(header):
    assert wanted_bytes(header, size=SIZE) == Whole(size=SIZE)


def test_another_edition_is_sent_whole_and_a_known_one_not_again():
    tag, changed = '"1-2"', "Mon, 01 Jan 2026 00:00:00 GMT"
    assert holds(None, etag=tag, changed=changed)
    assert holds(tag, etag=tag, changed=changed)
    assert holds(changed, etag=tag, changed=changed)
    for other in ('"1-3"', 'W/"1-2"', "Mon, 01 Jan 2025 00:00:00 GMT", "", "*"):
        assert not holds(other, etag=tag, changed=changed)
    assert is_known('"a"', etag='"a"')
    assert is_known("*", etag='"a"')
    assert is_known('W/"b", W/"a"', etag='"a"')
    assert not is_known('"b"', etag='"a"')
    assert not is_known(None, etag='"a"')
    found = wanted_bytes("bytes=10-", size=1 << 40)
    assert found == ByteRange(first=10, last=10 + MOST_BYTES - 1, size=1 << 40)
    assert MOST_BYTES == 2 * 1024 * 1024


@pytest.mark.parametrize("header", ["bytes=0-", "bytes=0-0", "bytes=-1"])
def test_an_empty_file_has_no_part(header):
    assert wanted_bytes(header, size=0) == Beyond(size=0)


@given(
    st.text(max_size=60) | st.from_regex(r"bytes=\d{0,25}-\d{0,25}", fullmatch=True), st.integers(0, 1 << 50)
)
def test_no_header_breaks_it_and_parts_lie_inside(header, size):
    found = wanted_bytes(header, size=size)
    if isinstance(found, ByteRange):
        assert 0 <= found.first <= found.last < size
        assert found.n_bytes <= MOST_BYTES
