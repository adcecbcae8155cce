"""Let ``vidence videos track`` follow a question configuration, so that both share cached results."""

from pathlib import Path
from urllib.parse import quote

from vidence.errors import UsageError
from vidence.make.herbench.config import HerbenchConfig, ShotRules, SourceRule, option_spec
from vidence.seeing.track_run import TrackJob


def job_of(config: HerbenchConfig, video: Path, *, root: Path) -> TrackJob:
    """The detector, tracker, cuts, frames and cleaning by which a configuration follows people in a video.

    Corrections of people, and what only the choice of people needs, have no part in it: a track keeps the
    number that it has before them.

    Args:
        config: the configuration.
        video: a file of one of its sources.
        root: the folder of the configuration.

    Raises:
        UsageError: it has no [tracking], or the video is none of its sources, or one whose tracks are given.
    """
    rules = config.tracking
    if rules is None:
        raise UsageError("the configuration has no [tracking]; add it, or leave out --config")
    rule = _rule_of(config, video, root=root)
    if rule.tracks:
        raise UsageError(
            f"the configuration gives the tracks of {video} ({rule.tracks}); say --tracks with this file in "
            "place of --config"
        )
    path, query, options = rule.detections.partition("?")
    detector = rules.detector
    if path:
        video_id = rule.video_id or video.stem
        detector = f"boxes:{root / path.format(video_id=video_id)}{query}{options}"
    ends = rules.end_at_cuts and config.shots is not None
    return TrackJob(
        detector=detector,
        tracker=rules.tracker,
        cuts=_spec(config.shots) if ends and config.shots is not None else "none",
        rate=rules.rate,
        refine=rules.refine,
    )


def _rule_of(config: HerbenchConfig, video: Path, *, root: Path) -> SourceRule:
    folder, wanted = root / config.videos, video.resolve()
    for rule in config.sources:
        paths = folder.glob(rule.path) if set("*?[") & set(rule.path) else [folder / rule.path]
        if any(path.resolve() == wanted for path in paths):
            return rule
    raise UsageError(f"{video} is none of the [[sources]] of the configuration; its videos lie in {folder}")


def _spec(rules: ShotRules) -> str:
    """The shot detector as it is written on the command line."""
    options = option_spec(rules.detector, rules.options).options
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in options.items())
    return f"{rules.detector}?{query}" if query else rules.detector
