"""Selectors that search: what they are shown, what is kept, and whom they ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray

from vidence import catalog
from vidence.ask.prompting.templates import Templates
from vidence.ask.selection.search import SearchResult
from vidence.ask.selection.tstar_search import Box
from vidence.contracts import Request, View
from vidence.engine import engine as engine_module
from vidence.engine import search as module
from vidence.engine.engine import Engine, ModelRules
from vidence.engine.limits import AskLimits, Budget
from vidence.engine.search import ScoreDesk
from vidence.engine.views import Clipped, OpenView, positions_of
from vidence.errors import MediaError, RejectedRequestError
from vidence.media.clip import Clip
from vidence.media.encode import Encoding, Size, encode
from vidence.records import Failed, ImagePart, Item, Media, Reply

A = (Path("a.mp4"), "video")
BRIGHT = 37  # the second in which there is something to see


class Shades:
    """Confidence: the brightness of a frame; counts what it is shown."""

    identity, size, features_identity = "shades", "native", "shades"

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def features(self, frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        self.seen += [frame.shape[:2] for frame in frames]
        return np.array([[frame.mean() / 255] for frame in frames], np.float32)

    def compare(self, features: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        return np.repeat(features, len(texts), axis=1)


class Boxes(Shades):
    """A detector: one box around every bright cell of the picture that it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.pictures: list[tuple[int, ...]] = []

    def detect(self, picture: NDArray[np.uint8], labels: Sequence[str]) -> list[Box]:
        self.pictures.append(picture.shape)
        rows, columns = np.nonzero(picture[:, :, 0] > 128)
        if not len(rows):
            return []
        left, top, right, bottom = columns.min(), rows.min(), columns.max(), rows.max()
        return [
            Box(left_px=left, top_px=top, right_px=right, bottom_px=bottom, label=labels[0], confidence=0.9)
        ]


@dataclass
class Teller:
    """A model that says what it was told to."""

    said: str | Exception
    requests: list[Request] = field(default_factory=list)
    identity: str = "teller"
    looks: bool = True
    by_item: bool = False
    max_in_flight: int | None = None

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if isinstance(self.said, Exception):
            raise self.said
        return Reply(text=self.said)

    async def close(self) -> None:
        pass


