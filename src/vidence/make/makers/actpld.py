"""Motion capture and a table of labels -> a benchmark for `vidence run actpld`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from vidence.ask.benchmarks.actpld import Labels
from vidence.ask.files import DataFile
from vidence.engine.config_file import read_config
from vidence.errors import DataError, cause
from vidence.make.lights.clips import ClipJob, ClipMade, ClipResult, ClipRules
from vidence.make.lights.tables import (
    ClipChoices,
    PanelRules,
    clips_table,
    fixed_choices,
    labels_table,
    panel_table,
    table,
    write_panel,
    write_sheets,
)
from vidence.make.lights.trials import ReadMap, Trial, files_of, motion_files, read_map
from vidence.make.pipeline.cache import Stage, Unit
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    MakerConfig,
    Outlook,
    Session,
    StageRow,
    started,
)
from vidence.media.lights import lights_path
from vidence.media.whole import write_into
from vidence.study.windows import ClipWindow, read_windows
from vidence.tables.table import several
from vidence.text import quoted

NAME, VERSION = "actpld", 4


class ActpldConfig(MakerConfig, omit_defaults=True):
    """The configuration; paths are relative to its folder.

    `map` is the table of trials, `motions` the folder of their files (not needed for walkers). Only rows of
    these `confidence` are used (empty: all), and only these `sets`. `labels` is a table of your own with
    words, synonyms and features; without it one is made from all rows of the map, also those that no clip
    shows: wrong choices are drawn from all labels. `rows` fills empty cells of the map, by patterns of the
    id, label, condition or file of its rows. `windows` is a table of a study in which people judged the
    clips: each is cut to the part that shows its label, and left out where nothing does. `panel` names the
    models of ``panel.toml``.
    """

    map: str
    motions: str = ""
    labels: str = ""
    confidence: tuple[str, ...] = ("high",)
    sets: tuple[str, ...] = ("single", "social")
    licence: str = ""
    windows: str = ""
    rows: dict[str, dict[str, str | int | float]] = msgspec.field(default_factory=dict)
    clips: ClipRules = ClipRules()
    panel: PanelRules = PanelRules()
    gone: ClassVar[Mapping[str, str]] = {
        "study": "People are asked by a study now: leave the section out, and write a study.toml with "
        'preset = "point-light" and data = the folder that is made; `vidence study open` puts it to people, '
        "`vidence study export --jspsych` writes pages for a server of your own."
    }


@dataclass(kw_only=True)
class _Build(Session):
    """One session with the intermediate results of its stages."""

    config: ActpldConfig
    read: ReadMap = field(default_factory=lambda: ReadMap(taken=(), trials=(), dropped=()))
    trials: dict[str, Trial] = field(default_factory=dict)
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    clips: dict[str, ClipMade] = field(default_factory=dict)
    choices: dict[str, tuple[ClipChoices, ...]] = field(default_factory=dict)
    labels: bytes = b""

    def read_rows(self) -> None:
        """Read the wanted rows of the map."""
        self.read = read = read_map(self.root / self.config.map, self.config.rows)
        kept: dict[str, Trial] = {}
        dropped = list(read.dropped)
        windows = _windows(self.root / self.config.windows, read.trials) if self.config.windows else {}
        for trial in read.trials:
            window = windows.get(trial.clip_id)
            reason, detail = self._unwanted(trial, n_kept=len(kept))
            if not reason and window is not None and window.shows == "no":
                reason, detail = "label-not-shown", f"{window.n_agree} of {window.n_people} people say so"
            if reason:
                dropped.append(Dropped(what=trial.clip_id, stage="rows", reason=reason, detail=detail))
            else:
                kept[trial.clip_id] = trial if window is None else _cut(trial, window)
        self.close("rows", unit="rows", taken=read.taken, kept=list(kept), dropped=dropped)
        if not kept:
            raise DataError(
                f"{self.root / self.config.map}: no row is selected; of {len(read.taken)}, {len(dropped)} "
                f"were left out (confidence {', '.join(self.config.confidence) or 'any'}, sets "
                f"{', '.join(self.config.sets)})"
            )
        self.trials = kept

    def _unwanted(self, trial: Trial, *, n_kept: int) -> tuple[str, str]:
        config = self.config
        if config.confidence and trial.confidence not in ("", *config.confidence):
            return "confidence", f"{trial.confidence}; wanted are {', '.join(config.confidence)}"
        if trial.set not in config.sets:
            return "set", trial.set
        if self.overrides.only and trial.label not in self.overrides.only:
            return "not-asked-for", trial.label
        if self.overrides.limit is not None and n_kept >= self.overrides.limit:
            return "over-the-limit", f"--limit {self.overrides.limit}"
        return "", ""

    def find_files(self) -> None:
        """Find the files of every trial."""
        trials, folder = self.trials, self.root / self.config.motions
        known = motion_files(folder) if self.config.motions else {}
        files: dict[str, tuple[str, ...]] = {}
        dropped: list[Dropped] = []
        for clip_id, trial in trials.items():
            paths = files_of(trial, folder, known)
            if isinstance(paths, str):
                dropped.append(Dropped(what=clip_id, stage="files", reason="no-file", detail=paths))
            else:
                files[clip_id] = paths
        self.close("files", unit="trials", taken=list(trials), kept=list(files), dropped=dropped)
        self.paths = files

    def make_clips(self) -> None:
        """Make the clips that do not exist yet."""
        rules, motions = self.config.clips, self.root / self.config.motions
        jobs = {
            c: ClipJob(trial=self.trials[c], files=files, rules=rules, folder=self.out, motions=motions)
            for c, files in self.paths.items()
        }
        stage = Stage(name="clips", kind=ClipResult, version=VERSION, settings=msgspec.to_builtins(rules))
        units = [
            Unit(stage=stage, name=c, inputs=job.inputs, make=job.make, reads=job.reads, apart=job.apart)
            for c, job in jobs.items()
        ]
        kept: dict[str, ClipMade] = {}
        dropped: list[Dropped] = []
        for clip_id, result in self.compute_apart("clips", units, folder=self.out / "clips").made.items():
            clip_result = result.value
            film = None if clip_result.clip is None else self.out / clip_result.clip.path
            if film is not None and not (film.exists() and lights_path(film).exists()):
                clip_result = jobs[clip_id].make()  # a file was deleted
            if clip_result.clip is not None:
                kept[clip_id] = clip_result.clip
            if clip_result.dropped is not None:
                where = f"{Path(self.config.map).name}:{self.trials[clip_id].line}"
                detail = f"{where}: {clip_result.dropped.detail}"
                dropped.append(msgspec.structs.replace(clip_result.dropped, detail=detail))
                self.trouble(f"{clip_id}: {detail}")
        self.close("clips", unit="clips", taken=list(self.paths), kept=list(kept), dropped=dropped)
        self.clips = kept

    def choose(self) -> None:
        """Choose the options of all clips that are asked about and exist."""
        clips = self.clips
        if not clips:
            return
        if self.config.labels:
            path = self.root / self.config.labels
            try:
                self.labels = path.read_bytes()
            except OSError as error:
                raise DataError(f"{path}: cannot be read: {cause(error)}") from error
        else:
            path = self.out / "labels.csv"
            self.labels, notes = labels_table(self.read.trials)
            self.ledger.notes.extend(notes)
        labels = Labels(DataFile(path=path, content=self.labels))
        self.choices, dropped = fixed_choices(clips, self.trials, labels)
        self.tasks = ["label", "intention"] * len(self.choices)
        self.close("choices", unit="clips", taken=list(clips), kept=list(self.choices), dropped=list(dropped))

    def write_tables(self) -> None:
        """Write tables, doubts and contact sheets."""
        if not self.clips:
            return
        asked = {c: self.clips[c] for c in self.choices}
        tables = {
            "labels.csv": self.labels,
            "clips.csv": clips_table(self.clips, self.trials, self.choices, licence=self.config.licence),
            "doubts.csv": _doubts(list(asked.values())),
        }
        self.files += write_into(self.out, tables)
        self.files += write_sheets(asked, self.trials, self.out)

    def write_panel(self) -> None:
        """Write the panel."""
        if not self.clips:
            return
        panel = write_panel(self.config.panel, self.out, title=self.config.name, root=self.root)
        self.files.append(panel)
        self.sentences.append(f"The paper's tables and figures: vidence panel {quoted(panel)} --as actpld")

    def end(self) -> Built:
        """Report the result; see `Session.end`."""
        clips = self.clips
        messages = [f"{len(self.choices)} clips of {len({self.trials[c].label for c in clips})} labels."]
        if doubtful := sum(bool(clip.doubts) for clip in clips.values()):
            messages.append(
                f"{doubtful} clips are kept with doubts about their motion; see doubts.csv, or set is_strict."
            )
        stand_ins = [c for c, clip in clips.items() if any(d.startswith("skeleton:") for d in clip.doubts)]
        if stand_ins:
            named = ", ".join(stand_ins[:5]) + (" ..." if len(stand_ins) > 5 else "")
            messages.append(f"{len(stand_ins)} of them have another subject's bones: {named}.")
        self.sentences[:0] = messages
        return super().end()


def _windows(path: Path, trials: Sequence[Trial]) -> dict[str, ClipWindow]:
    """The windows of a table, all of clips in the map.

    Raises:
        DataError: it cannot be read, or a clip is not in the map.
    """
    windows, known = read_windows(path), {trial.clip_id for trial in trials}
    if strange := [clip_id for clip_id in windows if clip_id not in known]:
        raise DataError(
            f"{path}: {several(len(strange), 'clip')} that the map does not make, the first {strange[0]!r}; "
            "name the windows of a study of these clips"
        )
    return windows


def _cut(trial: Trial, window: ClipWindow) -> Trial:
    if window.start_s is None or window.end_s is None:
        return trial
    return msgspec.structs.replace(trial, window=(window.start_s, window.end_s))


def _doubts(clips: Sequence[ClipMade]) -> bytes:
    """What is doubtful about each clip, and what was corrected."""
    rows = [
        {"clip_id": clip.clip_id, "doubts": " | ".join(clip.doubts), "notes": " | ".join(clip.notes)}
        for clip in clips
        if clip.doubts or clip.notes
    ]
    return table(("clip_id", "doubts", "notes"), rows)


STAGES: Final[tuple[StageRow[_Build], ...]] = (
    StageRow(name="rows", do=_Build.read_rows),
    StageRow(name="files", do=_Build.find_files),
    StageRow(name="clips", do=_Build.make_clips),
    StageRow(name="choices", do=_Build.choose),
    StageRow(name="tables", do=_Build.write_tables),
    StageRow(name="panel", do=_Build.write_panel),
)


class ActpldMaker:
    """Rows -> files -> clips -> choices -> tables -> panel.

    Source: ActPLD, sections 1.6 and 2.
    Departs: its clips and groups were not released; see docs/making/actpld.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = tuple(row.name for row in STAGES)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """Read the configuration, map and motion folder; the yield is known only after the run."""
        read = read_config(config, ActpldConfig)
        trials = read_map(config.parent / read.map, read.rows).trials
        if read.windows:
            _windows(config.parent / read.windows, trials)
        panel_table(read.panel, config.parent, title=read.name, root=config.parent)
        if read.motions:
            motion_files(config.parent / read.motions)
        return Outlook(sentences=(f"{config} makes sense",))

    def make(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Built:
        """Make the benchmark; see `Maker`. `only` selects labels."""
        read = read_config(config, ActpldConfig)
        start = started(self, config, read, overrides=overrides, context=context)
        panel_table(read.panel, start["out"], title=read.name, root=config.parent)
        return _Build(**start, config=read).run(STAGES)


def create() -> Maker:
    """The maker ``actpld``."""
    return ActpldMaker()
