"""Sources of questions: configured videos, and those named by logs."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from vidence.ask.files import FieldError
from vidence.catalog import create
from vidence.errors import DataError, MediaError, UsageError
from vidence.make.herbench.config import HerbenchConfig, LogRule, SourceRule, option_spec
from vidence.make.pipeline.material import Dropped, Event, VideoSource
from vidence.make.sources.event_log import EventLog, EventLogReader
from vidence.make.sources.logs.files import csv_rows
from vidence.media.files import read_facts
from vidence.text import some

STAGE = "sources"
_MOST_NAMED = 5
_NO_NAME = re.compile(r"[/\\]|\.\.")
# Folders and endings of what people gave of each video, and the part of its rule.
_OF_PEOPLE = (("tracks", ".txt", "tracks"), ("cards", ".jsonl", "cards"), ("scenes", ".jsonl", "scene_cards"))


@dataclass(frozen=True, kw_only=True)
class Source:
    """One video: what is known of it, its file (None: not here), its narrated events.

    `laid_over` are patterns of people's files whose rows stand in place of what others wrote, by the part of
    `rule` that they are about.
    """

    video: VideoSource
    file: Path | None
    events: tuple[Event, ...] = ()
    rule: SourceRule
    laid_over: Mapping[str, str] = field(default_factory=dict)

    def beside(self, pattern: str, folder: Path) -> Path | None:
        """Return the file for a video by a pattern of the configuration; None if it does not exist."""
        return folder / pattern.format(video_id=self.video.video_id) if pattern else None

    def boxes(self, folder: Path) -> str:
        """The spec of the boxes that were detected elsewhere; empty if a detector is to look."""
        pattern, query, options = self.rule.detections.partition("?")
        return f"boxes:{self.beside(pattern, folder)}{query}{options}" if pattern else ""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """All sources in the order of the configuration, those that cannot be used, and what logs give.

    `events` are those of all videos of the logs, also of such that no questions are made about: foils come
    from them. `unused_events` are rows of logs that cannot be used, and events that a video does not have.
    `remarks` name what is unusual about videos that are used, a sentence for each kind.
    """

    sources: tuple[Source, ...]
    dropped: tuple[Dropped, ...] = ()
    events: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    unused_events: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[str, ...]:
        """The ids of everything that was found, usable or not."""
        return (*(s.video.video_id for s in self.sources), *(d.what for d in self.dropped))


@dataclass(frozen=True, kw_only=True)
class _VideoRequest:
    """A video before it is looked at."""

    video_id: str
    file: Path
    path: str
    rule: SourceRule
    log: LogRule | None = None


@dataclass(frozen=True, kw_only=True)
class _ListedVideo:
    """What a table or a file says of a video; zeros where nothing is known."""

    fps: float = 0.0
    duration_s: float = 0.0
    width_px: int = 0
    height_px: int = 0


def find_sources(
    config: HerbenchConfig,
    folder: Path,
    *,
    cache_root: Path | None,
    limit: int | None,
    look_ahead: Callable[[Sequence[Path]], None] = lambda files: None,
) -> Sources:
    """Find the videos, look into their files, and give each its events.

    Args:
        config: the configuration.
        folder: where its paths start from.
        cache_root: where facts about files are kept.
        limit: use only this many videos, the first ones; None uses all.
        look_ahead: is given the files first, before they are looked into one by one.

    Raises:
        UsageError: a pattern that finds nothing, or two videos with one id.
        DataError: a log or a table that cannot be used.
    """
    videos = folder / config.videos
    logs = [(rule, _read_log(rule, folder)) for rule in config.logs]
    events: dict[str, tuple[Event, ...]] = {}
    for rule, log in logs:
        for video_id, event in log.events.items():
            if video_id in events:
                raise UsageError(
                    f"two logs speak of the video {video_id!r}, the second is {rule.path}; keep one"
                )
            events[video_id] = event
    wanted = list(_wanted(config, videos, logs=logs))
    _check_ids(wanted)
    tables = {rule.table: _read_table(folder / rule.table) for rule in config.logs if rule.table}
    sources: list[Source] = []
    dropped: list[Dropped] = []
    unused = list(_bad_rows(logs))
    unusual: dict[str, list[str]] = defaultdict(list)
    look_ahead([video_request.file for video_request in wanted[:limit] if video_request.file.exists()])
    for request in wanted[:limit]:
        try:
            video, file = _source(
                request, events.get(request.video_id, ()), tables=tables, cache_root=cache_root
            )
            for what, words in _unusual(request, file, cache_root=cache_root):
                unusual[what].append(words)
        except MediaError as error:
            needed = (
                "; its tracks need it: size, times and looks are read from it" if request.rule.tracks else ""
            )
            detail = f"{error}{needed}"
            dropped.append(
                Dropped(what=request.video_id, stage=STAGE, reason="unreadable-video", detail=detail)
            )
            continue
        inside, late = _inside(events.get(request.video_id, ()), video)
        mine, over = _with_people(request.rule, config, folder, video_id=request.video_id)
        sources.append(Source(video=video, file=file, events=inside, rule=mine, laid_over=over))
        unused.extend(late)
    return Sources(
        sources=tuple(sources),
        dropped=tuple(dropped),
        events=events,
        unused_events=tuple(unused),
        notes=tuple(note for _, log in logs for note in log.notes),
        remarks=tuple(what.format(some(names, most=_MOST_NAMED)) for what, names in unusual.items()),
    )


def _with_people(
    rule: SourceRule, config: HerbenchConfig, folder: Path, *, video_id: str
) -> tuple[SourceRule, dict[str, str]]:
    """The rule of a video, and what is laid over it, with the files of the folder of ``[people]``.

    Tracks there are taken in place of boxes and a detector.

    Raises:
        DataError: such a file is a link, which may lead elsewhere.
    """
    given: dict[str, str] = {}
    if config.people is None or _NO_NAME.search(video_id):
        return rule, given
    for name, ending, kind in _OF_PEOPLE:
        path = folder / config.people.folder / name / f"{video_id}{ending}"
        if path.is_symlink():
            raise DataError(f"{path} is a link; put the file itself there")
        pattern = f"{config.people.folder}/{name}/{{video_id}}{ending}"
        if path.is_file() and getattr(rule, kind) != pattern:
            given[kind] = pattern
    if (tracks := given.pop("tracks", "")) and not rule.tracks:
        rule = msgspec.structs.replace(rule, tracks=f"mot:{tracks}", detections="")
    return rule, given


def _unusual(
    request: _VideoRequest, file: Path | None, *, cache_root: Path | None
) -> Iterator[tuple[str, str]]:
    """What is unusual about a file that is used: a sentence with a gap for names, and its own name."""
    if file is None:
        return
    probe = read_facts(file, kind="video", cache_root=cache_root).probe
    if probe.problem:
        yield "of damaged videos what can be read is used: {}", f"{request.path} ({probe.problem})"
    if probe.height_px > probe.width_px:
        turned = f", turned by {probe.rotation_deg} degrees" if probe.rotation_deg else ""
        yield (
            "upright videos are used as they are shown: {}",
            f"{request.path} ({probe.width_px}x{probe.height_px}{turned})",
        )
    if probe.counted.is_variable:
        rate = f"{probe.counted.fps:.1f} frames a second on average"
        yield (
            "videos of variable frame rate are used with the time of each frame: {}",
            f"{request.path} ({rate})",
        )


def _read_log(rule: LogRule, folder: Path) -> EventLog:
    """The log, with the files in what it says named as the configuration does; accounts are published."""
    reader: EventLogReader = create("event-log", option_spec(rule.format, rule.options))
    path = folder / rule.path
    log = reader.read(path)
    return replace(
        log,
        problems=tuple(problem.replace(str(path), _named(rule)) for problem in log.problems),
        notes=tuple(note.replace(str(path), _named(rule)) for note in log.notes),
    )


def _named(rule: LogRule) -> str:
    """Return a log's path from the configuration, or its bare name if outside."""
    path = Path(rule.path)
    return path.name if path.is_absolute() else path.as_posix()


