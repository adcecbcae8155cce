"""What people decided about questions, out of a review of ``vidence review``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from vidence.errors import DataError
from vidence.make.pipeline.material import Dropped
from vidence.make.review.files import PROTOCOL_FILE, read_reviews
from vidence.records import Item

PEOPLE: Final = "people"
_OUT: Final = {"rejected": "rejected-by-people", "withdrawn": "withdrawn", "voided": "withdrawn"}


@dataclass(frozen=True, kw_only=True)
class ReviewedQuestions:
    """The questions that stay, as people worded them last, the others, and words about it."""

    items: tuple[Item, ...]
    dropped: tuple[Dropped, ...]
    words: tuple[str, ...]


def look_up(items: Sequence[Item], folder: Path, *, waiting: Literal["keep", "hold"]) -> ReviewedQuestions:
    """What a review says of questions; without the folder all of them stay.

    Accepted ones take the last wording. Reasons: ``rejected-by-people``, ``withdrawn``, ``waiting`` (with
    ``hold``).

    Source: HumanPCR, section 3.3 (every question is accepted, revised or discarded by people).
    Departs: the paper does not say who decides where two differ; see the protocol ``humanpcr-pc``.

    Raises:
        DataError: a question was made otherwise since it was put in.
    """
    if not (folder / PROTOCOL_FILE).is_file():
        said = (
            f"nobody has looked yet: {folder} holds no review; see vidence review open --protocol humanpcr-pc"
        )
        return ReviewedQuestions(items=tuple(items), dropped=(), words=(said,))
    reviews = read_reviews(folder)
    kept: list[Item] = []
    dropped: list[Dropped] = []
    n_waiting = n_accepted = 0
    for item in items:
        state = reviews.states.get(item.item_id)
        if state is None or not state.is_ended:
            n_waiting += 1
            if waiting == "hold":
                what = "not put in" if state is None else state.state
                dropped.append(Dropped(what=item.item_id, stage=PEOPLE, reason="waiting", detail=what))
            else:
                kept.append(item)
            continue
        _see_same(item, reviews.revisions_of[item.item_id][0].content, folder)
        if state.state in _OUT:
            dropped.append(
                Dropped(what=item.item_id, stage=PEOPLE, reason=_OUT[state.state], detail=state.state)
            )
            continue
        n_accepted += 1
        kept.append(_item(reviews.content(item.item_id), item.item_id, folder))
    words = [f"people accepted {n_accepted:,} questions; {n_waiting:,} wait, {len(dropped):,} are left out"]
    return ReviewedQuestions(items=tuple(kept), dropped=tuple(dropped), words=tuple(words))


def _see_same(item: Item, content: Mapping[str, object], folder: Path) -> None:
    """See that people looked at the question that is made now."""
    first = _item(content, item.item_id, folder)
    if (first.question, first.choices, first.answer, first.media) != (
        item.question,
        item.choices,
        item.answer,
        item.media,
    ):
        raise DataError(
            f"{item.item_id} was made otherwise when it was put into {folder}; make it as it was, or put the "
            "new one in under another name of the task"
        )


def _item(content: Mapping[str, object], item_id: str, folder: Path) -> Item:
    try:
        return msgspec.convert(dict(content), Item)
    except msgspec.ValidationError as error:
        raise DataError(f"{folder}: the last wording of {item_id} is no question: {error}") from error
