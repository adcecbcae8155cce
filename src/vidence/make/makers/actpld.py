"""Motion capture and a table of labels -> a benchmark that `vidence run actpld` reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.ask.benchmarks.actpld import Labels
from vidence.ask.files import DataFile
from vidence.engine.config_file import read_config
from vidence.errors import DataError
from vidence.make.lights.answers import write_people
from vidence.make.lights.clips import ClipJob, ClipMade, ClipResult, ClipRules
from vidence.make.lights.panels import PanelRules, panel_table, write_panel
from vidence.make.lights.sheets import write_sheets
from vidence.make.lights.study import StudyClip, StudyRules, write_study
from vidence.make.lights.tables import (
    ClipChoices,
    clips_table,
    fixed_choices,
    labels_table,
    sources_of,
    table,
)
from vidence.make.lights.trials import ReadMap, Trial, files_of, motion_files, read_map
from vidence.make.pipeline.cache import Stage, Unit
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    Session,
    check_until,
)
from vidence.media.whole import remove_leftovers, write_whole
from vidence.records import Record

NAME, VERSION = "actpld", 3
STAGES = ("rows", "files", "clips", "choices", "tables", "study")


class ActpldConfig(Record, omit_defaults=True):
    """The configuration; paths start from its folder.

    `map` is the table of trials, `motions` the folder of their files (not needed for walkers). Only rows of
    these `confidence` are used (empty: all), and only these `sets`. `labels` is a table of your own with
    words, synonyms and features; without it one is made from all rows of the map, also those that no clip
    shows: wrong choices are drawn from all labels. `rows` fills empty cells of the map, by patterns of the
    id, label, condition or file of its rows. `panel` names the models of ``panel.toml``.
    """

    name: str
    map: str
    motions: str = ""
    out: str = ""
    labels: str = ""
    confidence: tuple[str, ...] = ("high",)
    sets: tuple[str, ...] = ("single", "social")
    licence: str = ""
    rows: dict[str, dict[str, str | int | float]] = msgspec.field(default_factory=dict)
    clips: ClipRules = ClipRules()
    study: StudyRules = StudyRules()
    panel: PanelRules = PanelRules()


class ActpldMaker:
    """Rows -> files -> clips -> choices -> tables, and sheets for a study with people.

    Source: ActPLD, sections 1.6 and 2.
    Departs: its clips and groups were not released; see docs/making/actpld.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = STAGES

    def check(self, config: Path) -> None:
        """Read the configuration, the map and the folder of motions; errors as for `make`."""
        read = read_config(config, ActpldConfig)
        read_map(config.parent / read.map, read.rows)
        read.study.texts(config.parent)
        panel_table(read.panel, config.parent, title=read.name, root=config.parent, people=None)
        if read.motions:
            motion_files(config.parent / read.motions)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """Whether the configuration makes sense; how much it gives, only the making says."""
        self.check(config)
        return Outlook(sentences=(f"{config} makes sense",))

    def make(
        self, config: Path, *, out: Path | None, overrides: MakeOverrides, context: BuildContext
    ) -> Built:
        """Make the benchmark; see `Maker`. `only` of the overrides are labels."""
        check_until(overrides, self, has_sheets=False)
        read = read_config(config, ActpldConfig)
        folder = out or config.parent / (read.out or f"made/{read.name}")
        panel_table(read.panel, folder, title=read.name, root=config.parent, people=None)
        remove_leftovers(folder)
        return _Build(
            config=read,
            root=config.parent,
            out=folder,
            overrides=overrides,
            context=context,
            stages=STAGES,
        ).run()


