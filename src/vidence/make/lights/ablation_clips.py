"""Render the clips of an ablation: one folder in ActPLD's format for each condition."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from vidence.ask.benchmarks.actpld import CLIP_COLUMNS
from vidence.errors import DataError, UsageError
from vidence.make.lights.ablation_config import AblationConfig, Condition, conditions, spec_under, unique
from vidence.make.lights.clips import name_of
from vidence.make.lights.parts import cut
from vidence.make.lights.tables import labels_table, sources_of, table
from vidence.make.lights.trials import Trial, files_of, motion_files, read_map, with_paths
from vidence.media.whole import write_whole
from vidence.pointlight.drawing import frames
from vidence.pointlight.figures import WALKER, staged
from vidence.pointlight.motion import Motion
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import Stimulus, make_stimulus
from vidence.pointlight.writing import motion_digest, write_video

VERSION = 3
STAMP = "stimuli.json"
# What the built-in figure does, and why (after what such an action is usually for), with its semantic group.
WALKER_ACTIONS = {
    "walk": ("locomotion", "to get somewhere"),
    "run": ("locomotion", "to get somewhere fast"),
    "jump": ("jumping", "to reach something high"),
    "jumping-jack": ("jumping", "to exercise"),
    "squat": ("bending", "to train the legs"),
    "bow": ("bending", "to show respect"),
    "wave": ("on the spot", "to greet"),
    "stand": ("on the spot", "to wait"),
}


_RATES = {"jumping-jack": 1.0, "squat": 0.5, "bow": 0.33, "wave": 1.5, "stand": 0.3}
_SPEEDS = {"walk": 1.3, "run": 3.2}


class AblationTrial(Trial):
    """A trial that is shown in every condition; its files are paths, or ``walker:ACTION?key=value``."""

    start_s: float | None = None
    """Where the clip begins in the part of the motion; None: in the middle."""


def walker_clips(
    n_each: int, *, duration_s: float, yaw_spread_deg: float, seed: int
) -> Iterator[AblationTrial]:
    """The built-in figure: every action `n_each` times, each by somebody else and at a pace of their own.

    Heights are 1.5 to 1.95 m, speeds and rates 0.85 to 1.15 times the usual, jumps 0.2 to 0.4 m high; the
    angle of view varies by `yaw_spread_deg` to both sides, and where in its cycle a clip begins is drawn too.

    Args:
        n_each: clips of each action.
        duration_s: how long a clip is, in seconds.
        yaw_spread_deg: in degrees.
        seed: where the draws come from.
    """
    rng = np.random.default_rng(seed)
    for action, (group, intention) in WALKER_ACTIONS.items():
        for number in range(1, n_each + 1):
            pace, start_s = rng.uniform(0.85, 1.15), round(float(rng.uniform(0.6, 2.6)), 3)
            options = {
                "duration_s": start_s + duration_s + 0.1,
                "height_m": rng.uniform(1.5, 1.95),
                "jump_m": rng.uniform(0.2, 0.4),
            }
            if action in _SPEEDS:
                options["speed_m_s"] = _SPEEDS[action] * pace
            if action in _RATES:
                options["rate_hz"] = _RATES[action] * pace
            words = "&".join(f"{key}={value:.3f}" for key, value in options.items())
            yield AblationTrial(
                clip_id=f"{action}-{number:02d}",
                label=action,
                set="single",
                intention=intention,
                group=group,
                files=(f"{WALKER}:{action}?{words}",),
                yaw_deg=round(float(rng.uniform(-yaw_spread_deg, yaw_spread_deg)), 1),
                start_s=start_s,
            )


def recorded_clips(table: Path, folder: Path) -> tuple[tuple[AblationTrial, ...], tuple[str, ...]]:
    """The clips of a table as for ``vidence make actpld``, and what is wrong with the others, summed up.

    Raises:
        DataError: the table cannot be read, or none of its motions is there.
    """
    read, known = read_map(table), motion_files(folder)
    wrong: dict[str, list[str]] = {}
    for row in read.dropped:
        wrong.setdefault(row.detail, []).append(row.what)
    notes: list[str] = []
    for detail, rows in wrong.items():
        notes.append(f"{rows[0]}{f' and {len(rows) - 1} more' if len(rows) > 1 else ''}: {detail}")
    found = [(trial, files_of(trial, folder, known)) for trial in read.trials]
    clips = [
        AblationTrial(**{**msgspec.structs.asdict(trial), "files": files})
        for trial, files in found
        if not isinstance(files, str)
    ]
    without = [f"{t.clip_id}: {files}" for t, files in found if isinstance(files, str)]
    if without:
        more = f", and {len(without) - 1} more rows have no motion either" if len(without) > 1 else ""
        notes.append(f"{without[0]}{more}")
    if not clips:
        raise DataError(
            f"{table}: none of its {len(read.taken)} rows has its motion in {folder}; {notes[-1]}"
        )
    return tuple(clips), tuple(notes)


class StimulusSet:
    """The motions that are shown, read once; `notes` say which motions are left out, and why.

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
            spread, length_s = motions.yaw_spread_deg, motions.duration_s
            made = walker_clips(motions.n_each, duration_s=length_s, yaw_spread_deg=spread, seed=config.seed)
            clips = tuple(made)
        self.figures: dict[str, list[Motion]] = {}
        self._scales: dict[str, float] = {}
        for clip in clips:
            try:
                options = with_paths(clip.options, beside / motions.folder)
                whole = staged(clip.files, points=clip.points or motions.points, options=options)
                self.figures[clip.clip_id] = cut(whole, clip.part)
            except DataError as error:
                notes = (*notes, f"{clip.clip_id} is left out: {error}")
        self.clips = tuple(clip for clip in clips if clip.clip_id in self.figures)
        self.notes = notes
        if not self.clips:
            raise DataError(f"no motion can be read; {notes[-1]}")

    def stimulus(self, clip: AblationTrial, condition: Condition, *, undisturbed: bool = False) -> Stimulus:
        """A clip in a condition; `undisturbed` leaves out jitter and dropout.

        Draws follow from the seed of the configuration and the id of the clip.

        Raises:
            UsageError: settings that leave nothing to show, or fewer dots than are wanted.
            DataError: a motion that is too short.
        """
        spec = self._spec(clip, condition)
        if not {"px_per_m", "deg_per_m", "margin"} & set(condition.settings) and not (
            spec.px_per_m or spec.deg_per_m
        ):
            spec = msgspec.structs.replace(spec, px_per_m=self._px_per_m(clip))
        if undisturbed:
            spec = msgspec.structs.replace(spec, jitter_m=0.0, dropout=0.0)
        return make_stimulus(self.figures[clip.clip_id], spec)

    def _spec(self, clip: AblationTrial, condition: Condition) -> StimulusSpec:
        """How a clip is shown in a condition, but for the scale."""
        spec = spec_under(self.config, condition)
        figures = self.figures[clip.clip_id]
        seed = int.from_bytes(hashlib.sha256(f"{self.config.seed}:{clip.clip_id}".encode()).digest()[:6])
        view = msgspec.structs.replace(spec.view, yaw_deg=spec.view.yaw_deg + clip.yaw_deg)
        fps = figures[0].fps if spec.fps is None else spec.fps
        start, n_frames = _part(clip, figures, fps=fps, longest_s=self.config.motions.duration_s)
        spec = msgspec.structs.replace(spec, view=view, start_frame=start, n_frames=n_frames, seed=seed)
        if condition.n_dots is None:
            return spec
        hidden = _hidden(figures[0], condition.n_dots, seed=seed)
        return msgspec.structs.replace(spec, leave_out=(*spec.leave_out, *hidden))

    def _px_per_m(self, clip: AblationTrial) -> float:
        """The scale at which a clip fits in every condition: its size tells no condition from another."""
        if clip.clip_id not in self._scales:
            figures, found = self.figures[clip.clip_id], []
            for condition in unique(conditions(self.config)):
                if not {"px_per_m", "deg_per_m"} & set(condition.settings):
                    spec = self._spec(clip, condition)
                    bare = msgspec.structs.replace(spec, n_noise=0, leave_out=(), life_frames=0)
                    found.append(make_stimulus(figures, bare).px_per_m)
            self._scales[clip.clip_id] = min(found)
        return self._scales[clip.clip_id]


