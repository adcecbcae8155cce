"""Make a clip of moving dots from a trial: read, check, draw, write."""

import hashlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from vidence.errors import DataError, UsageError
from vidence.installation import __version__
from vidence.make.lights.parts import of_part, of_window
from vidence.make.lights.trials import Trial, with_paths
from vidence.make.pipeline.cache import MadeAway
from vidence.make.pipeline.material import Dropped
from vidence.media.lights import lights_path
from vidence.media.whole import whole_file, write_whole
from vidence.media.written import video_file
from vidence.pointlight.checks import inspect
from vidence.pointlight.drawing import frames
from vidence.pointlight.experiments import lights_of
from vidence.pointlight.figures import Staging, is_walker
from vidence.pointlight.motion import Motion
from vidence.pointlight.specs import StimulusSpec, spec_of
from vidence.pointlight.stimulus import Stimulus, make_stimulus
from vidence.pointlight.writing import passed, sidecar
from vidence.records import Record


class PairRules(Record, omit_defaults=True):
    """How two actors share one space: `offset_m` moves the second; otherwise `hold_hands` aligns them."""

    offset_m: tuple[float, float, float] | None = None
    hold_hands: bool = False


class ClipRules(Record, omit_defaults=True):
    """How clips are made; each is as large as its one view allows.

    What a row of the map says of points, angle, part and settings counts for its clip.
    `fewest_frames` is what a benchmark shows; shorter clips are dropped. With `is_strict` a motion that fails
    a check (height, limbs, gravity, gaps, ...) is dropped; otherwise it is kept, and the account says what is
    doubtful. `pairs` are by subjects, such as ``18+19``, or by clip id.
    """

    points: str = "13"
    stimulus: StimulusSpec = StimulusSpec(width_px=128, height_px=128, dot_radius_px=1.6, fit="view")
    fewest_frames: int = 8
    is_strict: bool = False
    pairs: dict[str, PairRules] = msgspec.field(default_factory=dict)


class ClipMade(Record, omit_defaults=True):
    """One clip on disk; `path` is relative to the benchmark's folder; `doubts` are failed checks."""

    clip_id: str
    path: str
    sha256: str
    n_frames: int
    fps: float
    sources: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ClipResult(Record, omit_defaults=True):
    """A clip or a failure."""

    clip: ClipMade | None = None
    dropped: Dropped | None = None


