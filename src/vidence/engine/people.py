"""Run folders of a study's people, read together as a single row."""

from pathlib import Path
from typing import Final

from vidence.engine.plan import PLAN_FILE
from vidence.errors import UsageError
from vidence.text import quoted

PEOPLE_FOLDER: Final = "people"
"""Subfolder of a study with a run folder per person, `P03`, or per person and phase, `P03-PHASE`."""
EXCLUDED_FOLDER: Final = "excluded"
"""Subfolder with run folders of excluded people who finished, for the score including them."""
_MARK: Final = "*"


def person_of(folder: Path) -> str:
    """Return the pseudonym in a run folder's name.

    >>> person_of(Path("study/people/P03-open")), phase_of(Path("study/people/P03-open"))
    ('P03', 'open')
    """
    return folder.name.partition("-")[0]


def phase_of(folder: Path) -> str:
    """Return the phase in a run folder's name; empty if the study has one phase."""
    return folder.name.partition("-")[2]


def person_folders(folder: Path) -> tuple[Path, ...]:
    """Return the run folders of people that a path stands for; none for a run folder or other folder.

    Args:
        folder: the folder of a study with a single phase, or a pattern such as ``study/people/*-open``.

    Raises:
        UsageError: no match, a study without run folders, or a study with several phases.
    """
    if _MARK in folder.name:
        phase = phase_of(folder)
        paths = tuple(
            run for run in _runs_in(folder.parent, folder.name) if not phase or phase_of(run) == phase
        )
        if not paths:
            raise UsageError(
                f"no run folder of a study's people matches {folder}; run folders are named in full"
            )
        return paths
    if (folder / PLAN_FILE).exists() or not (folder / PEOPLE_FOLDER).is_dir():
        return ()
    paths = _runs_in(folder / PEOPLE_FOLDER, _MARK)
    if not paths:
        raise UsageError(
            f"{folder / PEOPLE_FOLDER} holds no run folder; `vidence study close {quoted(folder)}` writes "
            "them"
        )
    if len(phases := dict.fromkeys(map(phase_of, paths))) > 1:
        patterns = ", ".join(str(folder / PEOPLE_FOLDER / f"*-{phase}") for phase in phases)
        raise UsageError(f"{folder} has several phases; name one of them: {patterns}")
    return paths


def _runs_in(folder: Path, pattern: str) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.glob(pattern) if (path / PLAN_FILE).exists()))
