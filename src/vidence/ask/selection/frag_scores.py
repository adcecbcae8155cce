"""FRAG's selection: a model sees one frame at a time and says whether it suffices to answer.

``frag-scores:model`` asks the model under test, ``frag-scores:model:openai:NAME`` another one (either must
return log-probabilities); ``frag-scores?scores=FILE`` asks none. The rule ``frag`` gives only FRAG's
candidates.
"""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.selection.scored import GridName, ScoredSettings, query_text
from vidence.ask.selection.search import names_model
from vidence.ask.selection.similarity import Best
from vidence.contracts import Ask, Flow, Words
from vidence.errors import DataError, UsageError
from vidence.records import ImagePart, Item, Prompt, Reply, Sampling, TextPart

YES = "A"
ANSWERS = ("Yes", "No")
TEMPLATE = "frag-scores"


class Settings(ScoredSettings):
    """Options of the selector; `embedder` is ``model``, or ``model:`` with the spec of another one."""

    grid: GridName = "uniform:256"
    embedder: Annotated[
        str,
        Meta(description="model: the model under test, as in FRAG; or model:SPEC, such as model:openai:NAME"),
    ] = ""

    def __post_init__(self) -> None:
        if self.embedder and not names_model(self.embedder):
            raise UsageError(
                f"frag-scores:{self.embedder} names no model; expected frag-scores:model:NAME, for example "
                "frag-scores:model:openai:NAME, or frag-scores:model for the model under test"
            )


def frame_prompt(item: Item, image: ImagePart, *, query: str, words: Words) -> Prompt:
    """Return the prompt that asks whether one frame is sufficient.

    Args:
        item: the question.
        image: the frame.
        query: ``question`` or ``question+choices``.
        words: what it is asked in, by the template ``frag-scores``.

    Source: FRAG, released code (scoring of single frames).
    Departs: the words are ours.
    """
    text = words.say(TEMPLATE, {"question": query_text(item, query)})
    return Prompt(parts=(image, TextPart(text=text)), choices=ANSWERS, template=words.label(TEMPLATE))


def probability_of_yes(reply: Reply, *, item_id: str) -> float:
    """Return the first letter's probability among all tokens at the answer's first position, 0 to 1.

    Source: FRAG, released code.
    Departs: no.

    Raises:
        DataError: the model gives no log-probabilities, or none for that letter.
    """
    probability = (reply.choice_logps or {}).get(YES)
    if probability is None:
        given = ", ".join(reply.choice_logps or {}) or "none"
        raise DataError(
            f"item {item_id!r}: a score is the probability of the letter {YES}, and the model gave those of: "
            f"{given}. Use a model that gives log-probabilities, or a file of scores"
        )
    return math.exp(probability)


class FragScores(Best):
    """FRAG: the `n_frames` of up to 256 uniform candidates that a model finds most sufficient.

    Source: FRAG, released code; HumanPCR, table 9 (32 frames).
    Departs: see `Best` and `frame_prompt`. The pair proposals of the paper are not here.
    """

    def ask(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[NDArray[np.float64]]:
        """Ask a model for a score per candidate: shape (n_candidates,).

        All frames are asked about together, each on its own, greedily, for one token.

        Args:
            item: the question.
            images: the candidates, in order.
            words: what is asked, by the template ``frag-scores``.

        Raises:
            DataError: a reply without the probability of the letter.
        """
        sampling = Sampling(temperature=0.0, max_tokens=1, want_choice_logps=True)
        prompts = [frame_prompt(item, image, query=self.score_rules.query, words=words) for image in images]
        replies = yield [Ask(prompt=prompt, sampling=sampling) for prompt in prompts]
        return np.array([probability_of_yes(reply, item_id=item.item_id) for reply in replies])


def create(settings: Settings) -> FragScores:
    """Create the selector.

    Raises:
        UsageError: an unknown grid, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    return FragScores("frag-scores", settings)
