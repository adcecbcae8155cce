"""Whatever a folder of data holds: sequences with ground truth, and films with labelled shots."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from subjects.tracks import read_mot, video
from vidence.seeing.tracks import TrackedVideo

_SIZES = ((640, 480), (768, 576), (1280, 720), (1920, 1080), (3840, 2160))
_WITH_CLASSES = 9  # columns; ground truth since MOT16 says the class of each box in the eighth


def sequences(data_dir: Path) -> list[Path]:
    """The files of ground truth, ``tracking/*_gt.txt``; a skip where there is none."""
    found = sorted((data_dir / "tracking").glob("*_gt.txt"))
    if not found:
        pytest.skip(f"needs ground truth of MOTChallenge: no *_gt.txt under {data_dir / 'tracking'}")
    return found


def true_people(path: Path, *, fps: float = 30.0) -> TrackedVideo:
    """The people of a file of ground truth, boxes cut to the frame.

    Its size is the smallest usual one in which nearly all centres lie: ground truth does not say it.
    """
    n_columns = len(path.read_text().split("\n", 1)[0].split(","))
    tracks = read_mot(path, only_class=1 if n_columns == _WITH_CLASSES else None)
    far = np.percentile(np.concatenate([one.centroids_px for one in tracks]), 99, axis=0)
    size = next(size for size in _SIZES if (far <= size).all())
    return video(tracks, size=size, n_frames=max(one.last_frame for one in tracks) + 1, fps=fps)


@dataclass(frozen=True)
class LabelledFilm:
    """A film, its hard cuts, and its gradual transitions (first and last frame that is mixed)."""

    path: Path
    cuts: tuple[int, ...]
    gradual: tuple[tuple[int, int], ...]


def labelled_films(data_dir: Path) -> list[LabelledFilm]:
    """The films of ``labels/*_shots.json`` that are there; a skip where there is none.

    A label names its film (``video``), ``hard_cuts``, and ``gradual`` with ``start`` and ``end``.
    """
    films = []
    for label in sorted((data_dir / "labels").glob("*_shots.json")):
        said = json.loads(label.read_text())
        path = data_dir / said["video"]
        gradual = tuple((one["start"], one["end"]) for one in said.get("gradual", ()))
        if path.exists():
            films.append(LabelledFilm(path=path, cuts=tuple(said["hard_cuts"]), gradual=gradual))
    if not films:
        pytest.skip(f"needs a labelled film: no *_shots.json with its film under {data_dir / 'labels'}")
    return films
