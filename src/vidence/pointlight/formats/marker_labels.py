"""Choose markers by their labels, with or without a subject before the colon."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.format_options import MarkerSettings
from vidence.pointlight.reading import UnpackedFile

Floats = NDArray[np.float64]
# The markers on the body that CMU and ACCAD use, and those of Plug-in Gait.
KNOWN = frozenset(
    {
        *(
            f"{side}{m}"
            for side in "LR"
            for m in ("FHD", "BHD", "SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN")
        ),
        *(
            f"{side}{m}"
            for side in "LR"
            for m in ("FWT", "BWT", "THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5")
        ),
        *("C7", "T10", "CLAV", "STRN", "RBAC"),
        # Vicon's Plug-in Gait names the pelvis by its spines, and the shin by the tibia.
        *(f"{side}{m}" for side in "LR" for m in ("ASI", "PSI", "TIB")),
    }
)
# With fewer known labels than this a file is taken to follow another set.
_FEWEST = 10


def choose(
    opened: UnpackedFile, labels: Sequence[str], settings: MarkerSettings
) -> tuple[tuple[str, ...], list[int], tuple[str, ...]]:
    """Which points to take, by their labels.

    Args:
        opened: the file, for messages.
        labels: as the file has them, such as ``Ann:LKNE``.
        settings: with `points` or a map of its own every point of the subject is taken, also computed ones
            and those without a label; `subject` is what the labels have before the colon.

    Returns:
        The names without the subject, their places in `labels`, and notes.

    Raises:
        DataError: the subject is not there, or several subjects are and none was named.
    """
    subject, is_all = settings.subject, settings.points == "all" or bool(settings.map)
    split = [label.strip().rpartition(":") for label in labels]
    subjects = Counter(head for head, _, name in split if name in KNOWN)
    if subject and subject not in {head for head, _, _ in split}:
        raise DataError(f"{opened.label} has no subject {subject!r}; it has {', '.join(sorted(subjects))}")
    if not subject and len([s for s, n in subjects.items() if n >= _FEWEST]) > 1:
        raise DataError(
            f"{opened.label} holds several subjects: {', '.join(sorted(subjects))}; give subject=NAME"
        )
    taken = subject or (subjects.most_common(1)[0][0] if subjects else "")
    ours = [(i, name) for i, (head, _, name) in enumerate(split) if not subjects or head == taken]
    known = [(i, name) for i, name in ours if name in KNOWN]
    if is_all or len(known) < _FEWEST:
        known = [(i, name or f"point {i + 1}") for i, name in ours]
    first: dict[str, int] = {}
    for i, name in known:
        first.setdefault(name, i)
    notes = []
    if len(first) < len(labels):
        notes.append(f"{len(labels)} points in the file; {len(first)} taken by their labels")
    if taken:
        notes.append(f"the labels are those of the subject {taken!r}")
    return tuple(first), list(first.values()), tuple(notes)


def hide_zeros(positions: Floats) -> tuple[Floats, tuple[str, ...]]:
    """Points that lie exactly at the origin were not seen; so says the custom of many recorders.

    Args:
        positions: shape (n_frames, n_points, 3).

    Returns:
        The same with NaN there, and a note where there were any.
    """
    at_origin = (positions == 0.0).all(axis=2)
    if not at_origin.any():
        return positions, ()
    hidden = np.where(at_origin[..., None], np.nan, positions)
    return hidden, (f"{int(at_origin.sum())} points exactly at the origin taken as not seen",)
