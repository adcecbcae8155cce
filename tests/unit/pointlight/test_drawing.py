"""From dots to pictures and files: discs, sheets, videos, sidecars."""

import av
import msgspec
import numpy as np
import pytest
from av.video.reformatter import ColorRange, Colorspace
from PIL import Image

from vidence.errors import DataError, UsageError
from vidence.media.video import open_video
from vidence.media.written import write_video
from vidence.pointlight.drawing import contact_sheet, evenly, frames
from vidence.pointlight.figures import Staging, staged
from vidence.pointlight.motion import Motion
from vidence.pointlight.specs import StimulusSpec, spec_of
from vidence.pointlight.stimulus import make_stimulus
from vidence.pointlight.writing import motion_digest, numbered_pictures, passed, read_sidecar, remake, sidecar


def walking(n_frames=12):
    """Two points, one that stands and one that moves along x."""
    places = np.zeros((n_frames, 2, 3))
    places[:, 1, 0] = np.linspace(0.5, 1.5, n_frames)
    places[:, 1, 1] = 1.0
    return Motion(
        positions_m=places, is_valid=np.ones((n_frames, 2), bool), names=("left_hip", "head"), fps=24.0
    )


def spec(**overrides):
    return StimulusSpec(**{"width_px": 96, "height_px": 64, "fps": None, "dot_radius_px": 3.0} | overrides)


def kept_of(made):
    staging = Staging(sources=("walking",))
    return sidecar(made, [walking()], passed(frames(made)), vidence="1", staging=staging)


def test_a_disc_covers_its_area_around_its_centre():
    made = make_stimulus([walking()], spec(dot_radius_px=6.0))
    picture = next(frames(made))[..., 0].astype(float) / 255
    assert picture.sum() == pytest.approx(2 * np.pi * 36, rel=0.01)
    rows, columns = np.mgrid[0:64, 0:96] + 0.5
    left = columns < 28
    x, y = made.centres_px[0, 0]
    weight = picture * left
    assert (weight * columns).sum() / weight.sum() == pytest.approx(x, abs=0.05)
    assert (weight * rows).sum() / weight.sum() == pytest.approx(y, abs=0.05)


def test_a_disc_moves_by_parts_of_a_pixel():
    first, second = (
        next(frames(make_stimulus([walking(1)], spec(px_per_m=p)))).astype(int) for p in (20.0, 20.7)
    )
    assert 0 < np.abs(first - second).max() < 255


def test_discs_at_the_edge_are_cut_off_and_those_outside_are_not_drawn():
    made = make_stimulus([walking()], spec(px_per_m=55.0))
    half = next(frames(made))
    assert half[:, :4].max() > 0
    far = make_stimulus([walking()], spec(px_per_m=4000.0))
    assert max(int(p.max()) for p in frames(far)) == 0


def test_blocks_do_not_change_a_pixel():
    made = make_stimulus([walking()], spec(n_noise=5, noise="random"))
    whole = np.stack(list(frames(made)))
    assert np.array_equal(whole, np.stack(list(frames(made, block=5))))
    assert whole.shape == (12, 64, 96, 3)


def test_a_stimulus_can_be_made_again_bit_for_bit(tmp_path):
    made = make_stimulus([walking()], spec(scramble="both", n_noise=4, seed=9))
    path = tmp_path / "stimulus.json"
    path.write_bytes(msgspec.json.encode(kept_of(made)))
    again = remake(read_sidecar(path), [walking()])
    assert np.array_equal(np.stack(list(frames(made))), np.stack(list(frames(again))))


