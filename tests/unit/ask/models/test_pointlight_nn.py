"""The baseline that looks: dots out of pixels, motion out of dots, the nearest other clip."""

import io
import math
from collections.abc import Sequence
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from servers.model_asks import maker
from vidence.ask.models.pointlight_features import describe, find_dots, is_same, linked, seen
from vidence.ask.models.pointlight_nn import PointlightModel
from vidence.ask.models.pointlight_references import window
from vidence.contracts import Request
from vidence.errors import AccessError, DataError, RejectedRequestError, UsageError
from vidence.make.lights.ablation_clips import StimulusSet, write_condition
from vidence.make.lights.ablation_config import BASE, AblationConfig, Condition, Motions
from vidence.media.clip import Clip
from vidence.media.video import open_video
from vidence.pointlight.drawing import frames
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import StimulusSpec, View
from vidence.pointlight.stimulus import Stimulus, make_stimulus
from vidence.pointlight.writing import write_video
from vidence.records import ImagePart, Item, Prompt, Reply, Sampling, TextPart, VideoPart

create = maker("model", "pointlight-nn")
selector = maker("selector", "actpld")

Pictures = dict[str, list[NDArray[np.uint8]]]

CHOICES = ("walk", "wave", "squat")
# Three exemplars of each action in a slow window, so that the whole movement is seen.
CONFIG = AblationConfig(motions=Motions(n_each=3, yaw_spread_deg=10.0), stimulus={"fps": 8})


def drawn(centres: Sequence[tuple[float, float]], *, level: int = 255, ground: int = 0) -> NDArray[np.uint8]:
    """A picture of 64 x 64 pixels with discs of radius 2.5 px."""
    places = np.array([centres], float).reshape(1, -1, 2)
    made = Stimulus(
        spec=StimulusSpec(width_px=64, height_px=64),
        centres_px=places,
        depths_m=np.zeros(places.shape[:2]),
        radii_px=np.full(places.shape[:2], 2.5),
        levels=np.full((places.shape[1], 3), level, np.uint8),
        owners=np.zeros(places.shape[1], np.int64),
        names=("",) * places.shape[1],
        fps=30.0,
        px_per_m=1.0,
        background=ground,
    )
    return next(frames(made))


def encoded(picture: NDArray[np.uint8], kind: str = "JPEG") -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind, quality=95)
    return file.getvalue()


def asking(
    images: Sequence[bytes], *, item_id: str = "new/label", choices=CHOICES, n_cells: int = 1
) -> Request:
    parts = [
        ImagePart(
            digest=str(n),
            width_px=8,
            height_px=8,
            frames=(n,) if n_cells == 1 else tuple(range(n_cells)),
        )
        for n in range(len(images))
    ]
    prompt = Prompt(parts=(*parts, TextPart(text="Which?")), choices=choices)
    sampling = Sampling(want_choice_logps=True)
    return Request(
        item_id=item_id,
        prompt=prompt,
        sampling=sampling,
        images={str(n): image for n, image in enumerate(images)},
    )


def ask(model: PointlightModel, request: Request) -> Reply:
    return anyio.run(model.reply, request)


@pytest.fixture(scope="module")
def stimuli() -> StimulusSet:
    return StimulusSet(CONFIG, beside=Path())


