"""How fast motion was recorded. Files may say nothing, or what is not true."""

import re
from dataclasses import dataclass
from typing import Literal

CMU_FPS = 120.0
_MEASURED = "feet at 0.99 Hz, the beat of salsa, at 60; 1.98 Hz at 120 is more than anybody can"
_FALLING = "at 120 the centre of mass falls with 46 m/s2 in the backflip 87_03; with 12 at 60"
_LISTED = "flagged as 60 Hz in a list of trials of a perception laboratory (UCLA)"


@dataclass(frozen=True, kw_only=True)
class KnownRate:
    """The rate of the trials of a subject, how that is known, and how sure it is."""

    fps: float
    source: str
    confidence: Literal["measured", "listed"]


# Subjects of the CMU library whose files do not have its usual 120 frames per second.
SUBJECTS: dict[int, KnownRate] = {
    60: KnownRate(fps=60.0, source=_MEASURED, confidence="measured"),
    61: KnownRate(fps=60.0, source=_MEASURED, confidence="measured"),
    87: KnownRate(fps=60.0, source=_FALLING, confidence="measured"),
    **{
        subject: KnownRate(fps=60.0, source=_LISTED, confidence="listed")
        for subject in (74, 75, 77, 79, 80, 88)
    },
}
_TRIAL = re.compile(r"^(\d{1,3})_[A-Za-z]*\d+")


@dataclass(frozen=True, kw_only=True)
class Rate:
    """The rate that a file claims (None: it says nothing), the one taken, and why where they differ."""

    claimed: float | None
    fps: float
    note: str = ""


def cmu_subject(name: str) -> int | None:
    """The subject that a file of the CMU library is of, by its name.

    >>> cmu_subject("60_01.bvh"), cmu_subject("walk.bvh")
    (60, None)
    """
    found = _TRIAL.match(name)
    return int(found[1]) if found else None


def settle(claimed: float | None, *, given: float | None, name: str, is_cmu: bool) -> Rate | None:
    """Which rate to take: the user's, that of the table of subjects, the file's, or that of the library.

    Args:
        claimed: what the file says; None where it says nothing.
        given: what the user says.
        name: the name of the file, which tells the subject.
        is_cmu: whether the file is known to be of the CMU library; others never look into its table.

    Returns:
        None where nobody says anything.
    """
    if given is not None:
        differs = claimed is not None and abs(given - claimed) > 0.01 * claimed
        return Rate(claimed=claimed, fps=given, note="as the user says, not as the file" if differs else "")
    subject = cmu_subject(name)
    known = SUBJECTS.get(subject) if is_cmu and subject is not None else None
    if known is not None and (claimed is None or abs(claimed - known.fps) > 0.01 * known.fps):
        said = f"the file claims {claimed:g}" if claimed is not None else "the file says nothing"
        note = f"{said}; subject {subject} was recorded at {known.fps:g}: {known.source} ({known.confidence})"
        return Rate(claimed=claimed, fps=known.fps, note=note)
    if claimed is not None:
        # 0.0083333 is a rounded 1 / 120.
        near = round(claimed)
        return Rate(claimed=claimed, fps=float(near) if abs(claimed - near) < 0.005 * near else claimed)
    if is_cmu:
        return Rate(
            claimed=None, fps=CMU_FPS, note="the file says nothing; 120 is the usual rate of the CMU library"
        )
    return None