def test_other_motions_and_other_pixels_are_told(tmp_path):
    made = make_stimulus([walking()], spec())
    kept = kept_of(made)
    with pytest.raises(DataError, match="not what the stimulus was made from"):
        remake(kept, [walking(13)])
    with pytest.raises(DataError, match="from 1 motions, not 2"):
        remake(kept, [walking(), walking()])
    with pytest.raises(DataError, match="came out differently"):
        remake(msgspec.structs.replace(kept, frames_digest="0" * 64), [walking()])
    (tmp_path / "x.json").write_text('{"spec": {"margin": 7}}')
    with pytest.raises(DataError, match="no sidecar"):
        read_sidecar(tmp_path / "x.json")
    with pytest.raises(DataError, match="cannot be read"):
        read_sidecar(tmp_path / "none.json")


def test_the_digest_of_a_motion_knows_places_names_and_rate():
    changed = walking()
    changed.positions_m[3, 0, 0] += 1e-12
    assert motion_digest(changed) != motion_digest(walking())
    assert motion_digest(walking()) == motion_digest(walking())


def test_videos_have_every_frame_at_its_time(tmp_path):
    made = make_stimulus([walking()], spec())
    pictures = list(frames(made))
    path = tmp_path / "clip.mp4"
    write_video(pictures, path, fps=made.fps)
    video = open_video(path)
    assert video.n_frames == 12
    assert np.allclose(video.times_s, np.arange(12) / 24.0, atol=1e-3)
    last = video.frames([11])[0]
    assert isinstance(last, np.ndarray)
    assert np.abs(last.astype(int) - pictures[11]).mean() < 4


def test_colours_are_tagged_and_come_back_and_files_are_the_same_each_time(tmp_path):
    made = make_stimulus([walking(), walking()], spec(colours="two", dot_radius_px=12.0, px_per_m=20.0))
    for name in ("a", "b"):
        write_video(frames(made), tmp_path / f"{name}.mp4", fps=24.0)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()
    with av.open(str(tmp_path / "a.mp4")) as container:
        frame = next(container.decode(video=0))
    assert (frame.colorspace, frame.color_range) == (Colorspace.ITU709, ColorRange.MPEG)
    found = open_video(tmp_path / "a.mp4").frames([0])[0]
    x, y = np.round(made.centres_px[0, -1]).astype(int)
    assert np.abs(found[y, x].astype(int) - made.levels[-1]).max() <= 4


def test_pictures_pass_one_at_a_time():
    made = make_stimulus([walking(200)], spec())
    seen = []

    def pictures():
        for number, picture in enumerate(frames(made)):
            assert len(seen) == number
            yield picture

    assert passed(pictures(), [lambda picture: seen.append(int(picture.max()))]) == passed(frames(made))
    assert len(seen) == 200


def test_pictures_are_numbered_and_nothing_is_overwritten(tmp_path):
    pictures = list(frames(make_stimulus([walking()], spec())))
    with numbered_pictures(tmp_path / "clip") as add:
        passed(pictures, [add])
    assert len(list((tmp_path / "clip").iterdir())) == 12
    assert np.array_equal(np.asarray(Image.open(tmp_path / "clip" / "0003.png")), pictures[2])
    with pytest.raises(UsageError, match="not empty"), numbered_pictures(tmp_path / "clip"):
        pass


def test_a_contact_sheet_holds_the_first_and_the_last_frame():
    pictures = list(frames(make_stimulus([walking()], spec())))
    sheet = contact_sheet({n: pictures[n] for n in evenly(12, 5)}, fps=24.0, columns=3)
    assert sheet.shape == (4 + 2 * (64 + 18 + 4), 4 + 3 * (96 + 4), 3)
    assert np.array_equal(sheet[4:68, 4:100], pictures[0])
    assert np.array_equal(sheet[90:154, 104:200], pictures[11])
    with pytest.raises(UsageError, match="at least one picture"):
        contact_sheet({}, fps=24.0)


def test_settings_give_the_pixels_that_they_have_always_given():
    """The beginning of the SHA-256 over all pixels."""
    small = {"width_px": "96", "height_px": "96", "dot_radius_px": "2", "seed": "4"}
    made = make_stimulus(staged(["walker:walk?duration_s=0.5"]), spec_of(small))
    assert passed(frames(made))[:16] == "79ab36476499075d"
