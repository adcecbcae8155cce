"""Drive the flows of card writers with replies from a list or a function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from vidence.make.herbench.cards.crops import TrackPictures
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.wording import CardWording
from vidence.records import Prompt, Reply

DIGEST = "0" * 62


@dataclass
class Played:
    """What a flow made, and the rounds of prompts that it put."""

    made: object
    rounds: list[Sequence[Prompt]] = field(default_factory=list)

    @property
    def prompts(self) -> list[Prompt]:
        return [prompt for asked in self.rounds for prompt in asked]


def play(flow, *said: str | Reply | Callable[[Prompt], str | Reply]) -> Played:
    """Run a flow to its end: each prompt gets the next of `said`; a single function answers all."""
    left = list(said)
    rounds: list[Sequence[Prompt]] = []

    def one(prompt: Prompt) -> Reply:
        answer = left[0](prompt) if callable(left[0]) else left.pop(0)
        return Reply(text=answer) if isinstance(answer, str) else answer

    try:
        wanted = next(flow)
        while True:
            rounds.append(wanted)
            wanted = flow.send([one(prompt) for prompt in wanted])
    except StopIteration as stop:
        assert callable(said[0]) or not left, f"{len(left)} replies were not asked for"
        return Played(stop.value, rounds)


def crop(frame: int, kind: str) -> Crop:
    return Crop(
        track_id="t1", frame_index=frame, digest=f"{DIGEST}{kind}{frame % 10}", width_px=80, height_px=160
    )


@pytest.fixture(name="play")
def play_fixture():
    return play


@pytest.fixture(scope="session")
def wording() -> CardWording:
    return CardWording.load()


@pytest.fixture(scope="session")
def pictures() -> TrackPictures:
    """Crops of a track: six for its appearance, two moments of its path."""
    return TrackPictures(
        track_id="t1",
        appearance=tuple(crop(i, "a") for i in (0, 1, 2, 97, 98, 99)),
        path=(crop(50, "b"), crop(60, "b")),
        frames=(crop(50, "c"), crop(60, "c")),
    )
