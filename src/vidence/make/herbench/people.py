"""People's files in a session: the rows of each video, and reports of unused ones."""

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
from vidence.make.review.people.rows import CardCheckRow, CountRow, FalseCheckRow, RowT, Unused, read_rows
from vidence.tables.table import several


def folder_of(work: HerbenchSession) -> Path | None:
    """Return the folder of people's files; None if not configured."""
    rules = work.config.people
    return None if rules is None else work.root / rules.folder


def rows_of(work: HerbenchSession, kind: type[RowT], video_id: str) -> tuple[RowT, ...]:
    """Return the rows of a kind about a video in order; files are read once per session.

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
    """Give every video people's counts, and note the tracks' counts for comparison.

    Raises:
        DataError: the file has a fault; nothing of it is used.
    """
    for video in videos:
        source = video.source.video
        rows = rows_of(work, CountRow, video.video_id)
        counts, unused = agreed_counts(rows, sha256=source.sha256, n_frames=source.n_frames)
        name_unused(work, unused)
        if not counts:
            continue
        video.material = replace(video.material, counts=counts)
        video.digests["counts"] = digest_of(counts)
        tracked = video.material.tracked
        for count in counts:
            by_tracks = None if tracked is None else moments_of_tracks(count, tracked)
            message = (
                f"{video.video_id}, {count.place}: persons counted {count.n} ({count.n_low} to "
                f"{count.n_high})"
            )
            facts = facts_of(count, n_by_tracks=None if by_tracks is None else len(by_tracks))
            if "share found by tracks" in facts:
                message += f", tracks {facts['counted by tracks']}: recall {facts['share found by tracks']}"
            work.ledger.notes.append(f"{message}; counted by {facts['counted by']}")


def name_unused(work: HerbenchSession, unused: Iterable[Unused], *, about: str = "") -> None:
    """Report unused rows (`about` a video) with reasons, to the user and the account."""
    for entry in unused:
        words = f"{about}: {entry}" if about else str(entry)
        work.ledger.notes.append(words)
        work.trouble(words)


def use_card_checks(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Drop cards that readers matched to several people or none; mark those matched to one.

    Raises:
        DataError: the file has a fault; nothing of it is used.
    """
    taken: list[str] = []
    dropped: list[Dropped] = []
    for video in videos:
        material = video.material
        readings = read_cards_by_people(
            (*material.a_cards, *material.b_cards), rows_of(work, CardCheckRow, video.video_id)
        )
        name_unused(work, readings.unused)
        if not readings.read:
            continue
        taken += map(video.named, readings.read)
        dropped += [video.dropped(gone, stage=CARD_STAGE) for gone in readings.dropped]
        gone_names = {gone.what for gone in readings.dropped}
        a_cards = tuple(
            msgspec.structs.replace(card, fits=(card.track_id,), identified_by=BY_PEOPLE)
            if f"{card.track_id}/A" in readings.alone
            else card
            for card in material.a_cards
            if f"{card.track_id}/A" not in gone_names
        )
        b_cards = tuple(card for card in material.b_cards if f"{card.track_id}/B" not in gone_names)
        video.material = replace(material, a_cards=a_cards, b_cards=b_cards)
        video.settle("a_cards", "b_cards", otherwise="readers found that none of them can be used")
    _close(work, CARD_STAGE, taken=taken, dropped=dropped)


def use_false_checks(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Drop false scene cards that are true or recognizable by wording; note the recognition rate.

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
    for video in videos:
        cards = video.material.scene_cards
        rows = rows_of(work, FalseCheckRow, video.video_id)
        readings = read_false_by_people(cards, rows, most_told=rules.most_told)
        name_unused(work, readings.unused)
        n_unread += len(readings.unread)
        if not readings.read:
            continue
        heard += [replace(answer, card=video.named(answer.card)) for answer in readings.heard]
        taken += map(video.named, readings.read)
        dropped += [video.dropped(gone, stage=FALSE_STAGE) for gone in readings.dropped]
        gone_names = {gone.what for gone in readings.dropped}
        left = tuple(card for card in cards if card.card_id not in gone_names)
        video.material = replace(video.material, scene_cards=left)
        video.settle("scene_cards", otherwise="readers found that none of them can be used")
    _say_told(work, heard, n_unread=n_unread, most_told=rules.most_told)
    _close(work, FALSE_STAGE, taken=taken, dropped=dropped)


def _say_told(
    work: HerbenchSession, heard: Sequence[WordsOnlyAnswer], *, n_unread: int, most_told: float
) -> None:
    """Note the rate of recognized false descriptions; a rate above `most_told` is a caution."""
    share = told_false(heard)
    if share is None:
        return
    n_told = sum(answer.said == "false" for answer in heard)
    message = (
        f"{n_told} of {share.n} readings of false descriptions without the film said that they are false"
    )
    work.ledger.notes.append(f"{FALSE_STAGE}: {message}: {share.words}; guessing gives {CHANCE:.0%}")
    if share.value > most_told:
        rest = several(n_unread, "false description")
        caution = (
            f"{message}: {share.value:.0%}, more than the {most_told:.0%} that most_told in [people] allows. "
            f"Recognized ones are dropped; {rest} without readings remain{'s' if n_unread == 1 else ''}"
        )
        work.ledger.cautions.append(caution)
        work.trouble(caution)


def _close(work: HerbenchSession, stage: str, *, taken: Sequence[str], dropped: Sequence[Dropped]) -> None:
    if taken:
        work.close(stage, unit="cards", taken=taken, dropped=dropped)
