"""A space of walks fitted to recordings: its main components, and axes by what is known of each walk."""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import ARMS_AND_LEGS
from vidence.pointlight.motion import Motion, noted
from vidence.pointlight.walks import Walk, alike, morph, walk_of, walked
from vidence.records import Record

Floats = NDArray[np.float64]
FEWEST_WALKS = 3
# Of labels fewer than this say nothing about walks that were not fitted.
_FEWEST_LABELS = 4


class Axis(Record):
    """How a walk changes with what is known of it.

    `per_unit` is the change of a walk (as `WalkSpace.mean`) for one unit of the label, `mean` that of the
    labels; `n` walks had one. `r_left_out` is the correlation of the labels with those that the other walks
    predict for each (its place along the axis that is fitted without it); None with fewer than 4, or if all
    are alike.
    """

    per_unit: tuple[float, ...]
    mean: float
    n: int
    r_left_out: float | None = None


class WalkSpace(Record):
    """Walks of several recordings as points around their mean.

    A walk is written as one row: the mean posture, then for each harmonic cosines and sines (each of
    ``len(names) * 3`` metres), the lengths of arms and legs, then the rate and the speed, divided by
    `rate_unit` and `speed_unit`, so that both vary as much as a coordinate does. `components` are unit
    vectors by falling variance, `deviations` how far the walks lie along each (standard deviation), `scores`
    where each of `files` lies, in deviations.
    """

    names: tuple[str, ...]
    n_harmonics: int
    mean: tuple[float, ...]
    rate_unit: float
    speed_unit: float
    components: tuple[tuple[float, ...], ...]
    deviations: tuple[float, ...]
    files: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    axes: dict[str, Axis] = msgspec.field(default_factory=dict)

    def walk(self, values: Mapping[str, float]) -> Walk:
        """The walk with these labels, by name, and these components (``pc1`` is the first), in deviations.

        What is not named is as in the mean walk.

        Raises:
            UsageError: there is no such axis, or values at which nobody walks.
        """
        row = np.array(self.mean)
        for name, value in values.items():
            if name in self.axes:
                row = row + (value - self.axes[name].mean) * np.array(self.axes[name].per_unit)
            elif name.startswith("pc") and name[2:].isdigit() and 1 <= int(name[2:]) <= len(self.components):
                k = int(name[2:]) - 1
                row = row + value * self.deviations[k] * np.array(self.components[k])
            else:
                known = ", ".join((*self.axes, *(f"pc{k + 1}" for k in range(len(self.components)))))
                raise UsageError(f"this space of walks has no axis {name!r}; it has {known}")
        return self._walk(row)

    def _walk(self, row: Floats) -> Walk:
        n = len(self.names)
        n_places = (1 + 2 * self.n_harmonics) * n * 3
        places = row[:n_places].reshape(1 + 2 * self.n_harmonics, n, 3)
        if not (row[n_places:-2] > 0).all():
            raise UsageError("no limb has that length; take values nearer to the mean walk")
        rate = float(row[-2] * self.rate_unit)
        if not rate > 0.1:
            raise UsageError(
                f"nobody walks with {rate:.2f} cycles a second; take values nearer to the mean walk"
            )
        return Walk(
            names=self.names,
            posture_m=places[0],
            waves_m=places[1:].reshape(self.n_harmonics, 2, n, 3),
            limbs_m=row[n_places:-2],
            rate_hz=rate,
            speed_m_s=float(row[-1] * self.speed_unit),
            file=f"mean of {len(self.files)} walks",
        )


def fit_walks(walks: Sequence[Walk], labels: Mapping[str, Mapping[str, float]] | None = None) -> WalkSpace:
    """Fit a space to walks, with an axis for each label.

    Source: after Troje (2002), Decomposing biological motion, Journal of Vision 2(5): principal components of
        walks as Fourier series, and linear axes of attributes in the space of the walks.
    Departs: an axis is the change of the walk by least squares on the label (for two classes the difference
        of their means), which few walks leave open less than the direction that best tells classes apart;
        all components are kept; rate and speed are scaled as `WalkSpace` says. No axis of the paper was
        compared: its coefficients are not known to us.

    Args:
        walks: three or more, each with another `file`.
        labels: for each label the number of walks that have one, by `file`; of classes 0 and 1, for example.

    Raises:
        UsageError: fewer than three walks, or a label that is the same for all or known for fewer than two.
    """
    if len(walks) < FEWEST_WALKS:
        raise UsageError(f"{len(walks)} walks are no space; expected {FEWEST_WALKS} or more")
    walks = alike(walks)
    places = np.stack([np.concatenate([w.posture_m.ravel(), w.waves_m.ravel(), w.limbs_m]) for w in walks])
    usual = float(np.sqrt(places.var(axis=0).mean()))
    rates, speeds = np.array([w.rate_hz for w in walks]), np.array([w.speed_m_s for w in walks])
    units = [max(float(v.std()), 1e-6) / max(usual, 1e-6) for v in (rates, speeds)]
    rows = np.column_stack([places, rates / units[0], speeds / units[1]])
    mean = rows.mean(axis=0)
    _, sizes, components = np.linalg.svd(rows - mean, full_matrices=False)
    kept = sizes[: len(walks) - 1] > 1e-9 * max(float(sizes[0]), 1e-9)
    components, sizes = components[: len(walks) - 1][kept], sizes[: len(walks) - 1][kept]
    deviations = sizes / math.sqrt(len(walks) - 1)
    files = tuple(w.file for w in walks)
    return WalkSpace(
        names=walks[0].names,
        n_harmonics=len(walks[0].waves_m),
        mean=tuple(mean.tolist()),
        rate_unit=units[0],
        speed_unit=units[1],
        components=tuple(tuple(c) for c in components.tolist()),
        deviations=tuple(deviations.tolist()),
        files=files,
        scores=tuple(tuple(r) for r in ((rows - mean) @ components.T / deviations).tolist()),
        axes={name: _axis(name, rows, files=files, known=known) for name, known in (labels or {}).items()},
    )


