"""Which questions may be released: reviewed, with licensed videos."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from vidence.ask.benchmarks.question_files import lettered
from vidence.ask.files import FieldError
from vidence.make.gates.licence_checking import film_in
from vidence.make.gates.licences import LicenceCheck
from vidence.make.pipeline.ledger import Ledger
from vidence.make.pipeline.material import Dropped
from vidence.make.release.exporters.exporting import SPLIT
from vidence.make.review.files import Reviews
from vidence.records import Item

ANY: Final = "all"
_ONLY_OF_REVIEWS: Final = ("author", "minutes", "misconception", "annotations")
"""What the wordings of a review have besides those of a question; the last one is of the studio."""


def film_of(item: Item, known: Collection[str] = ()) -> str | None:
    """The film on YouTube that a question is about; None where nothing in it names one.

    An address names one anywhere; a bare name of 11 characters only where it is `known`, for such a name may
    be anything.
    """
    texts = [item.source, item.provenance.source if item.provenance else ""]
    texts += [text for medium in item.media for text in (medium.url, medium.path) if text]
    films = [(film_in(text), "/" in text) for text in texts]
    return next((film for film, is_address in films if film and (is_address or film in known)), None)


def with_licence(
    items: Sequence[Item],
    ledger: Ledger,
    *,
    checks: Mapping[str, LicenceCheck] | None,
    without_licence: Collection[str],
) -> tuple[Item, ...]:
    """The questions about media that may be used; the others go into the account.

    Where licences were looked up, a film must have passed. A question about no film needs a licence in its
    provenance, or its source, origin or medium named in `without_licence`.

    Args:
        items: the questions.
        ledger: takes down what is dropped.
        checks: what is known of films, by their names; None where nobody looked.
        without_licence: names that are allowed; ``all`` for any.
    """
    dropped = []
    for item in items:
        reason, detail = _fault(item, checks, without_licence)
        if reason:
            dropped.append(Dropped(what=item.item_id, stage="licences", reason=reason, detail=detail))
    return _close(ledger, "licences", items, dropped=dropped)


def _fault(
    item: Item, checks: Mapping[str, LicenceCheck] | None, without_licence: Collection[str]
) -> tuple[str, str]:
    film = film_of(item, checks or ())
    if checks is not None and film is not None:
        licence = checks.get(film)
        if licence is None:
            return "licence-not-checked", f"the film {film} was not looked up"
        return (
            ("", "") if licence.outcome == "passed" else (f"licence-{licence.outcome}", licence.why or film)
        )
    origin = item.provenance
    if origin is not None and origin.licence:
        return "", ""
    names = {ANY, item.source, item.video_id, *([origin.source] if origin else [])} - {""}
    if names & set(without_licence):
        return "", ""
    return "no-licence", f"{item.source_id} has no licence; say one in provenance, or allow it by name"


def reviewed(items: Sequence[Item], ledger: Ledger, reviews: Reviews) -> tuple[Item, ...]:
    """The questions that a review accepted, as it accepted them; the others go into the account."""
    dropped = []
    for item in items:
        state = reviews.states.get(item.item_id)
        if state is None:
            reason = "not-reviewed"
        elif state.state != "accepted":
            reason = f"review-{state.state}"
        elif _wording(item) != _accepted(reviews.content(item.item_id)):
            reason = "changed-since-review"
        else:
            continue
        dropped.append(Dropped(what=item.item_id, stage="review", reason=reason))
    return _close(ledger, "review", items, dropped=dropped)


def _accepted(content: Mapping[str, object]) -> Item | None:
    fields = {name: value for name, value in content.items() if name not in _ONLY_OF_REVIEWS}
    try:
        return _wording(lettered(msgspec.convert(fields, Item)))
    except (msgspec.ValidationError, FieldError):
        return None


def _wording(item: Item) -> Item:
    """Return a question without fields that splits and folders change."""
    tags = {name: value for name, value in item.tags.items() if name != SPLIT}
    return msgspec.structs.replace(item, tags=tags, media=())


def _close(
    ledger: Ledger, stage: str, items: Sequence[Item], *, dropped: Sequence[Dropped]
) -> tuple[Item, ...]:
    gone = {entry.what for entry in dropped}
    kept = tuple(item for item in items if item.item_id not in gone)
    ledger.close(
        stage,
        unit="questions",
        taken=[item.item_id for item in items],
        kept=[item.item_id for item in kept],
        dropped=dropped,
    )
    return kept