@dataclass(frozen=True, kw_only=True)
class _Build(Session):
    """One session."""

    config: ActpldConfig

    def run(self) -> Built:
        """All stages up to the one that is wanted."""
        read = read_map(self.root / self.config.map, self.config.rows)
        trials = self._rows(read)
        files: tuple[Path, ...] = ()
        found: dict[str, tuple[str, ...]] = {}
        clips: dict[str, ClipMade] = {}
        if self.reaches("files"):
            found = self._files(trials)
            if self.reaches("clips"):
                clips = self._clips(trials, found)
        n_asked, told = 0, tuple[str, ...]()
        if clips and self.reaches("choices"):
            files, choices = self._tables(read, trials, clips=clips)
            n_asked = len(choices)
            if self.reaches("study"):
                jobs = self._jobs({c: trials[c] for c in choices}, {c: found[c] for c in choices})
                pages, people, told = self._study(choices, clips, jobs)
                panel = write_panel(
                    self.config.panel, self.out, title=self.config.name, root=self.root, people=people
                )
                files += (*pages, panel)
                told += (f"The paper's tables and figures: vidence panel {panel} --as actpld",)
        account = self.ledger.write(self.out, ["label", "intention"] * n_asked)
        doubtful = sum(bool(clip.doubts) for clip in clips.values())
        sentences = [f"{n_asked} clips of {len({trials[c].label for c in clips})} labels."]
        if doubtful:
            sentences.append(
                f"{doubtful} clips are kept with doubts about their motion; see doubts.csv, or set is_strict."
            )
        stand_ins = [c for c, clip in clips.items() if any(d.startswith("skeleton:") for d in clip.doubts)]
        if stand_ins:
            named = ", ".join(stand_ins[:5]) + (" ..." if len(stand_ins) > 5 else "")
            sentences.append(f"{len(stand_ins)} of them have the bones of somebody else: {named}.")
        sentences.extend(told)
        return Built(
            folder=self.out,
            account=account,
            files=(*files, self.out / ACCOUNT_FILE, self.out / DROPPED_FILE),
            sentences=tuple(sentences),
        )

    def _rows(self, read: ReadMap) -> dict[str, Trial]:
        """The rows of the map that are wanted."""
        self.began("rows", len(read.taken))
        kept: dict[str, Trial] = {}
        dropped = list(read.dropped)
        for trial in read.trials:
            reason, detail = self._unwanted(trial, n_kept=len(kept))
            if reason:
                dropped.append(Dropped(what=trial.clip_id, stage="rows", reason=reason, detail=detail))
            else:
                kept[trial.clip_id] = trial
        self.close("rows", unit="rows", taken=read.taken, kept=list(kept), dropped=dropped)
        if not kept:
            raise DataError(
                f"{self.root / self.config.map}: no row is wanted; of {len(read.taken)}, {len(dropped)} "
                f"were left out (confidence {', '.join(self.config.confidence) or 'any'}, sets "
                f"{', '.join(self.config.sets)})"
            )
        return kept

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

    def _files(self, trials: dict[str, Trial]) -> dict[str, tuple[str, ...]]:
        """The files of every trial."""
        folder = self.root / self.config.motions
        known = motion_files(folder) if self.config.motions else {}
        self.began("files", len(trials))
        found: dict[str, tuple[str, ...]] = {}
        dropped: list[Dropped] = []
        for clip_id, trial in trials.items():
            paths = files_of(trial, folder, known)
            if isinstance(paths, str):
                dropped.append(Dropped(what=clip_id, stage="files", reason="no-file", detail=paths))
            else:
                found[clip_id] = paths
        self.close("files", unit="trials", taken=list(trials), kept=list(found), dropped=dropped)
        return found

    def _jobs(self, trials: dict[str, Trial], found: dict[str, tuple[str, ...]]) -> dict[str, ClipJob]:
        rules, motions = self.config.clips, self.root / self.config.motions
        return {
            c: ClipJob(trial=trials[c], files=f, rules=rules, folder=self.out, motions=motions)
            for c, f in found.items()
        }

    def _clips(self, trials: dict[str, Trial], found: dict[str, tuple[str, ...]]) -> dict[str, ClipMade]:
        """The clips; those that are there already are not made again."""
        rules = self.config.clips
        jobs = self._jobs(trials, found)
        stage = Stage(name="clips", kind=ClipResult, version=VERSION, settings=msgspec.to_builtins(rules))
        units = [
            Unit(stage=stage, name=c, inputs=job.inputs, make=job.make, apart=job.apart)
            for c, job in jobs.items()
        ]
        kept: dict[str, ClipMade] = {}
        dropped: list[Dropped] = []
        for clip_id, result in self.compute_apart("clips", units).made.items():
            made = result.value
            if made.clip is not None and not (self.out / made.clip.path).exists():
                made = jobs[clip_id].make()  # somebody has deleted the film
            if made.clip is not None:
                kept[clip_id] = made.clip
            if made.dropped is not None:
                where = f"{Path(self.config.map).name}:{trials[clip_id].line}"
                detail = f"{where}: {made.dropped.detail}"
                dropped.append(msgspec.structs.replace(made.dropped, detail=detail))
                self.trouble(f"{clip_id}: {detail}")
        self.close("clips", unit="clips", taken=list(found), kept=list(kept), dropped=dropped)
        return kept

    def _tables(
        self, read: ReadMap, trials: dict[str, Trial], *, clips: dict[str, ClipMade]
    ) -> tuple[tuple[Path, ...], dict[str, tuple[ClipChoices, ...]]]:
        """Tables, doubts and contact sheets; and the choices of the clips that are asked about."""
        self.began("choices", len(clips))
        if self.config.labels:
            path = self.root / self.config.labels
            try:
                content = path.read_bytes()
            except OSError as error:
                raise DataError(f"{path}: cannot be read: {error.strerror}") from error
        else:
            path = self.out / "labels.csv"
            content, notes = labels_table(read.trials)
            self.ledger.notes.extend(notes)
        choices, dropped = fixed_choices(clips, trials, Labels(DataFile(path=path, content=content)))
        self.close("choices", unit="clips", taken=list(clips), kept=list(choices), dropped=list(dropped))
        if not self.reaches("tables"):
            return (), choices
        tables = {
            "labels.csv": content,
            "clips.csv": clips_table(clips, trials, choices, licence=self.config.licence),
            "doubts.csv": _doubts([clips[c] for c in choices]),
        }
        for name, data in tables.items():
            write_whole(self.out / name, data)
        files = tuple(self.out / name for name in tables)
        return files + write_sheets({c: clips[c] for c in choices}, trials, self.out), choices

    def _study(
        self,
        choices: Mapping[str, Sequence[ClipChoices]],
        clips: Mapping[str, ClipMade],
        jobs: Mapping[str, ClipJob],
    ) -> tuple[tuple[Path, ...], Path | None, tuple[str, ...]]:
        """The forms, the key, and what people have answered; their table; and what there is to say of it."""
        rules = self.config.study
        sources = sources_of({c: job.trial for c, job in jobs.items()}, {c: clips[c].sources for c in jobs})
        shown = [
            StudyClip(
                clip_id=clip_id,
                set=job.trial.set,
                source=sources[clip_id],
                choice=next(one for one in choices[clip_id] if one.target == rules.target),
                dots=job.dots,
            )
            for clip_id, job in jobs.items()
        ]
        files, notes = write_study(shown, self.out, rules=rules, texts=rules.texts(self.root))
        self.ledger.notes.extend(notes)
        if not rules.answers:
            return files, None, ()
        answers = [path for pattern in rules.answers for path in sorted(self.root.glob(pattern))]
        if not answers:
            raise DataError(f"no file is there for study.answers = {', '.join(rules.answers)} in {self.root}")
        people, told = write_people(list(dict.fromkeys(answers)), self.out / "study")
        return (*files, *people), people[0], told


def _doubts(clips: Sequence[ClipMade]) -> bytes:
    """What is doubtful about each clip, and what was mended."""
    rows = [
        {"clip_id": clip.clip_id, "doubts": " | ".join(clip.doubts), "notes": " | ".join(clip.notes)}
        for clip in clips
        if clip.doubts or clip.notes
    ]
    return table(("clip_id", "doubts", "notes"), rows)


def create() -> Maker:
    """The maker ``actpld``."""
    return ActpldMaker()
