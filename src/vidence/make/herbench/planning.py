"""Foresee the yield of a configuration before a run: question counts, and what is missing."""

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vidence.catalog import Spec, create
from vidence.errors import AccessError, DataError, MediaError, UnknownNameError, UsageError
from vidence.make.gates.rules import ReviewRules
from vidence.make.herbench.cards.card_files import kinds_in
from vidence.make.herbench.cards.scene_files import are_described
from vidence.make.herbench.config import BY_PEOPLE, HerbenchConfig, option_spec
from vidence.make.herbench.drafting import TaskOrder
from vidence.make.herbench.hints import (
    NEED_TRACKS,
    Tables,
    additions,
    eyes_for,
    lacked_by_all,
    lacks,
    lines_that_add,
    listed,
    named,
    wants_people,
)
from vidence.make.herbench.report_tables import TASK
from vidence.make.herbench.session import VIDEO_ID
from vidence.make.herbench.sources import Source, Sources
from vidence.make.herbench.tasks.candidates import LEAST_EVIDENCE
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import Outlook
from vidence.make.review.decision import clean_needed
from vidence.make.review.people.rows import EVERYBODY, CountRow, TrackRow, read_rows
from vidence.media.video import Video
from vidence.seeing.following import open_describer, open_detector
from vidence.seeing.given_tracks import open_tracks
from vidence.tables.table import Table, count, lines, several, tabulate, words

_PEOPLE = ("a_cards", "b_cards")
MOST_CELL: Final = 28
"""Longer texts are cut in tables of the terminal."""
_HEADING: Final = re.compile(r"\[+\w+\]+")


@dataclass(frozen=True, kw_only=True)
class TaskOutlook:
    """A task's highest yield and number of videos, or what to add before it yields anything.

    `eyes` are what its questions rest on.
    """

    code: str
    eyes: Tables
    n_videos: int
    most: int
    lacks: Tables = ()


def foresee(
    config: HerbenchConfig,
    sources: Sources,
    orders: Sequence[TaskOrder],
    *,
    path: Path,
    root: Path,
    open_video: Callable[[Path], Video],
) -> Outlook:
    """Return the outlook of a configuration: sentences by importance, and a table of tasks.

    How many questions a task gives is bounded by its quotas and by what the sources have; how many people or
    shots a video shows is not known before it was watched.

    Args:
        config: the configuration.
        sources: its sources.
        orders: the tasks that are wanted.
        path: its file, for the sentences.
        root: the folder that its paths start from.
        open_video: opens a video, to see whether the tracks that people gave are of it.

    Raises:
        UnknownNameError: no such detector or tracker.
        DataError: a file of cards, of boxes or of tracks that does not exist or cannot be used, or tracks of
            another video.
    """
    of_tracks = check_tracks(sources.sources, root=root, open_video=open_video)
    parts = {part for order in orders for part in order.task.needs}
    seeing, blind = without_blind(config, sources.sources, parts=parts)
    tasks = [_outlook(order, sources.sources, seeing, root=root) for order in orders]
    able = [task for task in tasks if task.most]
    most = sum(outlook.most for outlook in able)
    messages = [f"{path} makes sense" if able else f"{path} can be read, and gives no question as it is"]
    messages.append(_sources_words(sources))
    if able:
        messages.append(
            f"At most {several(most, 'question')} of {several(len(able), 'task')}: "
            f"{', '.join(f'{outlook.code} {outlook.most:,}' for outlook in able)}."
        )
    messages += additions({task.code: task.lacks for task in tasks if not task.most})
    messages += (f"Note: {note}." for note in (*blind, *sources.remarks, *of_tracks))
    if config.review is not None and able:
        messages.append(review_words(config.review))
    messages += lines_that_add((task.lacks for task in tasks if not task.most), config, path=path)
    return Outlook(sentences=tuple(messages), tables=(_table(tasks),), can_make=bool(able))


