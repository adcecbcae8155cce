"""Whatever a folder of data holds: sequences with ground truth, and films with labelled shots."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from conftest import IS_THOROUGH
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
    """The people of a file of ground truth, boxes cut to the frame."""
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


@dataclass(frozen=True)
class _Said:
    """What the pictures of a film show where its labels are missing, or say something else."""

    why: str
    cuts: tuple[int, ...]
    gradual: tuple[tuple[int, int], ...]


# By the SHA-256 of the file, its first 16 digits: a copy that was encoded otherwise is another film.
_SEEN_IN_PICTURES = {
    "fc37c9809ace2248": _Said(
        why="Big Buck Bunny, first minute: no file of labels; the first transition is a fade in from black",
        cuts=(1, 285, 378, 553, 1145, 1346),
        gradual=((5, 51), (756, 806)),
    ),
    "53705221cac65086": _Said(
        why="the clip of NASA: frame 127 is labelled as a hard cut, and is where a dissolve begins",
        cuts=(202,),
        gradual=((127, 146),),
    ),
}


def _seen(path: Path) -> _Said | None:
    return _SEEN_IN_PICTURES.get(hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def labelled_films(data_dir: Path) -> list[LabelledFilm]:
    """The films of ``labels/*_shots.json`` and of the table above; a skip where there is none."""
    films = []
    for label in sorted((data_dir / "labels").glob("*_shots.json")):
        said = json.loads(label.read_text())
        path = data_dir / said["video"]
        gradual = tuple((one["start"], one["end"]) for one in said.get("gradual", ()))
        if path.exists() and _seen(path) is None:
            films.append(LabelledFilm(path=path, cuts=tuple(said["hard_cuts"]), gradual=gradual))
    for path in sorted((data_dir / "video").glob("*.mp4")):
        if (seen := _seen(path)) is not None:
            films.append(LabelledFilm(path=path, cuts=seen.cuts, gradual=seen.gradual))
    if not films:
        pytest.skip(f"needs a labelled film: no *_shots.json with its film under {data_dir / 'labels'}")
    return films


EPIC_COLUMNS = (
    *("video_id", "narration", "start_timestamp"),
    *("stop_timestamp", "verb_class", "all_noun_classes"),
)


def epic_logs(data_dir: Path) -> list[Path]:
    """The event logs of EPIC-KITCHENS under ``ego``, told by their columns; a skip where there is none."""
    found = []
    for path in sorted((data_dir / "ego").rglob("*.csv")):
        with path.open(encoding="utf-8") as file:
            columns = file.readline().strip().split(",")
        if set(EPIC_COLUMNS) <= set(columns):
            found.append(path)
    if not found:
        pytest.skip(f"needs a log of EPIC-KITCHENS: no table with its columns under {data_dir / 'ego'}")
    return found


MOCAP_ENDINGS = (".amc", ".amc.gz", ".bvh", ".bvh.gz", ".c3d", ".zip", ".txt.gz", ".data3d.txt", ".rex")


def mocap_files(data_dir: Path, *, wanted: Collection[str] = ()) -> list[Path]:
    """The files of motion under ``mocap``, by their endings; a skip where there is none."""
    folder = data_dir / "mocap"
    found = [p for p in sorted(folder.rglob("*")) if p.name.lower().endswith(MOCAP_ENDINGS)]
    found += sorted(folder.rglob("*data3d.txt"))
    if not found:
        pytest.skip(f"needs files of motion: none under {folder} ends with {', '.join(MOCAP_ENDINGS)}")
    every = sorted(set(found))
    return [path for n, path in enumerate(every) if IS_THOROUGH or n % 3 == 0 or path.name in wanted]