@dataclass
class Scene:
    """A video of 60 seconds in which one is bright, and all that a desk needs."""

    folder: Path
    embedder: Shades
    patch: pytest.MonkeyPatch
    delivered: list[tuple[int, ...]] = field(default_factory=list)
    kept: list[tuple[int, ...]] = field(default_factory=list)
    is_broken: bool = False
    own_words: Path | None = None

    async def deliver(self, source: object, indices: Sequence[int], encoding: Encoding) -> Mapping:
        if self.is_broken:
            raise MediaError("it is broken")
        self.delivered.append(tuple(indices))
        return self.frames(indices, encoding)

    async def deliver_kept(self, source: object, indices: Sequence[int], encoding: Encoding) -> Mapping:
        self.kept.append(tuple(indices))
        return self.frames(indices, encoding)

    def frames(self, indices: Sequence[int], encoding: Encoding) -> Mapping:
        shades = {i: 250 if i // 10 == BRIGHT else 5 for i in indices}
        return {i: encode(np.full((90, 160, 3), shade, np.uint8), encoding) for i, shade in shades.items()}

    def find(
        self, spec: str, *, tellers: Mapping[str, Teller] | None = None, media: tuple[Media, ...] = ()
    ) -> tuple[object, OpenView, Clipped]:
        parsed = catalog.parse_spec(spec)
        selector = catalog.create("selector", parsed)
        native = Encoding(size=Size.parse("native"))
        view = OpenView(
            rules=View(selector=spec, n_frames=3),
            selector=selector,
            encoding=native,
            words=Templates.load("plain", override=self.own_words),
        )
        stills = len(media)
        clip = Clip(
            times_s=np.concatenate([np.zeros(stills), np.arange(600) / 10]),
            media_indices=np.concatenate([np.arange(stills), np.full(600, stills)]).astype(np.int64),
            frame_indices=np.concatenate([np.zeros(stills), np.arange(600)]).astype(np.int64),
            fps=0.0 if stills else 10.0,
        )
        item = Item(
            item_id="q", media=(*media, Media(path="a.mp4")), question="A light?", answer="A",
            choices=("x", "y"),
        )  # fmt: skip
        sources = tuple((Path(m.path or ""), m.kind) for m in item.media)
        question = Clipped(item=item, clip=clip, sources=sources, hashes=("h",) * len(sources))

        engine = Engine(memory=self.folder / "replies.sqlite", limits=AskLimits(), on_event=print)
        for name in tellers or {}:
            engine.add(name, ModelRules(spec=name, budget=Budget()))
        self.patch.setattr(engine_module, "create", lambda kind, spec: tellers[spec])

        async def go() -> dict:
            desk = ScoreDesk(
                cache_root=self.folder,
                cache_max_bytes=10**8,
                deliver=self.deliver,
                deliver_kept=self.deliver_kept,
                engine=engine,
            )
            async with engine:
                return await desk.scores(view, [question])

        return anyio.run(go)["q"], view, question


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = Scene(tmp_path, Shades(), monkeypatch)

    monkeypatch.setattr(module, "create", lambda kind, spec: made.embedder)
    return made


WHOLE = "tstar:shades?side=4&ratio=1"


def test_cells_are_matched_one_by_one_and_remembered(scene: Scene) -> None:
    searched, view, question = scene.find(WHOLE)
    assert isinstance(searched, SearchResult)
    # once the bright second was seen among 60, the search ends
    assert searched.positions[0] == BRIGHT * 10
    assert scene.embedder.seen[0] == (95, 200)
    assert scene.embedder.seen[-1] == (285, 600)
    assert scene.delivered[-1] == (BRIGHT * 10,)
    shown = positions_of(view, question.clip, question.item, scores=searched)
    assert shown.tolist() == sorted(searched.positions.tolist())
    n_seen = len(scene.embedder.seen)
    again, _, _ = scene.find(WHOLE)
    assert again.positions.tolist() == searched.positions.tolist()
    assert len(scene.embedder.seen) == n_seen
    assert len(scene.delivered) == len(set(scene.delivered))


def test_a_detector_is_shown_mosaics(scene: Scene) -> None:
    scene.embedder = Boxes()
    searched, _, _ = scene.find(WHOLE)
    assert searched.positions[0] == BRIGHT * 10
    assert scene.embedder.seen == []
    assert scene.embedder.pictures[0] == (4 * 95, 4 * 200, 3)
    assert scene.embedder.pictures[-1] == (285, 600, 3)


def test_single_images_stay_out_of_the_search_and_are_shown(scene: Scene) -> None:
    still = Media(path="map.png", kind="image")
    searched, view, question = scene.find(WHOLE, media=(still,))
    assert len(searched.positions) == 2  # of three frames one is the image
    shown = positions_of(view, question.clip, question.item, scores=searched)
    assert shown[0] == 0
    assert 1 + BRIGHT * 10 in shown.tolist()


def test_a_model_names_what_is_looked_for(scene: Scene) -> None:
    teller = Teller("Targets: a light\nCues: none")
    spec = WHOLE + "&objects=model"
    searched, _, _ = scene.find(spec, tellers={"": teller})
    assert searched.note.startswith("looked for a light in ")
    (request,) = teller.requests
    shown = [part for part in request.prompt.parts if isinstance(part, ImagePart)]
    assert len(shown) == 8
    assert {part.digest for part in shown} == set(request.images)
    assert len(scene.kept) == 1
    assert len(scene.kept[0]) == 8


def test_a_model_is_asked_in_the_words_of_the_run(scene: Scene) -> None:
    (scene.folder / "own").mkdir()
    (scene.folder / "own" / "tstar-objects.txt").write_text("{{ n_frames }} pictures: {{ question }}")
    scene.own_words = scene.folder / "own"
    teller = Teller("Targets: a light\nCues: none")
    scene.find(WHOLE + "&objects=model", tellers={"": teller})
    (request,) = teller.requests
    assert request.prompt.text == "8 pictures: A light?"
    assert request.prompt.template.startswith("own/tstar-objects.txt sha256:")


@pytest.mark.parametrize(
    ("said", "stage", "message"),
    [
        ("I see a light.", "selection", "the model named no objects"),
        (RejectedRequestError("too many images"), "model", "too many images"),
    ],
)
def test_a_model_that_names_nothing_fails_the_question(
    scene: Scene, said: str | Exception, stage: str, message: str
) -> None:
    spec = WHOLE + "&objects=model:openai:x"
    failed, _, _ = scene.find(spec, tellers={"openai:x": Teller(said)})
    assert isinstance(failed, Failed)
    assert failed.stage == stage
    assert message in failed.message


def test_a_video_that_cannot_be_read_fails_the_question(scene: Scene) -> None:
    scene.is_broken = True
    failed, _, _ = scene.find(WHOLE)
    assert isinstance(failed, Failed)
    assert "broken" in failed.message
