"""ActPLD from a folder of clips to scores: which frames a model really sees, retries, orders, logs."""

import io
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import pytest
from PIL import Image

from vidence.contracts import Request
from vidence.engine import engine as engine_module
from vidence.engine import evaluate
from vidence.engine.environment import Environment
from vidence.engine.prepare import make_plan
from vidence.engine.store import RunStore
from vidence.records import Answered, ImagePart, Reply, Trial, Unreadable
from videos import stamped

SAMPLE = Path(__file__).parents[3] / "golden" / "actpld"
N_STILLS = 30


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample folder with clips that carry their frame numbers: two videos and a folder of frames."""
    folder = tmp_path_factory.mktemp("actpld")
    for name in ("clips.csv", "labels.csv"):
        shutil.copy(SAMPLE / name, folder)
    clips = folder / "clips"
    (clips / "rake-1").mkdir(parents=True)
    for name in ("hop-1.mp4", "toss-1.mp4"):
        stamped.write(clips / name)
    for number in range(N_STILLS):
        luma = stamped.picture(number)[: stamped.HEIGHT]
        Image.fromarray(luma).convert("RGB").save(clips / "rake-1" / f"{number}.png")
    return folder


@dataclass
class Watcher:
    """Says what it is told, and keeps the numbers of the frames that it was shown."""

    says: list[str]
    looks: bool = True
    by_item: bool = False
    max_in_flight: int | None = 1
    identity: str = "watcher"
    seen: dict[str, list[list[int]]] = field(default_factory=dict)
    sizes: set[tuple[int, int]] = field(default_factory=set)

    async def reply(self, request: Request) -> Reply:
        parts = [part for part in request.prompt.parts if isinstance(part, ImagePart)]
        images = [np.asarray(Image.open(io.BytesIO(request.images[p.digest])).convert("RGB")) for p in parts]
        self.sizes |= {(image.shape[1], image.shape[0]) for image in images}
        told = self.seen.setdefault(request.item_id, [])
        told.append([stamped.read_number(cell) for image in images for cell in cells(image)])
        return Reply(text=self.says[min(len(told), len(self.says)) - 1])

    async def close(self) -> None:
        pass


def cells(image: np.ndarray) -> list[np.ndarray]:
    """The frames in a picture of 128 pixels' width, or row by row in a montage of them."""
    height, width = 72, 128
    return [
        image[top : top + height, left : left + width]
        for top in range(0, image.shape[0], height)
        for left in range(0, image.shape[1], width)
    ]


def run(data: Path, out: Path, model: Watcher, **overrides: object) -> dict[str, Trial]:
    plan = make_plan("actpld", data=data, model="scripted:A", overrides=overrides)
    go = partial(
        evaluate.run,
        plan,
        out,
        environment=Environment(cache_root=out / "cache", n_workers=1),
        now=datetime(2026, 1, 1, tzinfo=UTC),
        on_event=lambda _: None,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_module, "create", lambda kind, _: model)
        anyio.run(go)
    with RunStore(out) as store:
        return {trial.item_id: trial for trial in store.trials()}


def test_the_paper_shows_eight_small_frames_from_the_middle(data: Path, tmp_path: Path) -> None:
    model = Watcher(["The points move.\nAnswer: A"])
    trials = run(data, tmp_path, model)
    # 120 frames: 12..108 are usable, the middle eight begin at 12 + (96 - 8) // 2.
    assert model.seen["hop-1/label"] == [list(range(56, 64))]
    # 30 frames: 3..27, and 3 + (24 - 8) // 2.
    assert model.seen["rake-1/intention"] == [list(range(11, 19))]
    assert model.sizes == {(128, 72)}
    assert len(trials) == 6
    for trial in trials.values():
        assert isinstance(trial.score.outcome, Answered)
        assert sorted(trial.choice_order) == [0, 1, 2]
    assert len({trial.choice_order for trial in trials.values()}) > 1


def test_a_reply_without_an_answer_is_asked_again_with_other_windows(data: Path, tmp_path: Path) -> None:
    model = Watcher(["Hard to say.", "Dots.", "More dots.", "Answer: B"])
    trials = run(data, tmp_path, model)
    assert [told[0] for told in model.seen["hop-1/label"]] == [56, 48, 64, 40]
    assert all(len(told) == 8 for told in model.seen["hop-1/label"])
    # 30 frames: earlier 3, later 19; the third shift would be 3 again.
    assert [told[0] for told in model.seen["rake-1/label"]] == [11, 3, 19]
    read = trials["hop-1/label"]
    assert isinstance(read.score.outcome, Answered)
    assert read.selection is not None
    assert read.selection.frames[0].frame_index == 40
    assert isinstance(trials["rake-1/label"].score.outcome, Unreadable)


def test_a_montage_holds_the_same_frames_four_by_two_and_a_stride_reaches_further(data, tmp_path):
    model = Watcher(["Answer: A"])
    run(data, tmp_path, model, protocol="montage", split="label")
    assert model.sizes == {(4 * 128, 2 * 72)}
    assert model.seen["toss-1/label"] == [list(range(56, 64))]
    model = Watcher(["Answer: A"])
    run(data, tmp_path / "stride", model, protocol="stride-4", split="label")
    # 29 frames wide: 12 + (96 - 29) // 2 = 45. Of 30 frames none is cut off: (30 - 29) // 2.
    assert model.seen["hop-1/label"] == [list(range(45, 74, 4))]
    assert model.seen["rake-1/label"] == [list(range(0, 29, 4))]


def test_descriptions_are_marked_by_rules(data: Path, tmp_path: Path) -> None:
    model = Watcher(["Somebody hops.\nAnswer: hopping on one leg"])
    trials = run(data, tmp_path, model, split="description")
    values = {item_id: trial.score.value for item_id, trial in trials.items()}
    assert values == {
        "hop-1/label/description": 1.0,
        "hop-1/intention/description": 0.0,
        "rake-1/label/description": 0.0,
        "rake-1/intention/description": 0.0,
        "toss-1/label/description": 0.0,
        "toss-1/intention/description": 0.0,
    }


def test_the_log_of_the_same_replies_is_marked_without_asking_again(data: Path, tmp_path: Path) -> None:
    says = ["It clearly shows somebody hopping on one leg.\nAnswer: A"]
    first, second = Watcher(says), Watcher(says)
    letters = run(data, tmp_path, first, split="label", memory=str(tmp_path / "memory"))
    logs = run(
        data,
        tmp_path / "logs",
        second,
        split="label",
        protocol="thought-log",
        memory=str(tmp_path / "memory"),
    )
    assert second.seen == {}
    assert all(trial.is_remembered for trial in logs.values())
    assert [t.prompt for t in logs.values()] == [t.prompt for t in letters.values()]
    assert logs["hop-1/label"].score.value == 1.0
    assert logs["rake-1/label"].score.value == 0.0
    assert logs["toss-1/label"].score.value == 0.0
