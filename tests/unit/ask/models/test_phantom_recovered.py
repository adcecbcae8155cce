"""What was planted is what the simulated models score, through video, JPEG and downscaling."""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import anyio
import av
import msgspec
import numpy as np
import pytest

from servers.model_asks import maker
from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.planted import SimulatedModel, expected
from vidence.ask.phantom.world import render
from vidence.contracts import Request
from vidence.records import ImagePart, Item, Prompt, Sampling, TextPart

create = maker("model", "phantom")


def request(item: Item, images: Sequence[bytes]) -> Request:
    digests = [hashlib.sha256(data).hexdigest() for data in images]
    lines = "\n".join(f"{letter}. {text}" for letter, text in zip(item.letters, item.choices, strict=True))
    parts = [ImagePart(digest=digest, width_px=240, height_px=135) for digest in digests]
    return Request(
        item_id="not-to-be-used",
        prompt=Prompt(parts=(*parts, TextPart(text=f"{item.question}\n{lines}\nAnswer: X"))),
        sampling=Sampling(),
        images=dict(zip(digests, images, strict=True)),
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    spec = WorldSpec(n_videos=2, min_s=20, max_s=20, n_variable=1, sizes=((320, 180),), rates=(10,))
    render(folder, spec, seed=4)
    return folder


Frames = tuple[list[float], list[bytes]]


@pytest.fixture(scope="module")
def videos(world: Path) -> dict[str, Frames]:
    """The time of every frame, and the frame as a small JPEG."""
    found: dict[str, Frames] = {}
    for path in sorted((world / "videos").iterdir()):
        times_s: list[float] = []
        images: list[bytes] = []
        with av.open(str(path)) as container:
            for decoded in container.decode(video=0):
                file = io.BytesIO()
                decoded.to_image().resize((240, 135)).save(file, "JPEG", quality=75)
                times_s.append(decoded.time)
                images.append(file.getvalue())
        found[f"videos/{path.name}"] = (times_s, images)
    return found


def evidence_frames(item: Item, times_s: Sequence[float]) -> list[int]:
    middles = [(e.start_s + e.end_s) / 2 for e in item.evidence]
    return sorted(int(np.argmin(np.abs(np.array(times_s) - middle))) for middle in middles)


def selections(item: Item, times_s: Sequence[float]) -> list[list[int]]:
    """No frame, uniform frames of three budgets, the evidence, and the evidence without its first."""
    uniform = [list((2 * np.arange(n) + 1) * len(times_s) // (2 * n)) for n in (8, 16, 32)]
    evidence = evidence_frames(item, times_s)
    return [[], *uniform, evidence, evidence[1:]]


@pytest.mark.parametrize(
    "reader",
    [
        SimulatedModel(name="fuser"),
        SimulatedModel(name="single"),
        SimulatedModel(name="blind"),
        SimulatedModel(name="letter-biased", letter="D"),
        SimulatedModel(name="forgetful", memory=2),
        SimulatedModel(name="forgetful", memory=5),
    ],
    ids=lambda reader: f"{reader.name}-{reader.letter}-{reader.memory}",
)
def test_simulated_models_score_exactly_as_planted(reader, world, videos):
    options = {"letter-biased": {"letter": reader.letter}, "forgetful": {"memory": str(reader.memory)}}
    model = create(reader.name, options.get(reader.name, {}))
    assert model.reader == reader
    items = [
        msgspec.json.decode(line, type=Item) for line in (world / "items.jsonl").read_bytes().splitlines()
    ]
    planted, recovered = [], []
    for item in items:
        times_s, images = videos[item.media[0].path or ""]
        for chosen in selections(item, times_s):
            asked = request(item, [images[i] for i in chosen])
            recovered.append(anyio.run(model.reply, asked).text == f"Answer: {item.answer}")
            planted.append(expected(reader, item, times_s=[times_s[i] for i in chosen]))
    assert recovered == planted
    assert 0 < sum(planted) < len(planted)
