"""Gzip files: what they hold, where they are cut off, and how much they may hold."""

import gzip

import pytest

from vidence.errors import DataError
from vidence.media.gzipped import unpacked

HELLO = gzip.compress(b"hello", mtime=0)


def test_all_members_are_unpacked():
    assert unpacked(HELLO, "a.gz") == b"hello"
    assert unpacked(HELLO + HELLO, "a.gz") == b"hellohello"
    assert unpacked(HELLO + bytes(100), "a.gz") == b"hello"  # padded, as tapes do


@pytest.mark.parametrize("data", [HELLO[:-3], HELLO[:5], HELLO + b"more", b"hello", HELLO[:12] + b"\xff\xff"])
def test_a_damaged_file_is_named(data):
    with pytest.raises(DataError, match=r"^a\.gz cannot be unpacked \(.*\); copy or download it again"):
        unpacked(data, "a.gz")


def test_no_more_is_unpacked_than_allowed_in_one_member_or_in_many():
    assert unpacked(HELLO * 4, "a.gz", most_bytes=20) == b"hello" * 4
    for data in (HELLO * 5, gzip.compress(bytes(10**6))):
        with pytest.raises(DataError, match=r"a\.gz unpacks to more than .* MB; .* give the plain file"):
            unpacked(data, "a.gz", most_bytes=20)
