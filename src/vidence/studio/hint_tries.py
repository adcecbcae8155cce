"""Store trials of hints, as reviews of a separate stage; authors do not try their own items."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from vidence.make.review.protocol import Protocol
from vidence.records import Record
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.rules.hints import FINDINGS, HintedQuestion, asked_of

STAGE: Final = "hints"
"""Stage of reviews that are hint trials."""
SURE: Final = "the text is enough"
GUESS: Final = "it is a guess"


class HintTry(Record):
    """A trial: its revision, answer, seconds, and verdict on the hints."""

    n: int
    by: str
    answer: str
    said: str
    seconds: float
    finding: str
    words: str
    asked: HintedQuestion


def tries_of(item: ItemRow) -> Iterator[HintTry]:
    """Yield the trials of all wordings of an item, in order."""
    rows = ReviewRow.objects.filter(item=item, stage=STAGE).select_related("revision", "reviewer")
    for row in rows.order_by("pk"):
        asked = asked_of(content_of(row.revision.content))
        if asked is not None:
            yield HintTry(
                n=row.revision.n,
                by=row.reviewer.pseudonym,
                answer=row.answer,
                said=row.feedback,
                seconds=row.seconds or 0.0,
                finding=row.decision,
                words=dict(FINDINGS).get(row.decision, row.decision),
                asked=asked,
            )


def content_of(text: str) -> dict[str, object]:
    """Return the fields of a stored wording."""
    return msgspec.json.decode(text, type=dict[str, object])


def too_strong(item: ItemRow) -> tuple[HintTry, ...]:
    """Return the trials that were answered from the words and hints alone."""
    return tuple(hint_try for hint_try in tries_of(item) if hint_try.finding == "too-strong")


def of_wording(item: ItemRow, content: Mapping[str, object]) -> tuple[HintTry, ...]:
    """Return the trials that apply to this wording: question, options and hints are unchanged."""
    now = asked_of(content)
    return (
        () if now is None else tuple(hint_try for hint_try in tries_of(item) if hint_try.asked.is_same(now))
    )


def refusal(kind: str, item: ItemRow, protocol: Protocol, *, by: str) -> str:
    """Return why hint trials prevent an act; empty if they do not.

    What has hints that are too strong is not accepted. Who tried the hints has seen the reference answer of
    an open question, and so answers it nowhere else before the key is shown.

    Args:
        kind: of the act.
        item: about which.
        protocol: the rules of its project.
        by: who acts.
    """
    if item.current is None or kind not in ("accept", "claim"):
        return ""
    if kind == "claim":
        has_tried = ReviewRow.objects.filter(item=item, stage=STAGE, reviewer__pseudonym=by).exists()
        if has_tried and any(stage.solves for stage in protocol.stages):
            return f"{by} has tried its hints; so this person cannot solve it as a reviewer"
        return ""
    tries = of_wording(item, content_of(item.current.content))
    strong = next((hint_try for hint_try in tries if hint_try.finding == "too-strong"), None)
    if strong is None:
        return ""
    return (
        f"a second person answered revision {strong.n} from the question and the hints without the video, in "
        f"{strong.seconds:.0f} s: the hints are too strong; return it, or reword them"
    )