def _bad_rows(logs: Sequence[tuple[LogRule, EventLog]]) -> Iterator[Dropped]:
    counts: Counter[str] = Counter()
    for rule, log in logs:
        name = _named(rule)
        for problem in log.problems:
            counts[name] += 1
            yield Dropped(
                what=f"{name} problem {counts[name]}", stage="events", reason="bad-row", detail=problem
            )


def _wanted(
    config: HerbenchConfig, videos: Path, *, logs: Sequence[tuple[LogRule, EventLog]]
) -> Iterator[_VideoRequest]:
    for rule in config.sources:
        files = sorted(videos.glob(rule.path)) if set("*?[") & set(rule.path) else [videos / rule.path]
        if not files:
            raise UsageError(f"the pattern {rule.path!r} in [[sources]] finds no file in {videos}")
        if rule.video_id and len(files) > 1:
            raise UsageError(
                f"the pattern {rule.path!r} finds {len(files)} videos and gives all of them the id "
                f"{rule.video_id!r}; leave out video_id, and each has the name of its file"
            )
        for file in files:
            path = file.relative_to(videos).as_posix()
            yield _VideoRequest(video_id=rule.video_id or file.stem, file=file, path=path, rule=rule)
    named = {rule.video_id or Path(rule.path).stem for rule in config.sources}
    for log_rule, log in logs:
        if log_rule.media:
            for video_id in log.events:
                if video_id not in named:
                    path = log_rule.media.format(video_id=video_id)
                    rule = SourceRule(path=path, collection=log_rule.collection, licence=log_rule.licence)
                    yield _VideoRequest(
                        video_id=video_id, file=videos / path, path=path, rule=rule, log=log_rule
                    )


