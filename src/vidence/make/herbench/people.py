"""People's files in a session: the rows of each video, and what is said of those that are not used."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from vidence.make.herbench.cards.card_files import BY_PEOPLE
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.tasks.counts import facts_of
from vidence.make.herbench.tasks.rlpc import moments_of_tracks
from vidence.make.pipeline.cache import digest_of
from vidence.make.pipeline.material import Dropped
from vidence.make.review.people.counting import agreed_counts
from vidence.make.review.people.readings import (
    CARD_STAGE,
    CHANCE,
    FALSE_STAGE,
    WordsOnlyAnswer,
    read_cards_by_people,
    read_false_by_people,
    told_false,
)
from vidence.make.review.people.rows import (
    CardCheckRow,
    CountRow,
    FalseCheckRow,
    RowT,
    Unused,
    read_rows,
)
from vidence.tables.table import several


def folder_of(work: HerbenchSession) -> Path | None:
    """The folder of people's files; None where the configuration names none."""
    rules = work.config.people
    return None if rules is None else work.root / rules.folder


def rows_of(work: HerbenchSession, kind: type[RowT], video_id: str) -> tuple[RowT, ...]:
    """The rows of a kind about a video, in their order; a file is read once a session.

    Raises:
        DataError: the file has a fault; nothing of it is used.
    """
    folder = folder_of(work)
    if folder is None:
        return ()
    if kind not in work.people:
        known = None if work.overrides.limit else work.video_ids
        work.people[kind] = read_rows(folder, kind, videos=known)
    return tuple(row for row in work.people[kind] if isinstance(row, kind) and row.video_id == video_id)


def give_counts(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Give every video what persons counted in it, and note what its tracks show at the same places.

    Raises:
        DataError: the file has a fault; nothing of it is used.
    """
    for one in videos:
        source = one.source.video
        rows = rows_of(work, CountRow, one.video_id)
        counts, unused = agreed_counts(rows, sha256=source.sha256, n_frames=source.n_frames)
        name_unused(work, unused)
        if not counts:
            continue
        one.material = replace(one.material, counts=counts)
        one.digests["counts"] = digest_of(counts)
        tracked = one.material.tracked
        for count in counts:
            by_tracks = None if tracked is None else moments_of_tracks(count, tracked)
            said = (
                f"{one.video_id}, {count.place}: persons counted {count.n} ({count.n_low} to {count.n_high})"
            )
            facts = facts_of(count, n_by_tracks=None if by_tracks is None else len(by_tracks))
            if "share found by tracks" in facts:
                said += f", tracks {facts['counted by tracks']}: recall {facts['share found by tracks']}"
            work.ledger.notes.append(f"{said}; counted by {facts['counted by']}")


def name_unused(work: HerbenchSession, unused: Iterable[Unused], *, about: str = "") -> None:
    """Say which rows (`about` a video) are not used and why, to the user and in the account."""
    for one in unused:
        words = f"{about}: {one}" if about else str(one)
        work.ledger.notes.append(words)
        work.trouble(words)


def use_card_checks(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Leave out cards that readers found to fit several people or nobody; note those that fit one.

    Raises:
        DataError: the file has a fault; nothing of it is used.
    """
    taken: list[str] = []
    dropped: list[Dropped] = []
    for one in videos:
        made = one.material
        found = read_cards_by_people(
            (*made.a_cards, *made.b_cards), rows_of(work, CardCheckRow, one.video_id)
        )
        name_unused(work, found.unused)
        if not found.read:
            continue
        taken += map(one.named, found.read)
        dropped += [one.dropped(gone, stage=CARD_STAGE) for gone in found.dropped]
        gone_names = {gone.what for gone in found.dropped}
        a_cards = tuple(
            msgspec.structs.replace(card, fits=(card.track_id,), identified_by=BY_PEOPLE)
            if f"{card.track_id}/A" in found.alone
            else card
            for card in made.a_cards
            if f"{card.track_id}/A" not in gone_names
        )
        b_cards = tuple(card for card in made.b_cards if f"{card.track_id}/B" not in gone_names)
        one.material = replace(made, a_cards=a_cards, b_cards=b_cards)
        one.settle("a_cards", "b_cards", otherwise="readers found that none of them can be used")
    _close(work, CARD_STAGE, taken=taken, dropped=dropped)


def use_false_checks(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Leave out false scene cards that are true, or that readers tell by their words; note the share told.

    Raises:
        DataError: the file has a fault; nothing of it is used.
    """
    rules = work.config.people
    if rules is None:
        return
    taken: list[str] = []
    dropped: list[Dropped] = []
    heard: list[WordsOnlyAnswer] = []
    n_unread = 0
    for one in videos:
        cards = one.material.scene_cards
        rows = rows_of(work, FalseCheckRow, one.video_id)
        found = read_false_by_people(cards, rows, most_told=rules.most_told)
        name_unused(work, found.unused)
        n_unread += len(found.unread)
        if not found.read:
            continue
        heard += [replace(said, card=one.named(said.card)) for said in found.heard]
        taken += map(one.named, found.read)
        dropped += [one.dropped(gone, stage=FALSE_STAGE) for gone in found.dropped]
        gone_names = {gone.what for gone in found.dropped}
        left = tuple(card for card in cards if card.card_id not in gone_names)
        one.material = replace(one.material, scene_cards=left)
        one.settle("scene_cards", otherwise="readers found that none of them can be used")
    _say_told(work, heard, n_unread=n_unread, most_told=rules.most_told)
    _close(work, FALSE_STAGE, taken=taken, dropped=dropped)


def _say_told(
    work: HerbenchSession, heard: Sequence[WordsOnlyAnswer], *, n_unread: int, most_told: float
) -> None:
    """Note the share of false descriptions that readers told; a share above `most_told` is a caution."""
    share = told_false(heard)
    if share is None:
        return
    n_told = sum(one.said == "false" for one in heard)
    said = f"{n_told} of {share.n} readings of false descriptions without the film said that they are false"
    work.ledger.notes.append(
        f"{FALSE_STAGE}: {said}: {share.words}; who guesses says so {CHANCE:.0%} of the time"
    )
    if share.value > most_told:
        rest = several(n_unread, "false description")
        caution = (
            f"{said}: {share.value:.0%}, more than the {most_told:.0%} that most_told in [people] allows. "
            f"Those told are left out; {rest} that nobody has read remain{'s' if n_unread == 1 else ''}"
        )
        work.ledger.cautions.append(caution)
        work.trouble(caution)


def _close(work: HerbenchSession, stage: str, *, taken: Sequence[str], dropped: Sequence[Dropped]) -> None:
    if taken:
        work.close(stage, unit="cards", taken=taken, dropped=dropped)
