"""Scores for selectors: each frame looked at once, failures of one question only."""

from dataclasses import replace
from pathlib import Path

import anyio
import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence.ask.prompting.templates import Templates
from vidence.contracts import ScoreRules, View
from vidence.engine import search as module
from vidence.engine.engine import Engine
from vidence.engine.limits import AskLimits
from vidence.engine.search import ScoreDesk
from vidence.engine.views import Clipped, OpenView
from vidence.errors import AccessError, MediaError, UsageError
from vidence.media.clip import Clip
from vidence.media.encode import Encoding, Size, encode
from vidence.records import Failed, Item, Media

A, B = (Path("a.mp4"), "video"), (Path("b.mp4"), "video")


class Counting:
    """Scores a frame by its shade and the length of the text."""

    identity, size, features_identity = "counting", "native", "counting"

    def __init__(self) -> None:
        self.seen: list[int] = []

    def features(self, frames):
        self.seen += [int(f[0, 0, 0]) for f in frames]
        return np.array([[f[0, 0, 0]] for f in frames], np.float32)

    def compare(self, features, texts):
        return features + np.array([[len(t) for t in texts]], np.float32) / 100


class Every:
    """Wants every second frame scored; refuses slow videos."""

    version = 1
    score_rules = ScoreRules(embedder="counting:x", query="question", max_tokens=7)

    def candidates(self, clip):
        if clip.fps < 1:
            raise UsageError("too slow")
        return np.arange(0, clip.n_frames, 2)

    def select(self, clip, item, *, n_frames, scores=None):
        raise AssertionError("nothing is selected here")

    rank = select


def clip(n: int, fps: float = 10.0) -> Clip:
    return timed_clip(np.arange(n) / 10, fps=fps)


def question(item_id: str, source, n: int = 6, fps: float = 10.0) -> Clipped:
    media = (Media(path=str(source[0])),)
    item = Item(item_id=item_id, media=media, question=f"Q{item_id}?", choices=("x", "y"), answer="A")
    return Clipped(item=item, clip=clip(n, fps), sources=(source,), hashes=(f"hash of {source[0]}",))


@pytest.fixture
def embedder(monkeypatch):
    made = Counting()
    options: list[dict[str, str]] = []

    def create(kind, spec):
        options.append(dict(spec.options))
        return made

    monkeypatch.setattr(module, "create", create)
    made.options = options
    return made


def run(tmp_path, view, questions, *, broken=()):
    delivered: list[tuple[Path, tuple[int, ...]]] = []

    async def deliver(source, indices, encoding):
        if source[0] in broken:
            raise MediaError(f"{source[0]} is broken")
        delivered.append((source[0], tuple(indices)))
        shade = {i: np.full((4, 4, 3), (10 * i) % 250, np.uint8) for i in indices}
        return {
            i: encode(image, Encoding(size=Size.parse("native"), format="png")) for i, image in shade.items()
        }

    async def go():
        desk = ScoreDesk(
            cache_root=tmp_path,
            cache_max_bytes=10**8,
            engine=Engine(memory=tmp_path / "replies.sqlite", limits=AskLimits(), on_event=print),
            deliver=deliver,
            deliver_kept=deliver,
        )
        return await desk.scores(view, questions)

    return anyio.run(go), delivered


VIEW = OpenView(
    rules=View(selector="every", n_frames=2),
    selector=Every(),
    encoding=Encoding(size=Size.parse("native")),
    words=Templates.load("plain"),
)


def test_questions_about_one_video_share_its_frames(tmp_path, embedder):
    questions = [question("a", A), question("bb", A), question("c", B)]
    found, delivered = run(tmp_path, VIEW, questions)
    assert delivered == [(A[0], (0, 2, 4)), (B[0], (0, 2, 4))]
    assert embedder.seen == [0, 20, 40] * 2
    assert found["a"] == pytest.approx([0.03, 20.03, 40.03])
    assert found["bb"] == pytest.approx([0.04, 20.04, 40.04])
    assert embedder.options == [{"max_tokens": "7"}]


def test_what_was_scored_is_not_looked_at_again(tmp_path, embedder):
    run(tmp_path, VIEW, [question("a", A)])
    found, delivered = run(tmp_path, VIEW, [question("a", A), question("dddd", A, n=8)])
    assert delivered == [(A[0], (6,))]
    assert embedder.seen == [0, 20, 40, 60]
    assert found["dddd"] == pytest.approx([0.06, 20.06, 40.06, 60.06])


def test_a_video_that_cannot_be_read_fails_its_own_questions(tmp_path, embedder):
    found, _ = run(tmp_path, VIEW, [question("a", A), question("b", B)], broken=(A[0],))
    assert isinstance(found["a"], Failed)
    assert "broken" in found["a"].message
    assert len(found["b"]) == 3


def test_a_question_whose_candidates_cannot_be_told_fails_alone(tmp_path, embedder):
    found, _ = run(tmp_path, VIEW, [question("a", A, fps=0.5), question("b", A)])
    assert found["a"] == Failed(stage="selection", error="UsageError", message="too slow")
    assert len(found["b"]) == 3


def test_an_embedder_that_cannot_be_opened_ends_the_run(tmp_path, monkeypatch):
    def create(kind, spec):
        raise UsageError(f"{spec.name}: needs torch")

    monkeypatch.setattr(module, "create", create)
    with pytest.raises(AccessError, match="counting: needs torch"):
        run(tmp_path, VIEW, [question("a", A)])


def test_selectors_without_scores_and_those_with_a_file_ask_nobody(tmp_path, embedder):
    class Plain:
        version = 1

    class File(Every):
        score_rules = ScoreRules(file="scores.jsonl")

    for selector in (Plain(), File()):
        view = replace(VIEW, selector=selector)
        assert run(tmp_path, view, [question("a", A)]) == ({}, [])


def test_long_videos_come_in_lots(tmp_path, embedder, monkeypatch):
    monkeypatch.setattr(module, "LOT", 300)
    found, delivered = run(tmp_path, VIEW, [question("a", A, n=40)])
    assert [len(indices) for _, indices in delivered] == [20]
    monkeypatch.setattr(module, "LOT", 8)
    _, delivered = run(tmp_path / "other", VIEW, [question("a", A, n=40)])
    assert set(delivered[0][1]) == set(range(0, 40, 2))  # a block is never less than the embedder asks for
    assert len(found["a"]) == 20
