"""Drafts that experts wrote -> checked cell by cell, gated, reviewed -> questions."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import msgspec

from vidence.engine.config_file import read_config
from vidence.errors import MediaError
from vidence.make.gates.frames import frame_source
from vidence.make.gates.item_gates import GateDesk, GatedItems, gate_items
from vidence.make.gates.licence_checks import LicenceCheck
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE, StageEnded, write_file
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.models import Models
from vidence.make.pipeline.output import ITEMS_FILE, json_lines
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    Session,
    working_folder,
)
from vidence.make.release.made_release import release_questions
from vidence.make.review.files import PROTOCOL_FILE, Reviews, read_reviews
from vidence.make.review.protocol import canonical, load_protocol, protocol_bytes
from vidence.make.review.recording import begin, submit, write
from vidence.make.review.states import State
from vidence.make.writing.draft_files import Imported, draft_files, import_mmvu, read_drafts
from vidence.make.writing.drafts import ExpertDraft
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
    read_films,
)
from vidence.make.writing.expert_findings import DraftRow
from vidence.make.writing.expert_items import Ground, from_review, item_of, marked_open, shuffled, to_review
from vidence.make.writing.expert_links import Page, page_of
from vidence.make.writing.expert_pages import (
    ADDRESS,
    ADDRESS_VARIABLE,
    PageLook,
    Wikipedia,
    look_up,
    outcomes,
)
from vidence.make.writing.expert_sheet import SHEET_FILE, checked_sheet, state_of
from vidence.make.writing.expert_tables import concepts_table, counts_table, findings_table, textbooks_table
from vidence.make.writing.selected_videos import Selection, names_of, not_selected, read_selection
from vidence.make.writing.subjects import (
    CONCEPTS,
    Curriculum,
    check_readable,
    read_concepts,
    read_subjects,
)
from vidence.records import Item

NAME, VERSION = "expert", 1
STAGES = (CONCEPTS, VIDEOS, LICENCE, "drafts", "checks", "gates", "review", "questions", "release")
VERDICTS_FILE = "verdicts.jsonl"


class ExpertMaker:
    """Concepts, videos, drafts -> checks -> gates -> review -> questions and a release.

    Source: MMVU, sections 3.1 to 3.3, appendix A; HumanPCR, section 3.3, appendix B.3.
    Departs: machine checks go before people look, who did all in the papers; see docs/making/expert.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = STAGES

    def check(self, config: Path) -> None:
        """Read the configuration and see that its files are there."""
        _read(config)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """How many drafts have no fault; no page is looked up, and no model asked."""
        work = _Build(
            root=config.parent,
            out=config.parent,
            context=context,
            overrides=overrides,
            stages=STAGES,
            config=_read(config),
            models=None,
        )
        given = work.gather()
        rows = work.checked(given, looks={})
        n = sum(state_of(row) != "fault" for row in rows)
        said = f"{n:,} of {len(rows):,} drafts have no fault that a machine can see without asking anybody"
        tables = (findings_table(rows),) if any(row.findings for row in rows) else ()
        return Outlook(sentences=(said,), tables=tables, can_make=n > 0)

    def make(
        self, config: Path, *, out: Path | None, overrides: MakeOverrides, context: BuildContext
    ) -> Built:
        """Check the drafts and take them through gates and review; see `Maker`. `limit` counts drafts."""
        read = _read(config)
        folder = working_folder(self, config, read, out=out, overrides=overrides)
        work = _Build(
            root=config.parent,
            out=folder,
            context=context,
            overrides=overrides,
            stages=STAGES,
            config=read,
            models=None,
        )
        if read.gates is None or not read.gates.models:
            return work.build()
        with context.models(read.models, source=config, limits=read.asking) as models:
            return replace(work, models=models).build()


def create() -> Maker:
    """The maker."""
    return ExpertMaker()


def _read(path: Path) -> ExpertConfig:
    """The configuration, with the files that it names.

    Raises:
        UsageError: as for `read_config`.
        DataError: a file is not there.
    """
    read, root = read_config(path, ExpertConfig), path.parent
    draft_files(root / read.drafts)
    if not read.origin:
        check_readable([root / name for name in (read.subjects, read.concepts, read.films.file)])
        if read.films.kept:
            check_readable([root / read.films.kept])
    if read.review is not None:
        load_protocol(_protocol(read, root))
    return read


