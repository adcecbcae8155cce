"""The expected score of each simulated model, from planted spans and frame times alone.

Nothing here looks at pixels, prompts or replies: it is the truth that a run is compared with.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from vidence.errors import DataError
from vidence.records import Item, Record

ModelName = Literal["fuser", "single", "blind", "letter-biased", "forgetful"]
# A missing card divides the probability of the right letter by so much for each letter.
LOSS_PER_LETTER = 1.2
MODEL_NAMES: tuple[ModelName, ...] = get_args(ModelName)


class SimulatedModel(Record):
    """A simulated model with a known defect.

    * ``fuser`` finds and fuses whatever is in its frames: right if and only if every card that the
      question names is visible in them.
    * ``single`` uses one frame only, the first that shows the card that the question names first.
    * ``blind`` looks at no frame.
    * ``letter-biased`` is a fuser that always says `letter` when a card is missing.
    * ``forgetful`` holds at most `memory` of the cards asked for, those seen last.

    All of them believe a question that gives its answer away. `letter` is used by ``letter-biased``, `memory`
    by ``forgetful``.
    """

    name: ModelName
    letter: str = "A"
    memory: int = 2


def demand(item: Item) -> int:
    """Return how many cards the question names.

    Raises:
        DataError: this is no item of a phantom world.
    """
    _check(item)
    return len(item.evidence)


def visible(item: Item, times_s: Sequence[float]) -> tuple[bool, ...]:
    """Return, for each card that the question names, whether it is visible at one of these times.

    Args:
        item: an item of a phantom world.
        times_s: presentation times of the frames shown, in seconds from the first frame of the video.

    Raises:
        DataError: this is no item of a phantom world.
    """
    _check(item)
    return tuple(
        any(e.start_s <= t < e.end_s for t in times_s)
        for e in item.evidence
        if e.start_s is not None and e.end_s is not None
    )


def expected(model: SimulatedModel, item: Item, *, times_s: Sequence[float]) -> bool:
    """Whether the model must be right on the item given frames at these times.

    Raises:
        DataError: this is no item of a phantom world.
    """
    seen = visible(item, times_s)
    if item.tags["leak"] == "yes":
        return True
    is_right: dict[ModelName, bool] = {
        "fuser": all(seen),
        "single": seen == (True,),
        "blind": False,
        "letter-biased": all(seen) or item.answer == model.letter,
        "forgetful": all(seen) and len(seen) <= model.memory,
    }
    return is_right[model.name]


def in_sight_s(item: Item) -> tuple[float, ...]:
    """Return, for each card that the question names, a time at which it is visible, in seconds.

    Raises:
        DataError: this is no item of a phantom world.
    """
    _check(item)
    spans = [(e.start_s, e.end_s) for e in item.evidence]
    return tuple((a + b) / 2 for a, b in spans if a is not None and b is not None)


def expected_mrfs(model: SimulatedModel, item: Item) -> int | None:
    """Return how many frames the model needs of a ranking that starts with one frame per needed card.

    The cards come in the order of the question. 0 where words are enough, None if all are not.

    Raises:
        DataError: this is no item of a phantom world.
    """
    times_s = in_sight_s(item)
    if expected(model, item, times_s=()):
        return 0
    if not expected(model, item, times_s=times_s):
        return None
    return next(n for n in range(1, len(times_s) + 1) if expected(model, item, times_s=times_s[:n]))


def _check(item: Item) -> None:
    is_planted = (
        bool(item.evidence) and "leak" in item.tags and item.tags.get("demand") == str(len(item.evidence))
    )
    if not (is_planted and all(e.start_s is not None and e.end_s is not None for e in item.evidence)):
        raise DataError(
            f"item {item.item_id!r} has no planted evidence; expected an item of a phantom world, with the "
            "tags 'demand' and 'leak' and a span for each card (see vidence.ask.phantom.world.render)"
        )
