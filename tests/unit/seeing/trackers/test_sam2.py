"""SAM 2: what is made of masks, and that the library's own network gives them, with random weights."""

from types import SimpleNamespace

import numpy as np
import pytest

from servers.tiny_eyes import build_owlv2, build_sam2
from vidence.errors import UsageError
from vidence.media.video import open_video
from vidence.seeing.following import follow, open_detector, open_tracker
from vidence.seeing.trackers import sam2
from vidence.weights.checkpoints import Source
from videos.walkers import HEIGHT, WIDTH, Walker, film, mot_lines

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the extra 'select'")
pytest.importorskip("transformers", reason="needs the extra 'select'")

RED, GREEN = (200, 20, 20), (20, 150, 40)
WALKERS = (
    Walker(left_px=10, top_px=60, speed_px=(9, 0), coat=RED, legs=RED),
    Walker(left_px=270, top_px=70, speed_px=(-9, 0), coat=GREEN, legs=GREEN),
)
N_FRAMES = 30


class Colours:
    """A network whose mask of a thing is what has the colour amid its first box."""

    config = SimpleNamespace(image_size=64)
    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self):
        self.n_frames = set()

    def __call__(self, session, *, frame_idx, frame):
        session.add_new_frame(frame, frame_idx)
        self.n_frames.add(frame_idx)
        begun = session.point_inputs_per_obj[0].get(frame_idx)
        if begun is not None:
            x, y = begun["point_coords"].reshape(2, 2).mean(0).tolist()
            session.colour = frame[0, :, int(y - 4), int(x)]
        far = (frame[0] - session.colour[:, None, None]).abs().amax(0)
        return SimpleNamespace(pred_masks=torch.where(far < 0.5, 1.0, -1.0)[None, None])


@pytest.fixture
def colours(monkeypatch):
    network = Colours()
    monkeypatch.setattr(sam2, "load_model", lambda *_, **__: (network,))
    source = Source(place="here", name="n", revision="", content="c")
    monkeypatch.setattr(sam2, "find_weights", lambda *_, **__: source)
    return network


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    folder = tmp_path_factory.mktemp("street")
    film(folder / "street.mp4", WALKERS, n_frames=N_FRAMES)
    return folder


def followed(street, tracker, lines):
    (street / "boxes.txt").write_text("\n".join(lines) + "\n")
    video, boxes = open_video(street / "street.mp4"), open_detector(f"boxes:{street}/boxes.txt")
    return follow(video, detector=boxes, tracker=open_tracker(tracker)).tracked.tracks


def lines_of(street):
    return mot_lines(WALKERS, n_frames=N_FRAMES, with_ids=False).splitlines()


def test_people_who_pass_each_other_unseen_keep_their_tracks(street, colours):
    """Where they meet no box is found for half a second: places alone would let them turn round."""
    meeting = set(range(12, 18))
    lines = [line for line in lines_of(street) if int(line.split(",")[0]) - 1 not in meeting]
    tracks = followed(street, "sam2:w?least_iou=0.2", lines)
    assert [track.track_id for track in tracks] == ["1", "2"]
    for walker, track in zip(WALKERS, tracks, strict=True):
        assert set(track.frame_indices.tolist()) == set(range(N_FRAMES)) - meeting
        truth = np.array([walker.box(int(frame)) for frame in track.frame_indices])
        np.testing.assert_allclose(track.boxes_px, truth.clip(0, [WIDTH, HEIGHT] * 2), atol=0.01)
    assert colours.n_frames == set(range(N_FRAMES))


@pytest.mark.parametrize(
    ("options", "n_tracks"),
    [("max_age_s=0.3", 4), ("start=1.0", 0), ("n_init=13&max_age_s=0.3", 0), ("classes=dog", 0)],
)
def test_tracks_begin_count_and_end_by_the_settings(street, colours, options, n_tracks):
    lines = [line for line in lines_of(street) if int(line.split(",")[0]) - 1 not in range(12, 18)]
    lines = [",".join([*line.split(",")[:6], "0.9", *line.split(",")[7:]]) for line in lines]
    assert len(followed(street, f"sam2:w?least_iou=0.2&{options}", lines)) == n_tracks


def test_the_library_carries_masks_on(street, tmp_path):
    """The same frames give the same tracks, and the memory of a thing is bounded; weights are random."""
    weights = build_sam2(tmp_path / "sam2")
    one, other = (
        followed(street, f"sam2:{weights}?n_init=1&max_age_s=9", lines_of(street)) for _ in range(2)
    )
    assert sum(len(track.frame_indices) for track in one) == len(lines_of(street))
    for mine, same in zip(one, other, strict=True):
        assert np.array_equal(mine.boxes_px, same.boxes_px)
    tracker = open_tracker(f"sam2:{weights}")
    assert open_tracker(f"sam2:{weights}?start=0.4").identity != tracker.identity
    session, pixels = tracker._session(None), torch.rand(1, 3, 64, 64)
    bound = tracker.seeing(open_video(street / "street.mp4"))
    first = bound._mask(session, 0, pixels, begin=np.array([20.0, 20, 120, 200]))
    for number in range(1, 40):
        bound._mask(session, number, pixels)
    assert first.shape == (4,)
    assert len(session.output_dict_per_obj[0]["non_cond_frame_outputs"]) <= 16
    assert not session.processed_frames


def test_what_is_missing_is_said(tmp_path, street):
    with pytest.raises(UsageError, match="sam2 needs a folder or a name on the hub"):
        open_tracker("sam2")
    with pytest.raises(
        UsageError, match=r"of type 'owlv2'; sam2: needs Sam2VideoModel, such as facebook/sam2"
    ):
        open_tracker(f"sam2:{build_owlv2(tmp_path / 'owl')}")