def _protocol(read: ExpertConfig, root: Path) -> str:
    """The protocol by its name, or the path of its file from the folder of the configuration."""
    named = read.review.protocol if read.review is not None else ""
    return str(root / named) if named.endswith(".toml") else named


@dataclass(frozen=True, kw_only=True)
class _ExpertMaterial:
    """Everything that came in: what can be used, and why the rest cannot."""

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
        """The videos that may be used, by id."""
        gone = {one.what for one in (*self.films.dropped, *self.no_licence)}
        return {one.video_id: one for one in self.films.films if one.video_id not in gone}


@dataclass(kw_only=True)
class _Build(Session):
    """One session."""

    config: ExpertConfig
    models: Models | None

    def build(self) -> Built:
        """All stages up to the one that is wanted."""
        given = self.gather()
        self.ledger.notes.extend(given.notes)
        self._sources(given)
        sentences: list[str] = []
        files: list[Path] = []
        tables = []
        items: tuple[Item, ...] = ()
        if self.reaches("drafts"):
            rows = self._drafts(given)
            drafts = [row.draft for row in rows if row.draft is not None]
            film_of = {one.video_id: one.source for one in given.films.films}
            sources = [film_of[one.video] for one in drafts if one.video in film_of]
            tables += [
                counts_table(given.curriculum.concepts, drafts, sources),
                concepts_table(given.curriculum, {one.concept_id for one in drafts}),
                textbooks_table(given.curriculum.concepts, drafts),
            ]
        if self.reaches("checks"):
            rows = self._checks(given, rows, sentences)
            tables.insert(0, findings_table(rows))
            files.append(self.out / SHEET_FILE)
            write_file(files[-1], checked_sheet(rows))
            good = {row.row_id: row.draft for row in rows if row.draft and state_of(row) != "fault"}
            items = self._items(given, good)
        if self.reaches("gates"):
            items = self._gates(items, files, sentences)
        is_reviewed = False
        if self.reaches("review") and self.config.review is not None:
            items, is_reviewed = self._review(items, good, sentences), True
        if self.reaches("questions"):
            files.append(self._questions(items))
        if self.reaches("release"):
            self.tasks = [item.tags.get("subject", "") for item in items]
            self._release(items, given)
            files, sentences = [*files, *self.files], [*sentences, *self.sentences]
        account = self.ledger.write(self.out, [item.tags.get("subject", "") for item in items])
        said = "accepted" if is_reviewed else "left"
        return Built(
            folder=self.out,
            account=account,
            files=(*files, self.out / ACCOUNT_FILE, self.out / DROPPED_FILE),
            sentences=(f"{len(items):,} questions are {said}.", *sentences),
            tables=tuple(tables),
            is_empty=self.reaches("questions") and not items,
        )

    # ------------------------------------------------------------------ what came in

    def gather(self) -> _ExpertMaterial:
        """Read everything; nothing is asked of anybody."""
        read, root = self.config, self.root
        if read.origin:
            return self._imported(import_mmvu(root / read.drafts))
        subjects = read_subjects(root / read.subjects)
        films = read_films(root / read.films.file)
        lengths, unread = self._lengths(films)
        films = Films(films=films.films, dropped=(*films.dropped, *unread))
        selection = read_selection(root / read.films.kept) if read.films.kept else None
        if selection is not None:
            gone = {one.what for one in films.dropped}
            some = [one for one in films.films if one.video_id not in gone]
            left_out = not_selected(some, lengths, selection)
            films = Films(films=films.films, dropped=(*films.dropped, *left_out))
        gone = {one.what for one in films.dropped}
        left = [one for one in films.films if one.video_id not in gone]
        passed, no_licence = self._licences(left)
        return _ExpertMaterial(
            curriculum=read_concepts(root / read.concepts, subjects, needs_textbook=read.form == "mmvu"),
            films=films,
            lengths=lengths,
            passed=passed,
            no_licence=no_licence,
            rows=read_drafts(root / read.drafts),
            published=_days(left, lengths, selection=selection, passed=passed),
        )

    def _imported(self, found: Imported) -> _ExpertMaterial:
        passed, no_licence = self._licences(found.films)
        return _ExpertMaterial(
            curriculum=Curriculum(subjects=found.subjects, concepts=found.concepts),
            films=Films(films=found.films, dropped=()),
            lengths={one.video_id: Length() for one in found.films},
            passed=passed,
            no_licence=no_licence,
            rows=found.rows,
            notes=found.notes,
        )

    def _lengths(self, films: Films) -> tuple[dict[str, Length], tuple[Dropped, ...]]:
        """How long each video is: its file where it is here, else what is said of it."""
        gone = {one.what for one in films.dropped}
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
                one = Dropped(what=film.video_id, stage=VIDEOS, reason="media-failed", detail=str(error))
                dropped.append(one)
                continue
            lengths[film.video_id] = Length(duration_s=duration_s, sha256=video.content_hash)
        return lengths, tuple(dropped)

    def _licences(
        self, films: Sequence[Film]
    ) -> tuple[Mapping[str, LicenceCheck | None], tuple[Dropped, ...]]:
        rules = self.config.licence
        if rules is None:
            return {one.video_id: None for one in films}, ()
        desk = LicenceDesk.open(
            self.root / rules.kept,
            manual=self.root / rules.manual if rules.manual else None,
            now=self.context.clock(),
            days=rules.days,
        )
        return desk.look(films)

    def checked(self, given: _ExpertMaterial, *, looks: Mapping[str, PageLook]) -> tuple[DraftRow, ...]:
        """The rows with all findings."""
        curriculum = given.curriculum
        shelf = Shelf(
            rules=self.config.checks.of(self.config.form),
            form=self.config.form,
            subjects=curriculum.subjects,
            concepts=curriculum.usable,
            concepts_gone={one.what: f"{one.reason}, {one.detail}" for one in curriculum.dropped},
            films=given.usable_films,
            films_gone={
                one.what: f"{one.reason}, {one.detail}" for one in (*given.films.dropped, *given.no_licence)
            },
            lengths_s={name: one.duration_s for name, one in given.lengths.items() if one.duration_s},
            published=given.published,
            today=self.context.clock().date(),
            pages=looks,
            is_released=bool(self.config.origin),
        )
        return check_rows(given.rows, shelf)

    # ------------------------------------------------------------------ stages

    def _sources(self, given: _ExpertMaterial) -> None:
        """The accounts of concepts, videos and licences."""
        concepts = [one.concept_id for one in given.curriculum.concepts]
        self.began(CONCEPTS, len(concepts))
        self.close(
            CONCEPTS,
            unit="concepts",
            taken=concepts,
            kept=list(given.curriculum.usable),
            dropped=given.curriculum.dropped,
        )
        films = [one.video_id for one in given.films.films]
        gone = {one.what for one in given.films.dropped}
        left = [name for name in films if name not in gone]
        if self.reaches(VIDEOS):
            self.began(VIDEOS, len(films))
            self.close(VIDEOS, unit="videos", taken=films, kept=left, dropped=given.films.dropped)
        if self.config.licence is None:
            self.ledger.notes.append("no licence was looked at: the configuration has no [licence]")
        elif self.reaches(LICENCE):
            self.began(LICENCE, len(left))
            kept = list(given.usable_films)
            self.close(LICENCE, unit="videos", taken=left, kept=kept, dropped=given.no_licence)

    def _drafts(self, given: _ExpertMaterial) -> tuple[DraftRow, ...]:
        """The rows that could be read, up to the limit."""
        limit = self.overrides.limit
        dropped: list[Dropped] = []
        for number, row in enumerate(given.rows):
            if limit is not None and number >= limit:
                one = Dropped(what=row.row_id, stage="drafts", reason="over-the-limit", detail=row.place)
                dropped.append(one)
            elif row.draft is None:
                says = row.findings[0].says
                dropped.append(Dropped(what=row.row_id, stage="drafts", reason="unreadable", detail=says))
        gone = {one.what for one in dropped}
        rows = given.rows if limit is None else given.rows[:limit]
        ids = [row.row_id for row in given.rows]
        self.began("drafts", len(ids))
        kept = [name for name in ids if name not in gone]
        self.close("drafts", unit="drafts", taken=ids, kept=kept, dropped=dropped)
        return rows

    def _checks(
        self, given: _ExpertMaterial, rows: tuple[DraftRow, ...], sentences: list[str]
    ) -> tuple[DraftRow, ...]:
        """All machine checks; a draft with a fault is left out for its first one."""
        given = replace(given, rows=rows)
        looks = self._pages(rows) if self.config.knowledge.online else {}
        if looks:
            counts = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes(looks).items())
            sentences.append(f"Pages of knowledge, as Wikipedia says: {counts}.")
        rows = self.checked(given, looks=looks)
        tried = [row for row in rows if row.draft is not None]
        dropped = []
        for row in tried:
            faults = [one for one in row.findings if one.is_fault]
            if faults:
                says = "; ".join(f"{one.column}: {one.says}" for one in faults)
                dropped.append(Dropped(what=row.row_id, stage="checks", reason=faults[0].kind, detail=says))
        gone = {one.what for one in dropped}
        ids = [row.row_id for row in tried]
        self.began("checks", len(ids))
        kept = [name for name in ids if name not in gone]
        self.close("checks", unit="drafts", taken=ids, kept=kept, dropped=dropped)
        n_faulty = sum(state_of(row) == "fault" for row in rows)
        n_warned = sum(state_of(row) == "warning" for row in rows)
        sentences.append(
            f"{n_faulty:,} of {len(rows):,} drafts have faults, {n_warned:,} warnings only; {SHEET_FILE} "
            "names them cell by cell, and is read as drafts again once it is mended."
        )
        return rows

    def _pages(self, rows: Sequence[DraftRow]) -> dict[str, PageLook]:
        rules = self.config.knowledge
        found = [page_of(link.url) for row in rows if row.draft for link in row.draft.knowledge]
        address = os.environ.get(ADDRESS_VARIABLE) or ADDRESS
        return look_up(
            [one for one in found if isinstance(one, Page)],
            kept=self.root / rules.kept,
            now=self.context.clock(),
            days=rules.days,
            api=lambda: Wikipedia(address=address, now=self.context.clock),
        )

    def _items(self, given: _ExpertMaterial, good: Mapping[str, ExpertDraft]) -> tuple[Item, ...]:
        usable, films = given.curriculum.usable, given.usable_films
        items = []
        for draft in good.values():
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

    def _gates(self, items: tuple[Item, ...], files: list[Path], sentences: list[str]) -> tuple[Item, ...]:
        """The gates on any questions, with their accounts under ``gates: NAME``."""
        rules = self.config.gates
        if rules is None:
            self.ledger.notes.append("no gate was passed: the configuration has no [gates]")
            return items
        self.began("gates", len(items))
        frames = None
        if rules.one_frame or rules.needs_all:
            frames = frame_source(
                items,
                media_root=self.root / self.config.media,
                pictures=self.out / "pictures",
                cache=self.cache,
                context=self.context,
            )
        desk = GateDesk(seed=self.config.seed, models=self.models, frames=frames)
        gated = gate_items(items, rules.rules, desk)
        self._adopt(gated)
        files.append(self.out / VERDICTS_FILE)
        write_file(files[-1], json_lines(gated.verdicts))
        sentences += gated.words
        open_at: dict[str, list[str]] = defaultdict(list)
        for one in gated.verdicts:
            if one.decision == "open":
                open_at[one.item_id].append(one.gate)
        return marked_open(gated.items, open_at)

    def _adopt(self, gated: GatedItems) -> None:
        for stage in gated.ledger.stages:
            account = msgspec.structs.replace(stage, stage=f"gates: {stage.stage}")
            self.ledger.stages.append(account)
            self.context.on_event(StageEnded(account=account))
        for one in gated.ledger.dropped:
            self.ledger.dropped.append(msgspec.structs.replace(one, stage=f"gates: {one.stage}"))

    # ------------------------------------------------------------------ people

    def _review(
        self, items: tuple[Item, ...], drafts: Mapping[str, ExpertDraft], sentences: list[str]
    ) -> tuple[Item, ...]:
        """Put in what is new or was returned and mended; what people accepted, in their last wording."""
        rules = self.config.review
        if rules is None:
            return items
        folder = self.root / rules.folder
        reviews = self._put_in(items, drafts, folder)
        self.began("review", len(items))
        is_lenient = self.config.release is not None and self.config.release.unreviewed
        kept: dict[str, Item] = {}
        dropped: list[Dropped] = []
        for item in items:
            state = reviews.states[item.item_id].state
            if state == "accepted":
                kept[item.item_id] = from_review(item, reviews.content(item.item_id))
            elif is_lenient and _REASONS.get(state, _WAITS) == _WAITS:
                kept[item.item_id] = item
            else:
                reason = _REASONS.get(state, _WAITS)
                dropped.append(Dropped(what=item.item_id, stage="review", reason=reason, detail=state))
        ids = [item.item_id for item in items]
        self.close("review", unit="questions", taken=ids, kept=list(kept), dropped=dropped)
        n_waiting = sum(one.reason == _WAITS for one in dropped)
        if n_waiting:
            sentences.append(
                f"{n_waiting:,} wait for people: vidence review draw {folder} --by NAME; then this command "
                "again."
            )
        changed = [
            one for one in items if _is_behind(reviews, one.item_id, self._wording(one, drafts[one.item_id]))
        ]
        if changed:
            sentences.append(
                f"{len(changed):,} drafts differ from what the review holds, such as {changed[0].item_id}; "
                "the wording of the review counts until its author is asked to mend it."
            )
        return tuple(kept.values())

    def _put_in(self, items: Sequence[Item], drafts: Mapping[str, ExpertDraft], folder: Path) -> Reviews:
        protocol = _protocol(self.config, self.root)
        if not (folder / PROTOCOL_FILE).is_file():
            begin(folder, protocol_bytes(protocol))
        reviews = read_reviews(folder)
        wordings = {
            item.item_id: self._wording(item, drafts[item.item_id])
            for item in items
            if _takes_wordings(reviews, item.item_id)
        }
        at = self.context.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        recorders, _ = submit(reviews, wordings, by="", role="author", at=at)
        write(folder, recorders)
        return read_reviews(folder)

    def _wording(self, item: Item, draft: ExpertDraft) -> dict[str, object]:
        """What the review keeps; the author of what was released is the name of its set."""
        return to_review(item, draft, author=draft.author or self.config.origin)

    # ------------------------------------------------------------------ out

    def _questions(self, items: Sequence[Item]) -> Path:
        path = self.out / ITEMS_FILE
        write_file(path, json_lines(items))
        self.began("questions", len(items))
        ids = [item.item_id for item in items]
        self.close("questions", unit="questions", taken=ids, kept=ids)
        return path

    def _release(self, items: Sequence[Item], given: _ExpertMaterial) -> None:
        """The questions with their splits, and the checks of their licences, written whole."""
        sources = {one.source_id for one in items}
        checks = {one.video: one for one in given.passed.values() if one and one.video in sources}
        release_questions(
            self,
            items,
            self.config,
            media_root=self.root / self.config.media,
            licences=checks if self.config.licence is not None else None,
        )