def without_blind(
    config: HerbenchConfig, sources: Sequence[Source], *, parts: Collection[str]
) -> tuple[HerbenchConfig, tuple[str, ...]]:
    """Return the configuration without what cannot see here, and why it cannot.

    Args:
        config: the configuration.
        sources: who has given tracks or boxes needs no detector.
        parts: what tasks need; other eyes are not opened.

    Raises:
        UnknownNameError: no such detector, tracker or describer.
    """
    blind: list[str] = []

    def sees(kind: str, spec: str | Spec) -> bool:
        try:
            opened = create(kind, spec)
            if kind == "tracker":
                open_describer(opened.describer or "colour")
        except UnknownNameError:
            raise
        except (UsageError, AccessError, DataError) as error:
            blind.append(f"the {kind} {spec if isinstance(spec, str) else spec.name} cannot be used: {error}")
            return False
        return True

    tracking, shots, is_followed = config.tracking, config.shots, bool(set(parts) & set(NEED_TRACKS))
    if tracking is not None and is_followed:
        if any(not (s.rule.tracks or s.rule.detections) for s in sources if s.file is not None):
            detector = tracking.detector if sees("detector", tracking.detector) else ""
            tracking = msgspec.structs.replace(tracking, detector=detector)
        if tracking.second and "{video_id}" not in tracking.second:
            sees("detector", tracking.second)
        tracking = tracking if sees("tracker", tracking.tracker) else None
    if shots is not None and (is_followed or "shots" in parts):
        specs = (option_spec(shots.detector, shots.options), shots.second)
        shots = shots if all(sees("shot-detector", spec) for spec in specs if spec) else None
    return msgspec.structs.replace(config, tracking=tracking, shots=shots), tuple(blind)


def check_tracks(
    sources: Sequence[Source], *, root: Path, open_video: Callable[[Path], Video]
) -> tuple[str, ...]:
    """Check that given tracks and boxes exist and that tracks match their videos; return further notes.

    Raises:
        DataError: some are not; all that are not are named.
    """
    faults: list[str] = []
    notes: list[str] = []
    for source in sources:
        if source.file is None:
            continue
        try:
            if boxes := source.boxes(root):
                open_detector(boxes)
            if not source.rule.tracks:
                continue
            given = open_tracks(source.rule.tracks.format(video_id=source.video.video_id), folder=root)
            notes += given.of(open_video(source.file)).notes
        except (DataError, MediaError) as error:
            kind = "tracks" if source.rule.tracks else "boxes"
            faults.append(f"the {kind} of the video {source.video.video_id}: {error}")
    if faults:
        raise DataError("\n".join(faults))
    return tuple(notes)


def _outlook(
    order: TaskOrder, sources: Sequence[Source], config: HerbenchConfig, *, root: Path
) -> TaskOutlook:
    task, rules = order.task, order.rules
    able = [
        source
        for source in sources
        if not lacks(task, source, config)
        and ("events" not in task.needs or len(source.events) >= LEAST_EVIDENCE)
        and _has_cards(order, source, config, root=root)
        and _has_scenes(order, source, config, root=root)
        and _has_counts(order, source, config, root=root)
    ]
    most = len(able) * rules.per_video
    missing = lacked_by_all(task, sources, config)
    if not able and not missing and sources:
        missing = _too_little(order, config)
    eyes = (name for source in able or sources for name in eyes_for(task, source, config))
    return TaskOutlook(
        code=task.code,
        eyes=tuple(dict.fromkeys(eyes)),
        n_videos=len(able),
        most=most if rules.total is None else min(most, rules.total),
        lacks=missing,
    )


def _has_cards(order: TaskOrder, source: Source, config: HerbenchConfig, *, root: Path) -> bool:
    """Whether a file of cards has one of each kind that the task needs; a model may write any."""
    step = config.cards
    has_model = step is not None and step.model not in ("", BY_PEOPLE)
    alone = "" if has_model else source.laid_over.get("cards", "")
    pattern = source.rule.cards or ("" if step is None else step.file) or alone
    path = source.beside(pattern, root)
    kinds = {name[0].upper() for name in _PEOPLE if name in order.task.needs}
    if path is None or not kinds:
        return True
    if VIDEO_ID in pattern and not path.exists():  # such a video is shown to the model, where there is one
        return step is not None and bool(step.model)
    video_id = source.video.video_id
    try:
        return kinds <= kinds_in(path, video_id)
    except DataError as error:
        raise DataError(f"the cards of the video {video_id}: {error}") from error


