"""The maker ``herbench`` on a street drawn by us: one pass over the video, cards, scenes, twelve tasks."""

import io
import json
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from subjects import drawn_street as street
from subjects.making import Making
from vidence.engine import engine
from vidence.make.pipeline.material import Draft
from vidence.media.video import Video
from vidence.records import ImagePart, Reply

LOOKS = (
    "Red raincoat with large brass buttons. Short black curls and a heavy build.",
    "Green tracksuit, white trainers. A grey ponytail and narrow shoulders.",
    "Navy overalls over a striped jersey. Bald, with a long dark beard.",
    "Yellow summer dress, straw hat. Blonde braids and freckles.",
    "Purple velvet gown with lace cuffs. Silver bun and thin spectacles.",
    "Orange builder vest, hard helmet. Broad chest and a thick moustache.",
)
GROUND_NAMES = ("dark grey", "pale blue", "olive", "sandy", "navy", "light grey")


def nearest(colour: np.ndarray, known: tuple[tuple[int, int, int], ...]) -> int:
    return int(np.abs(np.array(known) - colour).sum(axis=1).argmin())


class Writer:
    """Writes what it sees: the colour of a walker, the colour of the ground."""

    looks, by_item, max_in_flight, identity = True, False, None, "writer"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def reply(self, request) -> Reply:
        kind = request.prompt.template.split("/")[-1].split(".")[0]
        self.asked.append(kind)
        parts = [part for part in request.prompt.parts if isinstance(part, ImagePart)]
        pictures = [np.asarray(Image.open(io.BytesIO(request.images[p.digest]))) for p in parts]
        return Reply(text=getattr(self, kind, self.task)(pictures, request.prompt.text))

    async def close(self) -> None:
        pass

    def card_appearance(self, pictures, text) -> str:
        votes: Counter[int] = Counter()
        for picture in pictures:
            height, width, _ = picture.shape
            middle = picture[height // 2 :: 16, width // 4 : -width // 4 : 8].reshape(-1, 3).astype(int)
            votes.update(nearest(pixel, street.COLOURS) for pixel in middle)
        return LOOKS[votes.most_common(1)[0][0]]

    def card_path(self, pictures, text) -> str:
        return (
            "They cross the frame on a straight line. No stop is made on the way. "
            "Others pass close by without any contact."
        )

    def card_scene(self, pictures, text) -> str:
        width = pictures[0].shape[1]
        name = GROUND_NAMES[
            nearest(pictures[0][-4:, width // 2 - 2 : width // 2 + 2].mean(axis=(0, 1)), street.GROUNDS)
        ]
        return f"Several flat figures of one colour each move about on a {name} ground without a shadow."

    def card_false(self, pictures, text) -> str:
        sentence = next(json.loads(line) for line in text.splitlines() if line.startswith('"'))
        changes = [("Several", "Three"), ("without a shadow", "with long shadows")]
        for before, after in changes:
            sentence = sentence.replace(before, after)
        listed = [{"kind": "modification", "before": a, "after": b} for a, b in changes]
        return json.dumps({"text": sentence, "changes": listed})

    def task(self, pictures, text) -> str:
        said = {
            "possible": True,
            "question": "How does this person cross the frame?",
            "answer": "On a straight line without a stop",
            "distractors": ["In a circle", "Back and forth twice", "Along the edge only", "With many stops"],
        }
        return json.dumps(said)


class Watched(Making):
    """Makings with what was read and asked."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, "herbench", street.CONFIG)
        self.writer = Writer()
        self.reads: list[int] = []
        monkeypatch.setattr(engine, "create", lambda kind, spec: self.writer)
        plain = Video.read

        def read(video, indices, make, **rest):
            indices = list(indices)
            if type(video) is Video or indices:
                self.reads.append(len(indices))
            return plain(video, indices, make, **rest)

        monkeypatch.setattr(Video, "read", read)

    def make(self, **overrides: object):
        self.reads, self.writer.asked = [], []
        return super().make(**overrides)

    def made(self) -> set[str]:
        return {one.split()[0] for one in self.units(made=True)}


@pytest.fixture(scope="module")
def making(tmp_path_factory):
    folder = tmp_path_factory.mktemp("street")
    with pytest.MonkeyPatch.context() as monkeypatch:
        one = Watched(folder, monkeypatch)
        street.write_street(one.root / "videos")
        one.first = one.make()
        one.first_reads, one.first_asked = list(one.reads), list(one.writer.asked)
        yield one


def drafts(making: Making) -> list[Draft]:
    lines = (making.out / "drafts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Draft) for line in lines]


def test_tracks_cards_shots_and_scenes_are_all_there(making):
    assert making.account()["tracks"]["n_out"] == 6
    assert making.account()["crops"]["n_out"] == 6
    assert making.account()["cards"]["n_out"] == 12
    assert making.account()["scene-pictures"]["n_out"] == 6
    assert making.account()["scenes"]["n_out"] == 6
    assert making.account()["false-scenes"]["n_out"] == 6
    assert {"AGBI", "SVA", "TSO"} <= making.first.account.questions.keys()
    truths = {(draft.task, draft.truth) for draft in drafts(making)}
    assert ("AGBI", "model") in truths
    said = dict(truths)
    assert said["SVA"].startswith("shots; scene cards by ")
    assert said["TSO"].startswith("shots; scene cards by ")
    # each frame is read once, for boxes, looks, shots and crops
    assert sum(making.first_reads) == street.N_FRAMES


def test_nothing_is_made_asked_or_read_twice(making):
    before = (making.out / "items.jsonl").read_bytes()
    making.make()
    assert not making.made()
    assert making.writer.asked == []
    assert sum(making.reads) == 0
    assert (making.out / "items.jsonl").read_bytes() == before


def test_another_rule_for_crops_looks_and_asks_again_but_tracks_nothing(making):
    config = making.config
    config.write_text(street.CONFIG.replace("[cards.crops]", "[cards.crops]\nn_path = 6"))
    making.make(until="cards")
    stages = making.made()
    assert stages == {"crops", "cards"}
    assert set(making.writer.asked) == {"card_appearance", "card_path"} or set(making.writer.asked) == {
        "card_path"
    }
    assert sum(making.reads) == 0
    config.write_text(street.CONFIG)


def test_a_lost_frame_cache_changes_nothing(making):
    import shutil

    before = (making.out / "items.jsonl").read_bytes()
    shutil.rmtree(making.out / "pictures")
    making.make()
    assert making.made() == {"crops", "scene-pictures"}
    assert making.writer.asked == []
    shutil.rmtree(making.folder / "cache" / "frames")
    shutil.rmtree(making.out / "stages" / "crops")
    making.make()
    assert making.made() == {"crops"}
    assert sum(making.reads) > 0
    assert making.writer.asked == []
    assert (making.out / "items.jsonl").read_bytes() == before


def test_without_a_writer_the_account_says_what_is_missing(making):
    config = making.config
    text = street.CONFIG.split("[models]")[0]
    config.write_text(text)
    making.make()
    lines = (making.out / "dropped.jsonl").read_text().splitlines()
    dropped = {one["what"]: one for one in map(json.loads, lines) if one["stage"] == "pairs"}
    assert dropped["street: MPDR"]["detail"] == "the configuration has no [cards]"
    assert dropped["street: TSO"]["detail"] == "the configuration has no [scenes]"
    assert dropped["street: FAM"]["reason"] == "no-events"
    config.write_text(street.CONFIG)
