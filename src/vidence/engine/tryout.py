"""Send a model one picture and one question, to test whether it answers, sees, and how fast it is."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vidence.contracts import Ask, Flow
from vidence.engine.jobs import Jobs
from vidence.engine.limits import AskLimits
from vidence.media.encode import Encoding, Size, encode
from vidence.records import Failed, ImagePart, Prompt, Reply, TextPart

SIDE_PX = 448
COLOUR = "blue"
_RGB = (20, 40, 220)
QUESTION = "Which colour fills this picture? Answer with one word."
_NAME = "model"


@dataclass(frozen=True, kw_only=True)
class Tryout:
    """Results of asking a model about a picture twice.

    Both times are in seconds from request to reply; the first includes loading weights. A missing reply is
    None; `failure` says why.
    """

    first: Reply | None
    second: Reply | None
    first_s: float
    second_s: float
    failure: str = ""

    @property
    def sees(self) -> bool:
        """Whether a reply names the colour of the picture."""
        return any(reply is not None and COLOUR in reply.text.lower() for reply in (self.first, self.second))

    @property
    def tokens_per_s(self) -> float | None:
        """Return tokens per second of the second reply, if the model counts tokens."""
        n = self.second.usage.output_tokens if self.second else None
        return n / self.second_s if n and self.second_s > 0 else None


def tryout(spec: str, *, memory: Path, clock: Callable[[], float] = time.monotonic) -> Tryout:
    """Ask a model about a picture of one colour twice, without retries.

    Args:
        spec: the model.
        memory: the reply cache's file, which must be empty, so that the model itself is tested.
        clock: the time in seconds.

    Raises:
        UsageError: an invalid spec, or a missing package.
    """
    picture = np.empty((SIDE_PX, SIDE_PX, 3), np.uint8)
    picture[:] = _RGB
    image = encode(picture, Encoding(size=Size(kind="long", pixels=SIDE_PX), format="png"))
    part = ImagePart(digest=image.digest, width_px=SIDE_PX, height_px=SIDE_PX, media_type=image.media_type)
    prompt = Prompt(parts=(part, TextPart(text=QUESTION)))
    limits = AskLimits(concurrency=1, attempts=1, patience_s=0)
    replies, times, failure = list[Reply](), list[float](), ""
    with Jobs(
        {_NAME: spec}, memory=memory, limits=limits, pictures={image.digest: image.data}.__getitem__
    ) as jobs:
        for number in (1, 2):
            began = clock()
            tryout = jobs.run({str(number): _asked(prompt, number)}, model=_NAME)[str(number)]
            times.append(clock() - began)
            if isinstance(tryout, Failed):
                failure = f"{tryout.error}: {tryout.message}"
                break
            replies.append(tryout)
    first, second = (*replies, None, None)[:2]
    first_s, second_s = (*times, 0.0)[:2]
    return Tryout(first=first, second=second, first_s=first_s, second_s=second_s, failure=failure)


def _asked(prompt: Prompt, number: int) -> Flow[Reply]:
    (reply,) = yield [Ask(prompt=prompt, sample=number)]
    return reply
