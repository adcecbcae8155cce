"""Which motions an ablation shows: the built-in figure doing all it can, or recordings by a table."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from vidence.errors import DataError
from vidence.make.lights.pld_map import NoFile, files_of, motion_files, read_map
from vidence.pointlight.figures import WALKER
from vidence.records import Record

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


class Shown(Record, kw_only=True):
    """One clip that is made in every condition: its id, what is right about it, and who moves.

    `sources` are files or ``walker:ACTION?key=value``, one for each figure; `yaw_deg` is added to the angle
    of view, and `start_s` says where the clip begins in the motion (None: in the middle).
    """

    clip_id: str
    label: str
    intention: str
    group: str
    sources: tuple[str, ...]
    yaw_deg: float = 0.0
    start_s: float | None = None


def walker_clips(n_each: int, *, duration_s: float, yaw_spread_deg: float, seed: int) -> tuple[Shown, ...]:
    """The built-in figure: every action `n_each` times, each by somebody else and at a pace of their own.

    Heights are 1.5 to 1.95 m, speeds and rates 0.85 to 1.15 times the usual, jumps 0.2 to 0.4 m high; the
    angle of view varies by `yaw_spread_deg` to both sides, and where in its cycle a clip begins is drawn too.

    Args:
        n_each: clips of each action.
        duration_s: how long a clip is, in seconds.
        yaw_spread_deg: in degrees.
        seed: where the draws come from.
    """
    return tuple(_walkers(n_each, duration_s, rng=np.random.default_rng(seed), spread=yaw_spread_deg))


_RATES = {"jumping-jack": 1.0, "squat": 0.5, "bow": 0.33, "wave": 1.5, "stand": 0.3}
_SPEEDS = {"walk": 1.3, "run": 3.2}


def _walkers(n_each: int, duration_s: float, *, rng: np.random.Generator, spread: float) -> Iterator[Shown]:
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
            yield Shown(
                clip_id=f"{action}-{number:02d}",
                label=action,
                intention=intention,
                group=group,
                sources=(f"{WALKER}:{action}?{words}",),
                yaw_deg=round(float(rng.uniform(-spread, spread)), 1),
                start_s=start_s,
            )


def recorded_clips(table: Path, folder: Path) -> tuple[tuple[Shown, ...], tuple[str, ...]]:
    """The clips of a table as for ``vidence make actpld``, and what is wrong with the others, summed up.

    Raises:
        DataError: the table cannot be read, or none of its motions is there.
    """
    read = read_map(table)
    known = motion_files(folder)
    wrong: dict[str, list[str]] = {}
    for row in read.dropped:
        wrong.setdefault(row.detail, []).append(row.what)
    notes = [*read.notes, *(_summed(rows, detail) for detail, rows in wrong.items())]
    clips = []
    without: list[str] = []
    for trial in read.trials:
        files = files_of(trial, folder, known)
        if isinstance(files, NoFile):
            without.append(f"{trial.clip_id}: {files.detail}")
            continue
        clips.append(
            Shown(
                clip_id=trial.clip_id,
                label=trial.label,
                intention=trial.intention,
                group=trial.group,
                sources=files,
            )
        )
    if without:
        more = f", and {len(without) - 1} more rows have no motion either" if len(without) > 1 else ""
        notes.append(f"{without[0]}{more}")
    if not clips:
        raise DataError(
            f"{table}: none of its {len(read.taken)} rows has its motion in {folder}; {notes[-1]}"
        )
    return tuple(clips), tuple(notes)


def _summed(rows: Sequence[str], detail: str) -> str:
    """One line for all rows with the same fault: the first by name, how many the others are."""
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{rows[0]}{more}: {detail}"


def labels_of(clips: Sequence[Shown]) -> dict[tuple[str, str], str]:
    """The semantic group of each label and intention, by target and name: that of the first clip with it."""
    found: dict[tuple[str, str], str] = {}
    for clip in clips:
        found.setdefault(("label", clip.label), clip.group)
        found.setdefault(("intention", clip.intention), clip.group)
    return found
