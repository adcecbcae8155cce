"""A street that we drew: what was planted comes out right, with the boxes of HOG.

Answers are recomputed from the plan of the film (`walking_people`) by `task_claims`, which uses no code of
tasks or tracking.
"""

import io
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from subjects import walking_people as street
from subjects.task_claims import has_three_apart, true_options
from subjects.tracks import video
from vidence.engine import engine
from vidence.make.makers import herbench
from vidence.make.pipeline.material import Card, Draft, Material, SceneCard, VideoSource
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.records import ImagePart, Reply
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import PERSON, Track

FILMS = (street.STREET, street.YARD)
CONFIG = """
name = "street"
seed = 4
videos = "videos"

[[sources]]
path = "*.mp4"

[tracking]
detector = "hog:?least_px=104&ladder=1.3"
tracker = "deepsort"

[tracking.refine]
for_height_px = 1080
most_gap_s = 0.6
merging = { most_cost = 50.0, most_gap_s = 0.6 }

[tracking.pick]
n_tracks = 16

[shots]
detector = "content"

[models]
writer = "scripted:written"

[cards]
model = "writer"

[cards.crops]
gap_s = 0.2

[scenes]
model = "writer"
false = false

[tasks.mpdr]
per_video = 40

[tasks.rlpc]
per_video = 40

[tasks.aglt]
per_video = 40

[tasks.megl]
per_video = 40

[tasks.tso]
per_video = 40
"""


class Writer:
    """Writes what it sees: whose coat is in the crops, which awning is at the upper edge."""

    looks, by_item, max_in_flight, identity = True, False, None, "writer"

    async def reply(self, request) -> Reply:
        kind = request.prompt.template.split("/")[-1].split(".")[0]
        parts = [part for part in request.prompt.parts if isinstance(part, ImagePart)]
        pictures = [np.asarray(Image.open(io.BytesIO(request.images[p.digest]))) for p in parts]
        return Reply(text=getattr(self, kind)(pictures))

    async def close(self) -> None:
        pass

    def card_appearance(self, pictures) -> str:
        coats = np.array([look[0] for look in street.LOOKS])
        votes: Counter[int] = Counter()
        for one in pictures:
            height, width, _ = one.shape
            rows, columns = slice(int(0.28 * height), int(0.48 * height), 4), slice(int(0.42 * width), None)
            coat = one[rows, columns][:, : int(0.16 * width) : 4].reshape(-1, 3).astype(int)
            votes.update(int(np.abs(coats - pixel).sum(axis=1).argmin()) for pixel in coat)
        return street.LOOKS[votes.most_common(1)[0][0]][2]

    def card_path(self, pictures) -> str:
        return (
            "They cross the frame on a straight line. No stop is made on the way. "
            "Others pass close by without any contact."
        )

    def card_scene(self, pictures) -> str:
        takes = [take for film in FILMS for take in film.takes]
        seen = pictures[0][2:8, 100:-100].mean(axis=(0, 1))
        return min(takes, key=lambda take: float(np.abs(np.array(take.awning) - seen).sum())).words


def planted(film: street.Film) -> Material:
    """The film as it was planned, with true tracks, cards and shots."""
    tracks = []
    for walker in film.walkers:
        boxes = {f: box for f in range(film.n_frames) if (box := walker.box(f)) is not None}
        tracks.append(
            Track(
                track_id=f"look-{walker.look}",
                class_name=PERSON,
                frame_indices=np.array(list(boxes)),
                boxes_px=np.array(list(boxes.values()), float),
                confidences=np.ones(len(boxes)),
                is_detected=np.ones(len(boxes), bool),
            )
        )
    shots = tuple(
        Shot(
            shot_id=f"take-{i}",
            first_frame=take.first,
            last_frame=take.last,
            start_s=take.first / street.FPS,
            end_s=(take.last + 1) / street.FPS,
        )
        for i, take in enumerate(film.takes)
    )
    return Material(
        source=VideoSource(
            video_id=film.name,
            path=f"{film.name}.mp4",
            n_frames=film.n_frames,
            fps=float(street.FPS),
            duration_s=film.n_frames / street.FPS,
            width_px=street.WIDTH,
            height_px=street.HEIGHT,
        ),
        tracked=video(tracks, size=(street.WIDTH, street.HEIGHT), n_frames=film.n_frames, fps=street.FPS),
        a_cards=tuple(
            Card(track_id=f"look-{one.look}", kind="A", text=street.LOOKS[one.look][2])
            for one in film.walkers
        ),
        shots=shots,
        scene_cards=tuple(
            SceneCard(card_id=f"take-{i}-true", shot_id=f"take-{i}", text=take.words)
            for i, take in enumerate(film.takes)
        ),
    )


@pytest.fixture(scope="module")
def films(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    for film in FILMS:
        street.write_film(film, folder / "videos")
    return folder


@pytest.fixture(scope="module")
def drafts(films) -> list[Draft]:
    config, out = films / "config.toml", films / "made"
    config.write_text(CONFIG)
    context = BuildContext(cache_root=films / "cache", memory=films / "replies.sqlite")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(engine, "create", lambda kind, spec: Writer())
        built = herbench.create().make(config, overrides=MakeOverrides(out=out), context=context)
    assert any("last resort" in note for note in built.account.notes)
    lines = (out / "drafts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Draft) for line in lines]


def test_every_answer_is_what_was_planted(drafts):
    truth = {film.name: planted(film) for film in FILMS}
    wrong = [one for one in drafts if true_options(one, truth[one.video_id]) != [one.answer_index]]
    assert wrong == []
    assert all(has_three_apart(one) for one in drafts)
    counts = Counter(one.task for one in drafts)
    # RLPC asks for five people or more, so that four smaller ranges fit below; no film counts so many.
    assert counts.keys() == {"MPDR", "AGLT", "MEGL", "TSO"}
    assert counts["AGLT"] >= 10
    assert min(counts.values()) >= 2