def _axis(name: str, rows: Floats, *, files: Sequence[str], known: Mapping[str, float]) -> Axis:
    at = [i for i, file in enumerate(files) if file in known]
    values = np.array([known[files[i]] for i in at])
    if name.startswith("pc") or len(at) < 2 or not np.ptp(values) > 0:
        raise UsageError(
            f"the label {name!r} is known for {len(at)} walks with {len(set(values.tolist()))} values; "
            "expected two values or more, and a name that does not begin with pc"
        )
    predicted: list[float] = []
    for left_out in range(len(at)):
        others = [i for i in range(len(at)) if i != left_out]
        if np.ptp(values[others]) > 0:
            per_unit = _per_unit(rows[[at[i] for i in others]], values[others])
            off = rows[at[left_out]] - rows[[at[i] for i in others]].mean(axis=0)
            predicted.append(float(values[others].mean() + off @ per_unit / (per_unit @ per_unit)))
    is_known = len(predicted) == len(at) >= _FEWEST_LABELS and np.ptp(predicted) > 0
    return Axis(
        per_unit=tuple(_per_unit(rows[at], values).tolist()),
        mean=float(values.mean()),
        n=len(at),
        r_left_out=float(np.corrcoef(values, predicted)[0, 1]) if is_known else None,
    )


def _per_unit(rows: Floats, values: Floats) -> Floats:
    """The change of a row for one unit of the label, by least squares."""
    off = values - values.mean()
    made: Floats = off @ (rows - rows.mean(axis=0)) / float(off @ off)
    return made


def read_labels(path: Path, files: Sequence[str]) -> dict[str, dict[str, float]]:
    """Labels from a table: a column ``file``, and one for each label; an empty cell is not known.

    Args:
        path: a CSV file.
        files: those of the walks; a cell may have the whole path, or the name of the file.

    Raises:
        DataError: it cannot be read, names a file that is none of these, or has a cell that is no number.
    """
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    by_name = {name: file for file in files for name in (Path(file).name, file)}
    found: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows, start=2):
        if (file := by_name.get(row.get("file") or "")) is None:
            raise DataError(
                f"{path}:{number}: file is {row.get('file')!r}; expected one of {', '.join(by_name)}"
            )
        for label, text in row.items():
            if label == "file" or label is None or not (text or "").strip():
                continue
            try:
                value = float(text)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                raise DataError(f"{path}:{number}: {label} is {text!r}; expected a number, or nothing")
            found.setdefault(label, {})[file] = value
    return found


def read_space(path: Path) -> WalkSpace:
    """A space from its file.

    Raises:
        DataError: it cannot be read, or is none.
    """
    try:
        space = msgspec.json.decode(path.read_bytes(), type=WalkSpace)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"{path} is no space of walks (`vidence mocap FILES --walks {path}` makes one): {error}"
        ) from error
    n = (1 + 2 * space.n_harmonics) * len(space.names) * 3 + len(ARMS_AND_LEGS) + 2
    lengths = {len(space.mean), *map(len, space.components), *(len(a.per_unit) for a in space.axes.values())}
    if lengths != {n} or len(space.deviations) != len(space.components) or not space.n_harmonics:
        raise DataError(f"{path}: rows of {sorted(lengths)} numbers; expected {n}")
    return space


_OF_MORPH = ("share", "structure_share", "motion_share")
_OF_TIME = ("duration_s", "fps")


def morph_of(files: Sequence[Motion], options: Mapping[str, str]) -> Motion:
    """The walk between two recordings, by options such as ``share=0.5&duration_s=4``; see `morph`.

    Raises:
        UsageError: an option that is unknown or no number, or other than two recordings.
        DataError: no steady walk in one of them.
    """
    if len(files) != 2:
        raise UsageError(f"morph: {len(files)} recordings; expected two, as in morph:A.bvh,B.bvh?share=0.5")
    given = _numbers(options, known=(*_OF_MORPH, *_OF_TIME), owner="morph")
    first, second = (walk_of(file) for file in files)
    mixed = morph(
        first,
        second,
        given.get("share", 0.5),
        structure_share=given.get("structure_share"),
        motion_share=given.get("motion_share"),
    )
    made = walked(mixed, **{k: given[k] for k in _OF_TIME if k in given})
    for walk in (first, second):
        told = f"{walk.span_s[0]:.1f} to {walk.span_s[1]:.1f} s, {walk.explained:.1%} of its motion"
        made = noted(made, f"{Path(walk.file).name}: {told}")
    return made


def walk_in(space: WalkSpace, options: Mapping[str, str]) -> Motion:
    """The walk at a place of a space, by options such as ``happy=1&pc1=-2&duration_s=4``.

    Raises:
        UsageError: an axis that is unknown, or no number.
    """
    given = _numbers(options, known=None, owner="walks")
    times = {k: given.pop(k) for k in _OF_TIME if k in given}
    return walked(space.walk(given), **times)


def _numbers(options: Mapping[str, str], *, known: Sequence[str] | None, owner: str) -> dict[str, float]:
    made = {}
    for key, text in options.items():
        if known is not None and key not in known:
            raise UsageError(f"{owner} has no option {key!r}; it has {', '.join(known)}")
        try:
            made[key] = float(text)
        except ValueError:
            made[key] = math.nan
        if not math.isfinite(made[key]):
            raise UsageError(f"{owner}: {key}={text!r} is no number")
    return made