def _part(
    clip: AblationTrial, figures: Sequence[Motion], *, fps: float, longest_s: float
) -> tuple[int | None, int]:
    """Which frames of a motion are shown, at the rate of the display: the first, and how many."""
    n_all = min(int((f.n_frames - 1) / f.fps * fps) + 1 for f in figures)
    start = None if clip.start_s is None else int(clip.start_s * fps)
    n_frames = min(max(1, round(longest_s * fps)), n_all - (start or 0))
    if n_frames < 1:
        raise DataError(f"{clip.clip_id}: the motion ends before the part that is to be shown")
    return start, n_frames


def _hidden(figure: Motion, n_dots: int, *, seed: int) -> list[str]:
    """The points that are left out so that a figure has so many: fewer dots are a part of more."""
    if n_dots > len(figure.names):
        raise UsageError(f"{n_dots} dots are wanted, and the figure has {len(figure.names)}")
    order = np.random.default_rng(seed).permutation(len(figure.names))
    return [figure.names[i] for i in order[n_dots:]]


def sources_of_shown(clips: Sequence[AblationTrial]) -> dict[str, str]:
    """The `sources_of` clips that are shown."""
    return sources_of({c.clip_id: c for c in clips}, {c.clip_id: [*map(name_of, c.files)] for c in clips})


