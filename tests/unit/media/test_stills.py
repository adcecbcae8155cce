"""Images and folders of images as media."""

import numpy as np
import pytest
from PIL import Image

from vidence.errors import MediaError
from vidence.media.encode import Size
from vidence.media.files import cached_facts, read_facts
from vidence.media.video import FrameProblem, open_video
from videos.stamped import HEIGHT, WIDTH, cut_off, read_number


def stamped(number):
    """A grey picture with a number, RGB."""
    image = np.full((HEIGHT, WIDTH, 3), 120, np.uint8)
    for bit in range(12):
        image[:16, bit * 16 : bit * 16 + 16] = 235 if (number >> (11 - bit)) & 1 else 16
    return image


def save(path, number, **options):
    Image.fromarray(stamped(number)).save(path, **options)
    return path


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "bmp"])
def test_an_image_is_a_medium_with_one_frame(suffix, tmp_path):
    video = open_video(save(tmp_path / f"a.{suffix}", 1234), kind="image")
    assert video.n_frames == 1
    assert video.times_s.tolist() == [0.0]
    assert (video.probe.width_px, video.probe.height_px) == (WIDTH, HEIGHT)
    assert (video.probe.counted.fps, video.probe.counted.duration_s) == (0.0, 0.0)
    (image,) = video.frames([0])
    assert image.shape == (HEIGHT, WIDTH, 3)
    assert read_number(image) == 1234


# What each EXIF orientation does to the upright picture before it is stored.
_STORED_AS = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, 1),
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: np.rot90(a, -1),
}


@pytest.mark.parametrize("orientation", _STORED_AS)
def test_exif_orientation_is_honoured(orientation, tmp_path):
    upright = stamped(99)
    upright[60:, :40] = (200, 30, 30)
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "turned.png"
    Image.fromarray(np.ascontiguousarray(_STORED_AS[orientation](upright))).save(path, exif=exif)
    video = open_video(path, kind="image")
    assert (video.probe.width_px, video.probe.height_px) == (WIDTH, HEIGHT)
    assert video.probe.rotation_deg == {3: 180, 4: 180, 5: 270, 6: 90, 7: 90, 8: 270}.get(orientation, 0)
    np.testing.assert_array_equal(video.frames([0])[0], upright)
    (small,) = video.frames([0], size=Size.parse("short:54"))
    assert small.shape == (54, 96, 3)
    assert read_number(small) == 99


def test_what_is_transparent_is_white(tmp_path):
    rgba = np.zeros((20, 20, 4), np.uint8)
    rgba[:10, :, 3] = 255
    rgba[10:15, :, 3] = 102
    path = tmp_path / "a.png"
    Image.fromarray(rgba).save(path)
    (image,) = open_video(path, kind="image").frames([0])
    assert image[:10].max() == 0
    assert set(image[10:15].ravel()) == {153}  # 40 % black on white
    assert image[15:].min() == 255


def test_grey_of_sixteen_bits_is_scaled_not_clipped(tmp_path):
    path = tmp_path / "a.png"
    Image.fromarray(np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)).save(path)
    (image,) = open_video(path, kind="image").frames([0])
    np.testing.assert_array_equal(image[..., 0].ravel(), np.arange(256))


def test_a_folder_is_a_video_of_one_image_per_second_in_natural_order(tmp_path):
    for number in (1, 2, 10, 9, 100):
        save(tmp_path / f"frame_{number}.png", number)
    save(tmp_path / ".hidden.png", 5)
    (tmp_path / "notes.txt").write_text("not a frame")
    video = open_video(tmp_path, kind="frames")
    assert video.times_s.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert video.probe.counted.fps == 1.0
    assert [read_number(image) for image in video.frames(range(5))] == [1, 2, 9, 10, 100]


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_a_damaged_image_in_a_folder_is_a_problem_of_that_frame(suffix, tmp_path):
    for number in range(4):
        save(tmp_path / f"{number}.{suffix}", number)
    cut_off(tmp_path / f"2.{suffix}", tmp_path / f"2.{suffix}", share=0.6)
    first, _, bad, last = open_video(tmp_path, kind="frames").frames(range(4))
    assert (read_number(first), read_number(last)) == (0, 3)
    assert isinstance(bad, FrameProblem)
    assert "frame 2" in bad.message
    assert f"2.{suffix}" in bad.message


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "bmp", "gif", "tif"])
@pytest.mark.parametrize("share", [0.05, 0.6])
def test_an_image_cut_off_anywhere_gives_an_error_that_names_it(suffix, share, tmp_path):
    path = save(tmp_path / f"whole.{suffix}", 1234)
    cut_off(path, tmp_path / f"cut.{suffix}", share=share)
    try:
        (image,) = open_video(tmp_path / f"cut.{suffix}", kind="image").frames([0])
    except MediaError as error:
        message = str(error)
    else:
        assert isinstance(image, FrameProblem)
        message = image.message
    assert f"cut.{suffix}" in message


@pytest.mark.parametrize(
    ("name", "content", "kind", "reason"),
    [
        ("a.png", None, "image", "there is no such file"),
        ("a.png", b"", "image", "is empty (0 bytes)"),
        ("a.png", b"hello", "image", "is not a readable image"),
        ("gone", None, "frames", "no such folder"),
        (".", None, "frames", "holds no image"),
        ("file", b"hello", "frames", "is a file; the kind 'frames' takes a folder"),
    ],
)
def test_errors_name_the_file(name, content, kind, reason, tmp_path):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MediaError) as found:
        open_video(path, kind=kind)
    assert str(path) in str(found.value)
    assert reason in str(found.value)


def test_the_hash_of_a_folder_follows_its_images(tmp_path):
    folder, cache = tmp_path / "frames", tmp_path / "cache"
    folder.mkdir()
    for number in range(3):
        save(folder / f"{number}.png", number)
    before = read_facts(folder, kind="frames", cache_root=cache)
    assert cached_facts(folder, kind="frames", cache_root=cache).content_hash == before.content_hash
    save(folder / "1.png", 500)
    assert cached_facts(folder, kind="frames", cache_root=cache) is None
    assert read_facts(folder, kind="frames", cache_root=cache).content_hash != before.content_hash


def test_a_folder_that_changes_behind_an_open_video_is_an_error(tmp_path):
    save(tmp_path / "0.png", 0)
    video = open_video(tmp_path, kind="frames")
    save(tmp_path / "1.png", 1)
    with pytest.raises(MediaError, match="had 1 images and now has 2"):
        video.frames([0])
