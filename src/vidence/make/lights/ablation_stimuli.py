"""The clips of an ablation: one folder in ActPLD's format for each condition."""

import csv
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from vidence.ask.benchmarks.actpld import CLIP_COLUMNS, LABEL_COLUMNS
from vidence.errors import DataError, UsageError
from vidence.make.lights.ablation_config import (
    AblationConfig,
    Condition,
    spec_under,
)
from vidence.make.lights.ablation_motions import Shown, labels_of, recorded_clips, walker_clips
from vidence.media.cache import write_whole
from vidence.pointlight.drawing import frames
from vidence.pointlight.motion import Motion
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.staging import staged
from vidence.pointlight.stimulus import Stimulus, make_stimulus, without_dots
from vidence.pointlight.writing import motion_digest, write_video
from vidence.records import Record

VERSION = 1
STAMP = "stimuli.json"


class Stamp(Record, kw_only=True):
    """What a folder of clips was made from; written when all of them are there."""

    version: int
    condition: Condition
    spec: StimulusSpec
    motions: dict[str, str]


class Cast:
    """Everybody who is shown, read once; `notes` say which motions are left out, and why.

    Raises:
        DataError: no motion can be read.
        UsageError: points that there are not.
    """

    def __init__(self, config: AblationConfig, *, beside: Path) -> None:
        self.config = config
        motions = config.motions
        notes: tuple[str, ...] = ()
        if motions.table:
            clips, notes = recorded_clips(beside / motions.table, beside / motions.folder)
        else:
            clips = walker_clips(
                motions.n_each,
                duration_s=motions.duration_s,
                yaw_spread_deg=motions.yaw_spread_deg,
                seed=config.seed,
            )
        self._figures: dict[str, list[Motion]] = {}
        for clip in clips:
            try:
                self._figures[clip.clip_id] = staged(clip.sources, points=motions.points)
            except DataError as error:
                notes = (*notes, f"{clip.clip_id} is left out: {error}")
        self.clips = tuple(clip for clip in clips if clip.clip_id in self._figures)
        self.notes = notes
        if not self.clips:
            raise DataError(f"no motion can be read; {notes[-1]}")

    def figures(self, clip: Shown) -> list[Motion]:
        """The bodies of a clip."""
        return self._figures[clip.clip_id]

    def stimulus(self, clip: Shown, condition: Condition, *, undisturbed: bool = False) -> Stimulus:
        """A clip in a condition; `undisturbed` leaves out noise dots, jitter and dropout.

        Draws follow from the seed of the configuration and the id of the clip.

        Raises:
            UsageError: settings that leave nothing to show, or fewer dots than are wanted.
            DataError: a motion that is too short.
        """
        spec = spec_under(self.config, condition)
        figures = self.figures(clip)
        seed = int.from_bytes(hashlib.sha256(f"{self.config.seed}:{clip.clip_id}".encode()).digest()[:6])
        view = msgspec.structs.replace(spec.view, yaw_deg=spec.view.yaw_deg + clip.yaw_deg)
        fps = figures[0].fps if spec.fps is None else spec.fps
        start, n_frames = _part(clip, figures, fps=fps, longest_s=self.config.motions.duration_s)
        spec = msgspec.structs.replace(spec, view=view, start_frame=start, n_frames=n_frames, seed=seed)
        if undisturbed:
            spec = msgspec.structs.replace(spec, n_noise=0, jitter_m=0.0, dropout=0.0)
        if condition.n_dots is not None:
            # As large as with all its dots: size must not tell how many are left out.
            px_per_m = make_stimulus(figures, spec).px_per_m
            spec = msgspec.structs.replace(spec, px_per_m=px_per_m)
            figures = [_with_dots(f, condition.n_dots, seed=seed) for f in figures]
        return make_stimulus(figures, spec)


def _part(clip: Shown, figures: Sequence[Motion], *, fps: float, longest_s: float) -> tuple[int | None, int]:
    """Which frames of a motion are shown, at the rate of the display: the first, and how many."""
    n_all = min(int((f.n_frames - 1) / f.fps * fps) + 1 for f in figures)
    start = None if clip.start_s is None else int(clip.start_s * fps)
    n_frames = min(max(1, round(longest_s * fps)), n_all - (start or 0))
    if n_frames < 1:
        raise DataError(f"{clip.clip_id}: the motion ends before the part that is to be shown")
    return start, n_frames


def _with_dots(figure: Motion, n_dots: int, *, seed: int) -> Motion:
    """A figure with so many of its dots: fewer dots are a part of more."""
    if n_dots > len(figure.names):
        raise UsageError(f"{n_dots} dots are wanted, and the figure has {len(figure.names)}")
    order = np.random.default_rng(seed).permutation(len(figure.names))
    return without_dots(figure, [figure.names[i] for i in order[n_dots:]])


def write_condition(
    cast: Cast, condition: Condition, folder: Path, *, on_clip: Callable[[str], None]
) -> tuple[str, ...]:
    """Render all clips of a condition, unless the folder has them already; say which could not be.

    Raises:
        UsageError: the folder holds clips that were made from something else.
        DataError: no clip could be made.
    """
    stamp = Stamp(
        version=VERSION,
        condition=msgspec.structs.replace(condition, place=0.0),
        spec=spec_under(cast.config, condition),
        motions={c.clip_id: "+".join(motion_digest(f) for f in cast.figures(c)) for c in cast.clips},
    )
    wanted = msgspec.json.encode({"stamp": stamp, "clips": cast.clips, "seed": cast.config.seed})
    path = folder / STAMP
    if path.exists():
        if path.read_bytes() != wanted:
            raise UsageError(
                f"{folder} holds clips made from other settings; choose another --out, or remove it"
            )
        return ()
    troubles: list[str] = []
    rows: list[dict[str, str]] = []
    for clip in cast.clips:
        try:
            made = cast.stimulus(clip, condition)
        except DataError as error:
            troubles.append(f"{condition.name}: {clip.clip_id}: {error}")
            continue
        target = folder / "clips" / f"{clip.clip_id}.mp4"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_video(list(frames(made)), target, fps=made.fps)
        on_clip(clip.clip_id)
        rows.append(
            {
                "clip_id": clip.clip_id,
                "path": f"clips/{target.name}",
                "set": "social" if len(clip.sources) == 2 else "single",
                "label": clip.label,
                "intention": clip.intention,
            }
        )
    if not rows:
        raise DataError(f"no clip could be shown in the condition {condition.name}; {troubles[-1]}")
    write_whole(folder / "clips.csv", _table(CLIP_COLUMNS, rows))
    labels = labels_of(cast.clips)
    named = [{"target": t, "name": n, "group": g} for (t, n), g in labels.items()]
    write_whole(folder / "labels.csv", _table(LABEL_COLUMNS, named))
    write_whole(path, wanted)
    return tuple(troubles)


def _table(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