@dataclass(frozen=True, kw_only=True)
class ClipJob:
    """The input of one clip: the trial, its files, the settings, and the target.

    Files that options of the reader name are sought in the folder of `motions`.
    """

    trial: Trial
    files: tuple[str, ...]
    rules: ClipRules
    folder: Path
    motions: Path = Path()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle records as JSON: omitted fields of a sidecar *are* the default object, not a copy."""
        records = msgspec.json.encode((self.trial, self.rules))
        return _job_of, (records, (self.files, self.folder, self.motions))

    @property
    def reads(self) -> tuple[Path, ...]:
        """Return the folders of the motion and its companion files, and files named by options."""
        options = map(_file, with_paths(self.trial.options, self.motions).values())
        folders = (file.parent for file in map(_file, self.files) if file is not None)
        return (*folders, *filter(None, options))

    @property
    def inputs(self) -> Mapping[str, str]:
        """The digests of all inputs."""
        inputs = {f"file-{n}": hashlib.sha256(_bytes(file)).hexdigest() for n, file in enumerate(self.files)}
        inputs |= {"clip": self.trial.clip_id, "set": self.trial.set}
        trial, options = self.trial, with_paths(self.trial.options, self.motions)
        more = {
            "part": trial.part.name,
            "yaw_deg": f"{trial.yaw_deg:g}" if trial.yaw_deg else "",
            "points": trial.points,
            "subjects": "+".join(trial.subjects),
            "condition": trial.condition,
            "window": "-".join(f"{at_s:g}" for at_s in trial.window or ()),
            "settings": ";".join(f"{key}={value}" for key, value in trial.settings.items()),
            **{f"option-{key}": value for key, value in trial.options.items()},
            **{
                f"option-{key}-file": hashlib.sha256(Path(value).read_bytes()).hexdigest()
                for key, value in options.items()
                if Path(value).is_file()
            },
        }
        return inputs | {name: text for name, text in more.items() if text}

    def stimulus(self) -> tuple[Staging, list[Motion], Stimulus]:
        """Return how the figures are made, the figures, and how they are shown.

        Raises:
            DataError: a file that cannot be read, or a part that it does not have.
            UsageError: options that its reader does not know, or settings that leave nothing to show.
        """
        trial, staging = self.trial, self._staging()
        figures = staging.figures()
        spec = self._spec()
        view = msgspec.structs.replace(spec.view, yaw_deg=spec.view.yaw_deg + trial.yaw_deg)
        spec = of_part(msgspec.structs.replace(spec, view=view), trial.part, figures)
        if trial.window is not None:
            spec = of_window(spec, trial.window, figures)
        return staging, figures, make_stimulus(figures, spec)

    def make(self) -> ClipResult:
        """Write the clip, its sidecar and its lights; or return the failure."""
        try:
            staging, figures, stimulus = self.stimulus()
        except (DataError, UsageError) as error:
            return self._dropped("unusable-motion", str(error))
        if stimulus.n_frames < self.rules.fewest_frames:
            return self._dropped(
                "too-few-frames",
                f"{stimulus.n_frames} frames at {stimulus.fps:g} per second; "
                f"{self.rules.fewest_frames} are shown",
            )
        doubts = tuple(
            f"{check.name}: {check.message}"
            for figure in figures
            for check in inspect(figure).checks
            if check.verdict == "doubtful"
        )
        if doubts and self.rules.is_strict:
            return self._dropped("doubtful-motion", "; ".join(doubts))
        path = self.folder / "clips" / f"{self.trial.clip_id}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished:
            size_px = (stimulus.spec.width_px, stimulus.spec.height_px)
            with video_file(unfinished, fps=stimulus.fps, size_px=size_px) as add:
                digest = passed(frames(stimulus), [add])
            kept = sidecar(stimulus, figures, digest, vidence=__version__, staging=staging)
            write_whole(path.with_suffix(".json"), msgspec.json.encode(kept))
            write_whole(lights_path(path), msgspec.json.encode(lights_of(stimulus)))
        clip_made = ClipMade(
            clip_id=self.trial.clip_id,
            path=path.relative_to(self.folder).as_posix(),
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
            n_frames=stimulus.n_frames,
            fps=stimulus.fps,
            sources=tuple(map(name_of, self.files)),
            doubts=doubts,
            notes=tuple(
                f"{name_of(file)}: {note}"
                for file, figure in zip(self.files, figures, strict=True)
                for note in figure.source.notes
            ),
        )
        return ClipResult(clip=clip_made)

    def apart(self, is_away: bool) -> Callable[[], ClipResult | MadeAway[ClipResult]]:
        """The work for another process."""
        return self.make_away if is_away else self.make

    def make_away(self) -> MadeAway[ClipResult]:
        """Like `make`, on a machine without the folder: clip and sidecar come with the result."""
        return MadeAway.of(lambda folder: replace(self, folder=folder).make())

    def _spec(self) -> StimulusSpec:
        """The settings; what is drawn depends on the motion where its conditions are compared."""
        start = self.rules.stimulus
        if self.trial.condition:
            drawn = start.seed ^ zlib.crc32(self.trial.motion.encode())
            start = msgspec.structs.replace(start, seed=drawn)
        return spec_of(self.trial.settings, start=start)

    def _staging(self) -> Staging:
        staging = Staging(
            sources=self.files,
            points=self.trial.points or self.rules.points,
            options=with_paths(self.trial.options, self.motions),
        )
        if len(self.files) == 1:
            return staging
        pairs, who = self.rules.pairs, "+".join(self.trial.subjects)
        rules = pairs.get(self.trial.clip_id) or pairs.get(who) or PairRules()
        hold_hands = rules.hold_hands and rules.offset_m is None
        return msgspec.structs.replace(staging, hold_hands=hold_hands, offset_m=rules.offset_m)

    def _dropped(self, reason: str, detail: str) -> ClipResult:
        dropped = Dropped(what=self.trial.clip_id, stage="clips", reason=reason, detail=detail)
        return ClipResult(dropped=dropped)


def _job_of(records: bytes, rest: tuple[tuple[str, ...], Path, Path]) -> ClipJob:
    files, folder, motions = rest
    trial, rules = msgspec.json.decode(records, type=tuple[Trial, ClipRules])
    return ClipJob(trial=trial, files=files, rules=rules, folder=folder, motions=motions)


def name_of(file: str) -> str:
    """The name of a source in tables: its file name, or the walker with its options."""
    return file if is_walker(file) else Path(file).name


def _bytes(file: str) -> bytes:
    """The content of the file, its archive, or the walker's text."""
    path = _file(file)
    return file.encode() if path is None else path.read_bytes()


def _file(named: str) -> Path | None:
    """The file to open, or its archive; None for a walker."""
    path = Path(named)
    candidates = () if is_walker(named) else (path, *path.parents)
    return next((candidate for candidate in candidates if candidate.is_file()), None)
