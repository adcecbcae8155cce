"""Addresses of media: which texts are some, what is refused, and what is shown of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from vidence.errors import UsageError
from vidence.media.address import Address, is_address, place, redacted


def test_a_text_is_a_path_unless_it_is_an_address():
    assert place("videos/a.mp4") == Path("videos/a.mp4")
    assert place("hf:owner/name") == Path("hf:owner/name")  # fetched data, of another module
    assert place("C:/a.mp4") == Path("C:/a.mp4")
    for text in ("s3://b/a.mp4", "gs://b/a.mp4", "hf://datasets/o/n/a.mp4", "https://h.example:8443/a.mp4"):
        assert place(text) == Address(text)
        assert is_address(text)
    assert place("S3://Bucket/A.mp4/") == Address("s3://Bucket/A.mp4")


def test_an_address_is_used_like_a_path():
    folder = place("s3://lab/videos/")
    assert str(folder / "day 1/a.MP4") == "s3://lab/videos/day 1/a.MP4"
    video = folder / "day/a.tar.mp4"
    assert (video.name, video.suffix) == ("a.tar.mp4", ".mp4")
    assert isinstance(video, Address)
    assert video.parent == folder / "day"
    assert video.resolve() == video == video.absolute()
    assert sorted([Address("s3://b"), Address("s3://a")])[0] == Address("s3://a")
    web = place("https://h.example/a.mp4?id=3&keyframe=1")
    assert (web.name, str(web).endswith("?id=3&keyframe=1")) == ("a.mp4", True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ftp://h.example/a.mp4", "cannot be read from ftp"),
        ("file:///etc/passwd", "cannot be read from file"),
        ("s3://", "is not a valid address"),
        ("https:///a.mp4", "is not a valid address"),
        ("https://h.example:x/a.mp4", "is not a valid address"),
        ("s3://b/a\nb.mp4", "is not a valid address"),
        ("s3://b/../c.mp4", "contains '..'"),
    ],
)
def test_what_cannot_be_read_is_refused(text, said):
    with pytest.raises(UsageError, match=said):
        place(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://me:hush-hush@h.example/a.mp4",
        "s3://hush-hush:key@bucket/a.mp4",
        "https://h.example/a.mp4?X-Amz-Signature=hush-hush&X-Amz-Expires=3600",
        "https://h.example/a.mp4?id=3&token=hush-hush",
        "https://h.example/a.mp4?sv=2020&sig=hush-hush",
        "https://h.example/a.mp4?Expires=1&Signature=hush-hush&Key-Pair-Id=K",
        "https://h.example/a.mp4?api_key=hush-hush",
        "ftp://me:hush-hush@h.example/a.mp4?token=hush-hush",
    ],
)
def test_secrets_are_refused_and_not_shown(text):
    with pytest.raises(UsageError) as caught:
        place(text)
    assert "hush" not in str(caught.value)


def test_what_drivers_say_is_shown_without_queries_and_users():
    said = "403, url='https://u:p@cdn.example/x?X-Amz-Signature=1f2e' and s3://b/k?versionId=1"
    assert redacted(said) == "403, url='https://cdn.example/x?[not shown]' and s3://b/k?[not shown]"
    assert redacted("no address: a@b.c?") == "no address: a@b.c?"
    assert redacted("hf://datasets/o/n@main/a.mp4") == "hf://datasets/o/n@main/a.mp4"


def test_importing_brings_no_driver():
    code = (
        "import sys, vidence.engine.prepare, vidence.media.files, vidence.media.remote\n"
        "print([m for m in ('fsspec', 'aiohttp', 's3fs', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
