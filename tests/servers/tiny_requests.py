"""Questions with frames for tiny models, and a way to ask several at once."""

import hashlib
import io
from collections.abc import Sequence

import anyio
import numpy as np
from PIL import Image

from vidence.contracts import Model, Request
from vidence.errors import VidenceError
from vidence.records import ImagePart, Prompt, Reply, Sampling, TextPart

GREEDY = Sampling(temperature=0.0, max_tokens=12)
CHOICES = ("a dog", "a cat", "a horse", "a cow")
QUESTION = "Who runs? A. a dog B. a cat C. a horse D. a cow"


def frame(seed: int) -> bytes:
    """A JPEG, 80 pixels wide and 60 high, of 12 coloured squares: even a tiny model tells seeds apart."""
    squares = np.random.default_rng(seed).integers(0, 255, (3, 4, 3), dtype=np.uint8)
    encoded = io.BytesIO()
    Image.fromarray(np.kron(squares, np.ones((20, 20, 1), np.uint8))).save(encoded, "JPEG", quality=85)
    return encoded.getvalue()


def make_request(
    frame_seeds: Sequence[int] = (),
    sampling: Sampling = GREEDY,
    *,
    text: str = QUESTION,
    system: str = "",
    sample: int = 0,
) -> Request:
    """A question with four choices about the frames of these seeds."""
    shown = [frame(seed) for seed in frame_seeds]
    digests = [hashlib.sha256(data).hexdigest() for data in shown]
    parts = [ImagePart(digest=digest, width_px=80, height_px=60) for digest in digests]
    return Request(
        item_id=f"item-{len(shown)}",
        prompt=Prompt(parts=(*parts, TextPart(text=text)), choices=CHOICES, system=system),
        sampling=sampling,
        images=dict(zip(digests, shown, strict=True)),
        sample=sample,
    )


def ask_together(
    model: Model, requests: Sequence[Request], *, close: bool = False, timeout_s: float = 60
) -> list[Reply | VidenceError]:
    """What comes of requests that are sent at the same time.

    A model with connections must be closed in the same call, since they belong to its event loop.
    """
    outcomes: dict[int, Reply | VidenceError] = {}

    async def one(i: int) -> None:
        try:
            outcomes[i] = await model.reply(requests[i])
        except VidenceError as error:
            outcomes[i] = error

    async def everything() -> None:
        with anyio.fail_after(timeout_s):
            async with anyio.create_task_group() as group:
                for i in range(len(requests)):
                    group.start_soon(one, i)
            if close:
                await model.close()

    anyio.run(everything)
    return [outcomes[i] for i in range(len(requests))]


def ask(model: Model, request: Request) -> Reply:
    """The reply to one request; an error is raised."""
    outcome = ask_together(model, [request])[0]
    if isinstance(outcome, VidenceError):
        raise outcome
    return outcome