def _days(
    films: Sequence[Film],
    lengths: Mapping[str, Length],
    *,
    selection: Selection | None,
    passed: Mapping[str, LicenceCheck | None],
) -> dict[str, date]:
    """When videos were published: as their records say, else the selection, else the check of the licence."""
    found: dict[str, date] = {}
    for film in films:
        listed = {} if selection is None else selection.published
        days = [listed[name] for name in names_of(film, lengths) if name in listed]
        check = passed.get(film.video_id)
        if film.published is not None:
            found[film.video_id] = film.published
        elif days:
            found[film.video_id] = days[0]
        elif check is not None and (day := day_of(check.published)) is not None:
            found[film.video_id] = day
    return found


_WAITS = "waits-for-review"
_REASONS: Mapping[State, str] = {
    "returned": "returned-to-author",
    "rejected": "rejected",
    "withdrawn": "withdrawn",
    "voided": "withdrawn",
}


def _takes_wordings(reviews: Reviews, item_id: str) -> bool:
    """Whether an author may put a wording in: of a new item, or of one that was returned."""
    state = reviews.states.get(item_id)
    return state is None or state.state in ("drafting", "returned")


def _is_behind(reviews: Reviews, item_id: str, wording: Mapping[str, object]) -> bool:
    """Whether the author's file has another wording than the one that the author put in last."""
    mine = [one for one in reviews.revisions_of[item_id] if one.origin in ("submit", "author_revise")]
    last = max(mine, key=lambda one: one.n)
    return canonical(last.content) != canonical(wording)