def has_clips(folder: Path, wanted: bytes) -> bool:
    """Whether a folder has all clips already that were made from what its stamp is to say.

    Raises:
        UsageError: it holds clips that were made from something else.
    """
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_bytes() != wanted:
        raise UsageError(f"{folder} holds clips made from other settings; choose another --out, or remove it")
    return stamp.exists()


def write_condition(
    stimuli: StimulusSet, condition: Condition, folder: Path, *, on_clip: Callable[[str], None]
) -> tuple[str, ...]:
    """Render all clips of a condition, unless the folder has them already; say which could not be.

    Raises:
        UsageError: the folder holds clips that were made from something else.
        DataError: no clip could be made.
    """
    wanted = msgspec.json.encode(
        {
            "version": VERSION,
            "condition": msgspec.structs.replace(condition, place=0.0),
            "spec": spec_under(stimuli.config, condition),
            "motions": {name: list(map(motion_digest, some)) for name, some in stimuli.figures.items()},
            "clips": stimuli.clips,
            "seed": stimuli.config.seed,
        }
    )
    if has_clips(folder, wanted):
        return ()
    troubles: list[str] = []
    rows: list[dict[str, object]] = []
    shown = stimuli.clips
    sources = sources_of_shown(shown)
    for clip in shown:
        try:
            made = stimuli.stimulus(clip, condition)
        except DataError as error:
            troubles.append(f"{condition.name}: {clip.clip_id}: {error}")
            continue
        target = folder / "clips" / f"{clip.clip_id}.mp4"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_video(frames(made), target, fps=made.fps)
        on_clip(clip.clip_id)
        more = {"path": f"clips/{target.name}", "source_id": sources[clip.clip_id]}
        rows.append(msgspec.structs.asdict(clip) | more)
    if not rows:
        raise DataError(f"no clip could be shown in the condition {condition.name}; {troubles[-1]}")
    write_whole(folder / "clips.csv", table((*CLIP_COLUMNS, "source_id"), rows))
    write_whole(folder / "labels.csv", labels_table(stimuli.clips)[0])
    write_whole(folder / STAMP, wanted)
    return tuple(troubles)
