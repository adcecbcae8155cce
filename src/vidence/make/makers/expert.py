"""Expert-written drafts -> checked cell by cell, gated, reviewed -> questions."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Final

from vidence.engine.config_file import read_config
from vidence.errors import MediaError
from vidence.make.gates.licences import LicenceCheck
from vidence.make.gates.model_gates import open_ones
from vidence.make.gates.rules import PRESETS
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.output import ITEMS_FILE, json_lines
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    StageRow,
    check_models,
    started,
)
from vidence.make.release.writing import RELEASE
from vidence.make.review.protocol import load_protocol
from vidence.make.writing.draft_files import (
    SHEET_FILE,
    DraftRow,
    ExpertDraft,
    Imported,
    checked_sheet,
    draft_files,
    import_mmvu,
    read_drafts,
    state_of,
)
from vidence.make.writing.expert_checking import Shelf, check_rows
from vidence.make.writing.expert_config import ExpertConfig
from vidence.make.writing.expert_films import (
    LICENCE,
    VIDEOS,
    Film,
    Films,
    Length,
    LicenceDesk,
    day_of,
    names_of,
    not_selected,
    read_films,
    read_selection,
)
from vidence.make.writing.expert_items import (
    Ground,
    concepts_table,
    counts_table,
    findings_table,
    item_of,
    marked_open,
    shuffled,
    textbooks_table,
    to_review,
)
from vidence.make.writing.expert_pages import (
    ADDRESS,
    ADDRESS_VARIABLE,
    Page,
    PageLook,
    Wikipedia,
    look_up,
    outcomes,
    page_of,
)
from vidence.make.writing.session import REVIEW, WritingSession
from vidence.make.writing.subjects import CONCEPTS, Curriculum, check_readable, read_concepts, read_subjects
from vidence.records import Item

NAME, VERSION = "expert", 1


def _read(path: Path) -> ExpertConfig:
    """The configuration and the files that it names.

    Raises:
        UsageError: as for `read_config`.
        DataError: a file is not there.
    """
    read, root = read_config(path, ExpertConfig), path.parent
    check_models(path, read, STAGES, models=read.models)
    draft_files(root / read.drafts)
    if not read.origin:
        check_readable([root / name for name in (read.subjects, read.concepts, read.films.file)])
        if read.films.kept:
            check_readable([root / read.films.kept])
    if read.review is not None:
        load_protocol(read.review.named(root))
    return read


@dataclass(frozen=True, kw_only=True)
class _ExpertMaterial:
    """All input: what is usable, and why the rest is not."""

    curriculum: Curriculum
    films: Films
    lengths: Mapping[str, Length]
    passed: Mapping[str, LicenceCheck | None]
    no_licence: tuple[Dropped, ...]
    rows: tuple[DraftRow, ...]
    published: Mapping[str, date] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def usable_films(self) -> dict[str, Film]:
        """The usable videos, by id."""
        gone = {dropped.what for dropped in (*self.films.dropped, *self.no_licence)}
        return {film.video_id: film for film in self.films.films if film.video_id not in gone}


@dataclass(kw_only=True)
class _Build(WritingSession):
    """One session with the intermediate results of its stages."""

    config: ExpertConfig
    tally: str = "subject"
    given: _ExpertMaterial | None = None
    rows: tuple[DraftRow, ...] = ()

    @property
    def media_root(self) -> Path:
        """The folder of media named by the configuration."""
        return self.root / self.config.media

    @property
    def material(self) -> _ExpertMaterial:
        """All input, read once."""
        if self.given is None:
            self.given = self.gather()
        return self.given

    # ------------------------------------------------------------------ what came in

    def gather(self) -> _ExpertMaterial:
        """Read all inputs; no model is called."""
        read, root = self.config, self.root
        if read.origin:
            return self._imported(import_mmvu(root / read.drafts))
        subjects = read_subjects(root / read.subjects)
        films = read_films(root / read.films.file)
        lengths, unread = self._lengths(films)
        films = Films(films=films.films, dropped=(*films.dropped, *unread))
        selection = read_selection(root / read.films.kept) if read.films.kept else None
        if selection is not None:
            gone = {dropped.what for dropped in films.dropped}
            some = [film for film in films.films if film.video_id not in gone]
            left_out = not_selected(some, lengths, selection)
            films = Films(films=films.films, dropped=(*films.dropped, *left_out))
        gone = {dropped.what for dropped in films.dropped}
        left = [film for film in films.films if film.video_id not in gone]
        passed, no_licence = self._licences(left)
        published: dict[str, date] = {}
        for film in left:  # as its record says, else the selection, else the check of the licence
            listed = {} if selection is None else selection.published
            days = [listed[name] for name in names_of(film, lengths) if name in listed]
            check = passed.get(film.video_id)
            day = film.published or (days[0] if days else day_of(check.published) if check else None)
            if day is not None:
                published[film.video_id] = day
        return _ExpertMaterial(
            curriculum=read_concepts(root / read.concepts, subjects, needs_textbook=read.form == "mmvu"),
            films=films,
            lengths=lengths,
            passed=passed,
            no_licence=no_licence,
            rows=read_drafts(root / read.drafts),
            published=published,
        )

    def _imported(self, imported: Imported) -> _ExpertMaterial:
        passed, no_licence = self._licences(imported.films)
        return _ExpertMaterial(
            curriculum=Curriculum(subjects=imported.subjects, concepts=imported.concepts),
            films=Films(films=imported.films, dropped=()),
            lengths={film.video_id: Length() for film in imported.films},
            passed=passed,
            no_licence=no_licence,
            rows=imported.rows,
            notes=imported.notes,
        )

    def _lengths(self, films: Films) -> tuple[dict[str, Length], tuple[Dropped, ...]]:
        """Return video lengths from files, else from records."""
        gone = {element.what for element in films.dropped}
        lengths: dict[str, Length] = {}
        dropped: list[Dropped] = []
        for film in films.films:
            path = self.root / self.config.media / film.path
            if film.video_id in gone:
                continue
            if not film.path or not path.is_file():
                lengths[film.video_id] = Length(duration_s=film.duration_s, why="the file is not here")
                continue
            try:
                video = self.context.video(path)
                duration_s = video.probe.counted.duration_s
            except MediaError as error:
                self.trouble(str(error))
                entry = Dropped(what=film.video_id, stage=VIDEOS, reason="media-failed", detail=str(error))
                dropped.append(entry)
                continue
            lengths[film.video_id] = Length(duration_s=duration_s, sha256=video.content_hash)
        return lengths, tuple(dropped)

    def _licences(
        self, films: Sequence[Film]
    ) -> tuple[Mapping[str, LicenceCheck | None], tuple[Dropped, ...]]:
        rules = self.config.licence
        if rules is None:
            return {film.video_id: None for film in films}, ()
        desk = LicenceDesk.open(
            self.root / rules.kept,
            manual=self.root / rules.manual if rules.manual else None,
            now=self.context.clock(),
            days=rules.days,
        )
        return desk.look(films)

    def checked(self, rows: tuple[DraftRow, ...], *, looks: Mapping[str, PageLook]) -> tuple[DraftRow, ...]:
        """Rows with all findings."""
        given, curriculum = self.material, self.material.curriculum
        shelf = Shelf(
            rules=self.config.checks.of(self.config.form),
            form=self.config.form,
            subjects=curriculum.subjects,
            concepts=curriculum.usable,
            concepts_gone={d.what: f"{d.reason}, {d.detail}" for d in curriculum.dropped},
            films=given.usable_films,
            films_gone={d.what: f"{d.reason}, {d.detail}" for d in (*given.films.dropped, *given.no_licence)},
            lengths_s={
                name: length.duration_s for name, length in given.lengths.items() if length.duration_s
            },
            published=given.published,
            today=self.context.clock().date(),
            pages=looks,
            is_released=bool(self.config.origin),
        )
        return check_rows(rows, shelf)

    # ------------------------------------------------------------------ stages

    def find_concepts(self) -> None:
        """Read the concepts."""
        given = self.material
        self.ledger.notes.extend(given.notes)
        concepts = [concept.concept_id for concept in given.curriculum.concepts]
        self.close(CONCEPTS, unit="concepts", taken=concepts, dropped=given.curriculum.dropped)

    def find_videos(self) -> None:
        """Read the videos."""
        films = self.material.films
        taken = [film.video_id for film in films.films]
        self.close(VIDEOS, unit="videos", taken=taken, dropped=films.dropped)

    def look_at_licences(self) -> None:
        """Leave out videos without a suitable licence."""
        if self.config.licence is None:
            self.ledger.notes.append("no licence was looked at: the configuration has no [licence]")
            return
        films = self.material.films
        gone = {dropped.what for dropped in films.dropped}
        taken = [film.video_id for film in films.films if film.video_id not in gone]
        self.close(LICENCE, unit="videos", taken=taken, dropped=self.material.no_licence)

    def read_drafts(self) -> None:
        """Take the readable rows, up to the limit."""
        given, limit = self.material, self.overrides.limit
        dropped: list[Dropped] = []
        for number, row in enumerate(given.rows):
            if limit is not None and number >= limit:
                entry = Dropped(what=row.row_id, stage="drafts", reason="over-the-limit", detail=row.place)
                dropped.append(entry)
            elif row.draft is None:
                says = row.findings[0].says
                dropped.append(Dropped(what=row.row_id, stage="drafts", reason="unreadable", detail=says))
        self.rows = given.rows if limit is None else given.rows[:limit]
        self.close("drafts", unit="drafts", taken=[row.row_id for row in given.rows], dropped=dropped)
        drafts = [row.draft for row in self.rows if row.draft is not None]
        film_of = {film.video_id: film.source for film in given.films.films}
        sources = [film_of[draft.video] for draft in drafts if draft.video in film_of]
        self.tables += [
            counts_table(given.curriculum.concepts, drafts, sources),
            concepts_table(given.curriculum, {draft.concept_id for draft in drafts}),
            textbooks_table(given.curriculum.concepts, drafts),
        ]

    def check(self) -> None:
        """Run all automatic checks; a draft is dropped for its first fault."""
        looks = self._pages(self.rows) if self.config.knowledge.online else {}
        if looks:
            counts = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes(looks).items())
            self.sentences.append(f"Pages of knowledge, as Wikipedia says: {counts}.")
        self.rows = rows = self.checked(self.rows, looks=looks)
        dropped = []
        for row in rows:
            faults = [finding for finding in row.findings if finding.is_fault]
            if faults and row.draft is not None:
                says = "; ".join(f"{fault.column}: {fault.says}" for fault in faults)
                dropped.append(Dropped(what=row.row_id, stage="checks", reason=faults[0].kind, detail=says))
        taken = [row.row_id for row in rows if row.draft is not None]
        self.close("checks", unit="drafts", taken=taken, dropped=dropped)
        n_faulty = sum(state_of(row) == "fault" for row in rows)
        n_warned = sum(state_of(row) == "warning" for row in rows)
        self.sentences.append(
            f"{n_faulty:,} of {len(rows):,} drafts have faults, {n_warned:,} warnings only; {SHEET_FILE} "
            "names them cell by cell, and is read as drafts again once it is mended."
        )
        self.tables.insert(0, findings_table(rows))
        self.files.append(self.out / SHEET_FILE)
        write_file(self.files[-1], checked_sheet(rows))
        self.take(self._items())

    @property
    def good(self) -> dict[str, ExpertDraft]:
        """The drafts without faults, by row."""
        return {row.row_id: row.draft for row in self.rows if row.draft and state_of(row) != "fault"}

    def _pages(self, rows: Sequence[DraftRow]) -> dict[str, PageLook]:
        rules = self.config.knowledge
        pages = [page_of(link.url) for row in rows if row.draft for link in row.draft.knowledge]
        address = os.environ.get(ADDRESS_VARIABLE) or ADDRESS
        return look_up(
            [entry for entry in pages if isinstance(entry, Page)],
            kept=self.root / rules.kept,
            now=self.context.clock(),
            days=rules.days,
            api=lambda: Wikipedia(address=address, now=self.context.clock),
        )

    def _items(self) -> tuple[Item, ...]:
        given = self.material
        usable, films = given.curriculum.usable, given.usable_films
        items = []
        for draft in self.good.values():
            concept = usable[draft.concept_id]
            ground = Ground(
                concept=concept,
                subject=given.curriculum.subjects[concept.subject],
                film=films[draft.video],
                length=given.lengths[draft.video],
                licence=given.passed.get(draft.video),
            )
            item = item_of(draft, ground, benchmark=self.config.name)
            is_ordered = self.config.shuffle and not self.config.origin
            items.append(shuffled(item, seed=self.config.seed) if is_ordered else item)
        return tuple(items)

    def gate(self) -> None:
        """Run the general gates on the questions, with accounts under ``gates: NAME``."""
        given, desk, rules = self.config.gates, replace(self.desk, prefix="gates: "), None
        if given is not None:
            to_people = PRESETS[given.preset].to_people
            rules, desk = given.rules, replace(desk, judge=given.judge, to_people=to_people)
        gated = self.gated(self.items, rules, desk)
        self.take(marked_open(gated.items, open_ones(gated.verdicts)))

    # ------------------------------------------------------------------ people, and out

    def review(self) -> None:
        """Submit new and revised questions; keep what people accepted."""
        good = self.good
        # The author of what was released is the name of its set.
        wordings = {
            item.item_id: to_review(
                item, good[item.item_id], author=good[item.item_id].author or self.config.origin
            )
            for item in self.items
        }
        self.reviewed(wordings)

    def write_questions(self) -> None:
        """Write the questions."""
        path = self.out / ITEMS_FILE
        write_file(path, json_lines(self.items))
        self.wrote("questions", [path])

    def release(self) -> None:
        """Release the questions with their splits and licence checks."""
        sources = {item.source_id for item in self.items}
        passed = self.material.passed.values()
        checks = {licence.video: licence for licence in passed if licence and licence.video in sources}
        licences = checks if self.config.licence is not None else None
        self.released(licences)

    def end(self) -> Built:
        """Report the number of questions; see `Session.end`."""
        is_reviewed = "review" in self.walked and self.config.review is not None
        message = "accepted" if is_reviewed else "left"
        self.sentences.insert(0, f"{len(self.items):,} questions are {message}.")
        return super().end()


STAGES: Final[tuple[StageRow[_Build], ...]] = (
    StageRow(name=CONCEPTS, do=_Build.find_concepts),
    StageRow(name=VIDEOS, do=_Build.find_videos),
    StageRow(name=LICENCE, do=_Build.look_at_licences),
    StageRow(name="drafts", do=_Build.read_drafts),
    StageRow(name="checks", do=_Build.check),
    StageRow(name="gates", do=_Build.gate, asks=("gates.models",)),
    StageRow(name=REVIEW, do=_Build.review),
    StageRow(name="questions", do=_Build.write_questions),
    StageRow(name=RELEASE, do=_Build.release),
)


class ExpertMaker:
    """Concepts, videos, drafts -> checks -> gates -> review -> questions and a release.

    Source: MMVU, sections 3.1 to 3.3, appendix A; HumanPCR, section 3.3, appendix B.3.
    Departs: machine checks go before people look, who did all in the papers; see docs/making/expert.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = tuple(row.name for row in STAGES)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """How many drafts have no fault; no page is looked up, and no model asked."""
        work = _Build(
            root=config.parent, out=config.parent, context=context, overrides=overrides, config=_read(config)
        )
        rows = work.checked(work.material.rows, looks={})
        n = sum(state_of(row) != "fault" for row in rows)
        message = f"{n:,} of {len(rows):,} drafts pass the machine checks that ask no model and no server"
        tables = (findings_table(rows),) if any(row.findings for row in rows) else ()
        return Outlook(sentences=(message,), tables=tables, can_make=n > 0)

    def make(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Built:
        """Check, gate and review the drafts; see `Maker`. `limit` counts drafts."""
        read = _read(config)
        start = started(self, config, read, overrides=overrides, context=context)
        named = {} if read.gates is None else read.models
        with context.models(named, source=config, limits=read.asking, out=start["out"]) as models:
            return _Build(**start, config=read, models=models).run(STAGES)


def create() -> Maker:
    """The maker."""
    return ExpertMaker()