@pytest.fixture(scope="module")
def folder(stimuli: StimulusSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("references")
    write_condition(stimuli, BASE, made, on_clip=lambda _: None)
    return made


@pytest.fixture(scope="module")
def model(folder: Path) -> PointlightModel:
    return create(str(folder), {})


def shown(stimuli: StimulusSet, condition: Condition) -> dict[str, list[NDArray[np.uint8]]]:
    """The eight middle frames of every clip in a condition."""
    found = {}
    for clip in stimuli.clips:
        pictures = list(frames(stimuli.stimulus(clip, condition)))
        found[clip.clip_id] = [pictures[i] for i in window(len(pictures), 8)]
    return found


@pytest.fixture(scope="module")
def clean(stimuli: StimulusSet) -> dict[str, list[NDArray[np.uint8]]]:
    return shown(stimuli, BASE)


def share_right(
    model: PointlightModel, stimuli: StimulusSet, pictures: dict[str, list[NDArray[np.uint8]]]
) -> float:
    """How often the right action is named among three, the two others going round the other groups."""
    requests = []
    for clip in stimuli.clips:
        others = sorted({c.label for c in stimuli.clips if c.group != clip.group})
        images = [encoded(p) for p in pictures[clip.clip_id]]
        for n in range(0, len(others), 2):
            choices = (others[n], clip.label, others[n + 1])
            requests.append(asking(images, item_id=f"{clip.clip_id}/label", choices=choices))

    async def all_of_them() -> list[str]:
        return [(await model.reply(request)).text for request in requests]

    said = anyio.run(all_of_them)
    return said.count("B") / len(said)


@pytest.fixture(scope="module")
def by_lot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve people who walk, four clips of each; what a clip is said to show is drawn by lot for each."""
    made, rng = tmp_path_factory.mktemp("lots"), np.random.default_rng(3)
    said = [label for label in CHOICES for _ in range(4)]
    rng.shuffle(said)
    rows = ["clip_id,path,set,label,intention,source_id"]
    for who, label in enumerate(said):
        options = f"height_m={rng.uniform(1.5, 1.95):.3f}&speed_m_s={rng.uniform(1.0, 1.7):.3f}&duration_s=3"
        figures = staged([f"walker:walk?{options}"])
        for window_number in range(4):
            start = 6 * window_number
            spec = StimulusSpec(
                **{"width_px": 128, "height_px": 128, "dot_radius_px": 1.5, "fps": 8.0},
                view=View(yaw_deg=float(10 * who)),
                start_frame=start % 14,
                n_frames=8,
            )
            name = f"p{who:02d}-{window_number}"
            write_video(frames(make_stimulus(figures, spec)), made / f"{name}.mp4", fps=8.0)
            rows.append(f"{name},{name}.mp4,single,{label},to go,subject {who}")
    (made / "clips.csv").write_text("\n".join(rows) + "\n")
    labels = [*(f"label,{label},{label}" for label in CHOICES), "intention,to go,walking"]
    (made / "labels.csv").write_text("\n".join(["target,name,group", *labels]) + "\n")
    return made


@pytest.mark.parametrize(("leave_out", "least", "most"), [("clip", 0.6, 1.0), ("sources", 0.01, 0.53)])
def test_labels_drawn_by_lot_are_told_at_chance_without_the_same_people(by_lot, leave_out, least, most):
    """48 questions about 12 people: 3 of the 11 others have the same label; limits of two standard errors."""
    model = create(str(by_lot), {"leave_out": leave_out})
    right = 0
    for line in (by_lot / "clips.csv").read_text().splitlines()[1:]:
        name, path, _, label, *_ = line.split(",")
        images = [encoded(p) for p in open_video(by_lot / path).frames(range(8))]
        reply = ask(model, asking(images, item_id=f"{name}/label"))
        right += CHOICES["ABC".index(reply.text)] == label
    assert least <= right / 48 <= most


# ------------------------------------------------------------------- dots


@pytest.mark.parametrize(("level", "ground"), [(255, 0), (0, 255), (255, 128), (0, 128), (90, 20)])
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_dots_are_found_to_a_fraction_of_a_pixel(level: int, ground: int, kind: str):
    centres = [(10.3, 12.7), (30.0, 50.5), (55.25, 8.0)]
    picture = drawn(centres, level=level, ground=ground)
    with Image.open(io.BytesIO(encoded(picture, kind))) as image:
        found = find_dots(np.asarray(image.convert("RGB")))
    assert len(found) == 3
    away = np.linalg.norm(found[:, None] - np.array(centres)[None], axis=2).min(axis=0)
    assert away.max() < 0.25


def test_dots_that_touch_are_two():
    found = find_dots(drawn([(20.0, 20.0), (24.5, 20.0), (50.0, 50.0), (8.0, 50.0)]))
    assert len(found) == 4
    pair = sorted(found[found[:, 1] < 30][:, 0])
    assert pair == pytest.approx([20.0, 24.5], abs=0.8)


def test_an_even_picture_has_no_dots():
    noise = np.random.default_rng(0).integers(100, 108, (40, 40, 3), np.uint8)
    assert find_dots(noise).shape == (0, 2)


# ------------------------------------------------------------------- features


def cloud(seed: int, n_frames: int = 5, n_dots: int = 9) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    start = rng.uniform(0, 100, (n_dots, 2))
    return [start + n * rng.normal(0, 0.5, (n_dots, 2)) for n in range(n_frames)]


def flat(dots: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    view = seen(dots)
    assert view is not None
    return np.concatenate(describe(view))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.floats(0.2, 5), st.floats(-300, 300), st.floats(-300, 300))
def test_place_size_mirror_and_order_do_not_matter(seed: int, scale: float, dx: float, dy: float):
    dots = cloud(seed)
    order = np.random.default_rng(seed).permutation(9)
    moved = [(d * scale * [-1.0, 1.0] + [dx, dy])[order] for d in dots]
    assert flat(moved) == pytest.approx(flat(dots), abs=1e-6)


def test_a_figure_that_rises_differs_from_one_that_falls():
    dots = cloud(1, n_frames=1)[0]
    up = [dots - [0.0, 2.0 * n] for n in range(5)]
    assert np.abs(flat(up) - flat(up[::-1])).max() > 0.05


def test_dots_are_related_to_the_nearest_ones_and_not_across_the_figure():
    first = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    second = np.array([[1.1, 0.0], [0.1, 0.0], [9.0, 9.0]])
    assert [pair.tolist() for pair in linked(first, second)] == [[0, 1], [1, 0]]


def test_the_same_picture_is_known_again_whatever_its_size():
    dots = cloud(3)
    one, larger, other = seen(dots), seen([2 * d + 7 for d in dots]), seen(cloud(4))
    assert one
    assert larger
    assert other
    assert is_same(one, larger)
    assert not is_same(one, other)


def test_nothing_to_see_is_nothing():
    assert seen([np.zeros((0, 2))]) is None
    assert seen([np.array([[3.0, 4.0]])]) is None


# ------------------------------------------------------------------- the model


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 9))
def test_references_are_shown_as_the_selector_shows_clips(n_total: int, n_frames: int, stride: int):
    clip = Clip.of_times(np.arange(n_total) / 30.0, fps=30.0)
    item = Item(item_id="q", question="?", answer="A", choices=("a", "b"))
    expected = selector(str(stride), {}).select(clip, item, n_frames=n_frames)
    assert window(n_total, n_frames, stride=stride).tolist() == expected.tolist()


def test_clean_dots_are_named_nearly_always(model, stimuli, clean):
    assert share_right(model, stimuli, clean) > 0.85


def test_blank_frames_are_guessed_at_chance(model, stimuli, clean):
    blank = {name: [np.zeros_like(p) for p in pictures] for name, pictures in clean.items()}
    # 72 questions: chance less and plus three standard errors.
    assert 1 / 3 - 0.17 < share_right(model, stimuli, blank) < 1 / 3 + 0.17
    reply = ask(model, asking([encoded(blank["walk-01"][0])]))
    assert reply.reasoning.startswith("A guess: no two dots are seen")
    assert reply.is_guess
    assert not ask(model, asking([encoded(p) for p in clean["walk-01"]])).is_guess
    assert reply.choice_logps == pytest.approx(dict.fromkeys("ABC", math.log(1 / 3)))


def test_random_dots_are_named_at_chance(model, stimuli, clean):
    rng = np.random.default_rng(5)
    noise = {name: [drawn(rng.uniform(5, 59, (13, 2)).tolist()) for _ in range(8)] for name in clean}
    assert share_right(model, stimuli, noise) < 1 / 3 + 0.17


def test_a_clip_is_never_its_own_reference(model, stimuli, clean, folder):
    """With its own id the clip is left out by name, with another one since its picture is the same."""
    images = [encoded(p) for p in clean["squat-02"]]
    by_id = ask(model, asking(images, item_id="squat-02/label"))
    by_picture = ask(model, asking(images, item_id="somebody/label"))
    assert by_id.reasoning == by_picture.reasoning
    assert "0.0" not in by_id.reasoning.split("C ")[1][:4]


def test_where_a_choice_has_no_other_clip_it_guesses_and_says_so(model, clean):
    images = [encoded(p) for p in clean["walk-01"]]
    reply = ask(model, asking(images, choices=("walk", "juggle", "squat")))
    assert reply.reasoning == "A guess: no other clip shows what B says."
    assert reply.text in "ABC"


def test_the_distances_say_how_sure_it_is(model, clean):
    images = [encoded(p) for p in clean["wave-01"]]
    reply = ask(model, asking(images, item_id="wave-01/label"))
    assert reply.text == "B"
    assert sum(map(math.exp, reply.choice_logps.values())) == pytest.approx(1)
    assert max(reply.choice_logps, key=reply.choice_logps.get) == "B"
    assert ask(model, asking(images, item_id="wave-01/label")) == reply


def test_a_montage_is_cut_into_its_frames(model, clean):
    pictures = clean["wave-02"]
    rows = [np.concatenate(pictures[first : first + 4], axis=1) for first in (0, 4)]
    whole = encoded(np.concatenate(rows), "PNG")
    single = ask(model, asking([encoded(p, "PNG") for p in pictures], item_id="wave-02/label"))
    assert ask(model, asking([whole], item_id="wave-02/label", n_cells=8)) == single
    with pytest.raises(RejectedRequestError, match="grid=4x2 holds 8"):
        ask(model, asking([whole], n_cells=9))


def test_intentions_are_choices_too(model, clean):
    choices = ("to train the legs", "To  greet", "to get somewhere")
    images = [encoded(p) for p in clean["wave-01"]]
    assert ask(model, asking(images, item_id="wave-01/intention", choices=choices)).text == "B"


def test_open_questions_and_whole_videos_are_not_for_it(model):
    assert ask(model, asking([], choices=())).text == ""
    prompt = Prompt(parts=(VideoPart(path="a.mp4", digest="d"),), choices=CHOICES)
    with pytest.raises(RejectedRequestError, match="not a whole video"):
        ask(model, Request(item_id="q", prompt=prompt, sampling=Sampling()))
    missing = Prompt(parts=(ImagePart(digest="d", width_px=8, height_px=8),), choices=CHOICES)
    with pytest.raises(RejectedRequestError, match="were not sent"):
        ask(model, Request(item_id="q", prompt=missing, sampling=Sampling()))


# ------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": "0"}, "1 or above"),
        ({"grid": "4"}, "columns x rows"),
        ({"size": "big"}, "size 'big' is not known"),
        ({"neighbours": "3"}, "no option 'neighbours'"),
    ],
)
def test_bad_options_are_refused(folder: Path, options: dict[str, str], message: str):
    with pytest.raises(UsageError, match=message):
        create(str(folder), options)


def test_a_folder_is_needed_and_must_be_one(tmp_path: Path, folder: Path):
    with pytest.raises(UsageError, match="wants its folder behind a colon"):
        create("", {})
    with pytest.raises(DataError, match=r"there is no .*clips\.csv"):
        create(str(tmp_path), {})
    (tmp_path / "labels.csv").write_text("target,name,group\nlabel,walk,g\n")
    (tmp_path / "clips.csv").write_text("clip_id,path,label\na,a.mp4,walk\n")
    with pytest.raises(DataError, match="no column intention"):
        create(str(tmp_path), {})
    (tmp_path / "clips.csv").write_text("clip_id,path,label,intention\na,a.mp4,walk\n")
    with pytest.raises(DataError, match="3 cells found; expected 4"):
        create(str(tmp_path), {})
    (tmp_path / "clips.csv").write_text("clip_id,path,label,intention\n")
    with pytest.raises(DataError, match="no clips"):
        create(str(tmp_path), {})
    (tmp_path / "clips.csv").write_text("clip_id,path,label,intention\na,a.mp4,walk,go\n")
    with pytest.raises(DataError, match=r"a\.mp4 cannot be read"):
        create(str(tmp_path), {})


def test_a_reference_that_is_no_video_ends_the_run(tmp_path: Path, clean):
    (tmp_path / "labels.csv").write_text("target,name,group\nlabel,walk,g\n")
    (tmp_path / "clips.csv").write_text("clip_id,path,label,intention\na,a.mp4,walk,go\n")
    (tmp_path / "a.mp4").write_text("no video")
    with pytest.raises(AccessError, match=r"cannot read a reference: .*a\.mp4"):
        ask(create(str(tmp_path), {}), asking([encoded(clean["walk-01"][0])]))


def test_identity_follows_the_content_of_the_folder(folder: Path, tmp_path: Path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert create(str(copy), {}).identity == create(str(folder), {}).identity
    assert create(str(copy), {"k": "2"}).identity != create(str(copy), {}).identity
    (copy / "labels.csv").write_text((copy / "labels.csv").read_text() + "label,hop,jumping,,,\n")
    assert create(str(copy), {}).identity != create(str(folder), {}).identity
