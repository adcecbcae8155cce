"""Which questions may be released: reviewed, with licensed videos."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from vidence.ask.benchmarks.question_files import lettered
from vidence.ask.files import FieldError, decoded, objects, read
from vidence.errors import DataError, UsageError
from vidence.make.gates.licence_checking import film_in
from vidence.make.gates.licences import LicenceCheck
from vidence.make.pipeline.ledger import Ledger
from vidence.make.pipeline.material import Dropped
from vidence.make.release.exporters.exporting import SPLIT
from vidence.make.review.files import Reviews
from vidence.records import Item, Record

WITHDRAWN_FILE: Final = Path("about") / "withdrawn.jsonl"
IDS_FILE: Final = Path("about") / "ids.jsonl"
_MOST_NAMED: Final = 5


class Withdrawn(Record, omit_defaults=True):
    """A question that was withdrawn; `version` is the first release without it."""

    item_id: str
    reason: str = ""
    version: str = ""


class ReleasedId(Record):
    """A question of a release, by its name and split."""

    item_id: str
    split: str


class _Mark(Record):
    canary: str


RecordT = TypeVar("RecordT", bound=Record)


def read_withdrawn(path: Path) -> tuple[Withdrawn, ...]:
    """The questions that a file of JSON lines withdraws.

    Raises:
        DataError: it cannot be read, or a line is none; the line is named.
    """
    decoder = msgspec.json.Decoder(Withdrawn)
    return tuple(_read(path, decoder))


def withdrawn_since(
    before: Path, items: Sequence[Item], *, now_withdrawn: Sequence[Withdrawn], version: str
) -> tuple[Withdrawn, ...]:
    """Everything withdrawn: in the previous release, by name now, or missing since then.

    Args:
        before: the folder of the release before.
        items: what is released now.
        now_withdrawn: what is withdrawn by name.
        version: that of the new release.

    Raises:
        UsageError: the folder is no such release.
        DataError: its lists cannot be read.
    """
    if not (before / IDS_FILE).is_file():
        raise UsageError(f"{before} is no release of vidence items release (no {IDS_FILE})")
    known = {withdrawn.item_id: withdrawn for withdrawn in read_withdrawn(before / WITHDRAWN_FILE)}
    known |= {withdrawn.item_id: withdrawn for withdrawn in now_withdrawn if withdrawn.item_id not in known}
    there = {item.item_id for item in items}
    for released_id in read_ids(before):
        if released_id.item_id not in there and released_id.item_id not in known:
            known[released_id.item_id] = Withdrawn(
                item_id=released_id.item_id, reason="left out", version=version
            )
    return tuple(known[name] for name in sorted(known))


def read_ids(folder: Path) -> tuple[ReleasedId, ...]:
    """The questions of a release.

    Raises:
        DataError: the list cannot be read.
    """
    return tuple(_read(folder / IDS_FILE, msgspec.json.Decoder(ReleasedId)))


def refuse_withdrawn(items: Sequence[Item], withdrawn: Sequence[Withdrawn]) -> None:
    """Reject questions with the id of one that was withdrawn.

    Raises:
        UsageError: there are some.
    """
    gone = {entry.item_id for entry in withdrawn}
    if used := [item.item_id for item in items if item.item_id in gone]:
        raise UsageError(
            f"{len(used):,} ids belong to questions that were withdrawn: {', '.join(used[:_MOST_NAMED])}. An "
            "id is never used again: leave these out, or give them other ids"
        )


def _read(path: Path, decoder: msgspec.json.Decoder[RecordT]) -> list[RecordT]:
    entries: list[RecordT] = []
    if path.is_file() and not path.stat().st_size:
        return entries
    for line, row in objects(read(path, what="a list of questions")):
        try:
            decoded(row, msgspec.json.Decoder(_Mark))
        except FieldError:
            pass
        else:
            continue  # the line that carries the canary
        try:
            entries.append(decoded(row, decoder))
        except FieldError as error:
            raise DataError(f"{path}:{line}: {error}") from error
    return entries


ANY: Final = "all"
_ONLY_OF_REVIEWS: Final = ("author", "minutes", "misconception", "annotations")
"""Keys of a review's wordings beyond those of a question; the studio sets the last one."""


def film_of(item: Item, known: Collection[str] = ()) -> str | None:
    """The YouTube id that a question is about; None if nothing in it names one.

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
    """The questions about media that may be used; the account lists the rest.

    Where licences were looked up, a film must have passed. A question about no film needs a licence in its
    provenance, or its source, origin or medium named in `without_licence`.

    Args:
        items: the questions.
        ledger: takes down what is dropped.
        checks: what is known of films, by their names; None if nobody looked.
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
    """The questions that a review accepted, as it accepted them; the account lists the rest."""
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