def _has_scenes(order: TaskOrder, source: Source, config: HerbenchConfig, *, root: Path) -> bool:
    """Whether a video's file of scene cards describes a shot; a model may describe those without a file."""
    step = config.scenes
    alone = "" if step is not None and step.model else source.laid_over.get("scene_cards", "")
    path = source.beside(source.rule.scene_cards or alone, root)
    if "scene_cards" not in order.task.needs or path is None:
        return True
    if VIDEO_ID in source.rule.scene_cards and not path.exists():
        return step is not None and bool(step.model)
    try:
        return are_described(path, source.video.video_id)
    except DataError as error:
        raise DataError(f"the cards of the video {source.video.video_id}: {error}") from error


def _has_counts(order: TaskOrder, source: Source, config: HerbenchConfig, *, root: Path) -> bool:
    """Whether people answer for how many there are in a video, or the task does not ask."""
    if config.people is None or not wants_people(order.task, source):
        return True
    folder, video_id = root / config.people.folder, source.video.video_id
    answered = any(
        row.track_id == EVERYBODY and row.video_id == video_id
        for row in read_rows(folder, TrackRow, videos=None)
    )
    return answered or any(row.video_id == video_id for row in read_rows(folder, CountRow, videos=None))


def _too_little(order: TaskOrder, config: HerbenchConfig) -> Tables:
    if "events" in order.task.needs:
        return (f"a log with {LEAST_EVIDENCE} events of a video or more",)
    if kinds := " and ".join(f"{name[0].upper()}-cards" for name in _PEOPLE if name in order.task.needs):
        return (f"{kinds} in files",)
    if "scene_cards" in order.task.needs:
        return ("sentences in scene cards",)
    return ("counts, or rows on everybody",)


def _sources_words(sources: Sources) -> str:
    n = len(sources.sources)
    here = sum(source.file is not None for source in sources.sources)
    words = f"{several(n, 'video')} can be used"
    if here < n:
        words += f", {here:,} of them here (of the others only logs are asked about)"
    if sources.dropped:
        words += f"; {len(sources.dropped):,} cannot: {named([_why(dropped) for dropped in sources.dropped])}"
    return f"{words}."


def _why(gone: Dropped) -> str:
    return f"{gone.what} ({gone.detail})"


def review_words(rules: ReviewRules) -> str:
    """Return how many reviews release the rest of each task, before review starts."""
    clean = clean_needed(rules)
    size = math.ceil(clean / rules.share)
    review_words = (
        f"Review: the unreviewed rest of a task is released after {several(clean, 'review')} or more "
        f"without a rejection (upper end of Wilson's interval at {rules.most_rejected:g} or less)"
    )
    if rules.each_task >= clean:
        return f"{review_words}; each_task = {rules.each_task} has so many of every task looked at."
    return (
        f"{review_words}; share = {rules.share:g} draws these of tasks with about {size:,} "
        "questions and more, "
        f"each_task = {clean} in [review] of every task."
    )


def _brief(lacks: Tables) -> str:
    """What is to be added, in a cell: only the headings of tables where whole words would be cut."""
    whole = listed(lacks) if lacks else ""
    if len(whole) <= MOST_CELL:
        return whole
    named = ((_HEADING.search(lack), lack) for lack in lacks)
    return ", ".join(dict.fromkeys(name if match is None else match[0] for match, name in named))


def _table(tasks: Sequence[TaskOutlook]) -> Table:
    return tabulate(
        "outlook",
        "What can be made",
        label=TASK,
        rows=lines((task.code, task) for task in tasks),
        measures=(
            count("most", lambda outlook: outlook.most, "at most"),
            count("videos", lambda outlook: outlook.n_videos, "of videos"),
            words("eyes", lambda outlook: ", ".join(outlook.eyes), "by"),
            words("lacks", lambda outlook: _brief(outlook.lacks), "add"),
        ),
        notes=(
            "Bounds from the quotas and from what the sources have; how many people and shots a video shows "
            "is known when it was watched.",
        ),
    )