def _check_ids(wanted: Sequence[_VideoRequest]) -> None:
    seen: dict[str, _VideoRequest] = {}
    for request in wanted:
        first = seen.setdefault(request.video_id, request)
        if first is not request:
            raise UsageError(
                f"{first.path} and {request.path} both have the id {request.video_id!r}; give one "
                "of them a video_id"
            )


def _source(
    request: _VideoRequest,
    events: Sequence[Event],
    *,
    tables: Mapping[str, Mapping[str, _ListedVideo]],
    cache_root: Path | None,
) -> tuple[VideoSource, Path | None]:
    """What is known of a video; without its file what the table or the log of its events says."""
    if request.file.exists() or request.log is None:
        facts = read_facts(request.file, kind="video", cache_root=cache_root)
        probe, counted = facts.probe, facts.probe.counted
        known = _ListedVideo(
            fps=counted.fps, duration_s=counted.duration_s, width_px=probe.width_px, height_px=probe.height_px
        )
        n_frames, sha256, file = len(facts.times_s), facts.content_hash, request.file
    else:
        unlisted = _ListedVideo(duration_s=max((e.end_s for e in events), default=0.0))
        known = tables.get(request.log.table, {}).get(request.video_id, unlisted)
        n_frames, sha256, file = round(known.fps * known.duration_s), "", None
    video = VideoSource(
        video_id=request.video_id,
        path=request.path,
        source_id=request.rule.source_id,
        n_frames=n_frames,
        fps=known.fps,
        duration_s=known.duration_s,
        width_px=known.width_px,
        height_px=known.height_px,
        sha256=sha256,
        collection=request.rule.collection,
        licence=request.rule.licence,
    )
    return video, file


def _inside(events: Sequence[Event], video: VideoSource) -> tuple[tuple[Event, ...], list[Dropped]]:
    """The events of a video that begin before its end; a later one is of another cut of it."""
    late = [
        Dropped(
            what=f"{video.video_id}: {e.event_id}",
            stage="events",
            reason="after-the-video",
            detail=f"begins at {e.start_s:g} s; the video has {video.duration_s:g} s",
        )
        for e in events
        if e.start_s >= video.duration_s
    ]
    return tuple(e for e in events if e.start_s < video.duration_s), late


def _read_table(path: Path) -> dict[str, _ListedVideo]:
    """What a table says of videos, by their ids; with ``.gz`` it is unpacked.

    Raises:
        DataError: it cannot be read, lacks a column, or has an invalid value; with its line.
    """
    values: dict[str, _ListedVideo] = {}
    for where, row in csv_rows(path, needs=("video_id", "duration", "fps", "resolution")):
        if isinstance(row, FieldError):
            raise DataError(f"{where}: {row}")
        width, _, height = row["resolution"].partition("x")
        try:
            video = _ListedVideo(
                fps=float(row["fps"]),
                duration_s=float(row["duration"]),
                width_px=int(width),
                height_px=int(height),
            )
            usable = min(video.fps, video.duration_s, video.width_px, video.height_px) > 0
        except ValueError:
            usable = False
        if not usable:
            raise DataError(
                f"{where}: duration {row['duration']!r}, fps {row['fps']!r}, resolution "
                f"{row['resolution']!r} found; expected numbers above 0, and WIDTHxHEIGHT"
            )
        values[row["video_id"]] = video
    return values
