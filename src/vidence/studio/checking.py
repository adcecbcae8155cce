"""Automatic checks of an item while it is written: the functions of the command line, asked for one item.

A project may have files of its own in ``DIR/projects/SLUG``: `CHECKS` (bounds, as in ``[checks]`` of
`vidence make expert`), `LICENCES` and `SHEET` (as `vidence videos licence` keeps and reads them), `VERDICTS`
(of `vidence items gate`), `SCENES` (scene graphs, for the proofs of composed questions).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from vidence.engine.config_file import read_config
from vidence.errors import DataError, UsageError
from vidence.explain.audit.checks import text_reasons
from vidence.make.compose.parsing import parse_compositions
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.types import with_skills
from vidence.make.compose.world import World
from vidence.make.gates.checks import leak_in
from vidence.make.gates.licences import DAYS
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.verdicts import content_of as asked_content
from vidence.make.gates.verdicts import read_verdicts
from vidence.make.sources.proof import Verdict
from vidence.make.sources.scene_files import read_scenes
from vidence.make.writing.draft_files import DraftRow as ExpertRow
from vidence.make.writing.draft_files import ExpertDraft, Link
from vidence.make.writing.expert_checking import Shelf, check_rows
from vidence.make.writing.expert_config import DraftRules
from vidence.make.writing.expert_config import Form as ExpertForm
from vidence.make.writing.expert_films import Film, LicenceDesk
from vidence.make.writing.subjects import Concept
from vidence.make.writing.subjects import Subject as ExpertSubject
from vidence.records import Item
from vidence.studio.bridge.items import Subject, final_item, item_as_written, options_of
from vidence.studio.hint_tries import HintTry
from vidence.studio.rules.faults import FieldRemark, Level, Shape, form_faults
from vidence.studio.rules.forms import Form, Kind
from vidence.studio.rules.hints import asked_in
from vidence.studio.rules.wording import Wording, seconds

CHECKS: Final = "checks.toml"
LICENCES: Final = "licences.jsonl"
SHEET: Final = "licences.csv"
VERDICTS: Final = "verdicts.jsonl"
SCENES: Final = "scenes.jsonl"
_EXPERT: Final[dict[str, ExpertForm]] = {"mmvu": "mmvu", "humanpcr-r": "humanpcr-r"}
_FIELDS: Final = {
    "concept_id": "concept",
    "choices": "wrong",
    "start_s": "start",
    "end_s": "end",
    "misconception": "wrong",
    "video": "media",
    "kind": "question",
    "date": "media",
}
_SAID_BY_FORM: Final = frozenset(
    {"empty", "few-evidence", "no-proactive", "untied-evidence", "unknown-step", "evidence-without-times"}
    | {"not-enough-choices", "same-choices", "no-reasoning-type", "empty-clip"}
)
_BY_LETTER: Final = frozenset({"letter-in-question", "choices-in-question"})
"""Checks that depend on the written order of options, which is drawn here."""
_LEVELS: Final[dict[str, Level]] = {"severe": "fault", "warning": "warning", "note": "note"}


@dataclass(frozen=True, kw_only=True)
class ItemFacts:
    """Metadata of an item, without its words.

    `films` are its media as those of licences are known, `media` as the form knows them, by their order.
    """

    form: Form
    kind: Kind
    subject: Subject
    films: tuple[Film, ...]
    media: tuple[Shape, ...]
    author: str
    now: datetime
    folder: Path
    """The project's folder of files."""
    tried: tuple[HintTry, ...] = ()
    """Answers that people gave correctly from text and hints alone."""


@dataclass(frozen=True, kw_only=True)
class MachineChecks:
    """Automatic checks of an item, licences by medium, verdicts of gates, and the proof of its program."""

    said: tuple[FieldRemark, ...]
    licences: tuple[tuple[Film, str, bool], ...] = ()
    verdicts: tuple[tuple[GateVerdict, bool], ...] = ()
    """Each with whether it applies to the current text."""
    proof: Verdict | None = None

    @property
    def faults(self) -> tuple[FieldRemark, ...]:
        """Return the faults that prevent handing in the item."""
        return tuple(remark for remark in self.said if remark.level == "fault")


def check(written: Wording, facts: ItemFacts) -> MachineChecks:
    """Run all automatic checks on the current text.

    A file of the project that cannot be read is a fault of its own, so that nothing goes unchecked unnoticed.
    """
    remarks = list(form_faults(written, facts.form, facts.kind, media=facts.media))
    item = item_as_written(written, facts.subject)
    licences: tuple[tuple[Film, str, bool], ...] = ()
    verdicts: tuple[tuple[GateVerdict, bool], ...] = ()
    proof = None
    try:
        remarks += _by_expert_rules(written, facts)
        licences = _licences(facts)
        remarks += [
            FieldRemark(field="media", level="fault", words=f"{film.video_id}: {words}", by="licence")
            for film, words, passes in licences
            if not passes
        ]
        verdicts = _verdicts(final_item(written, facts.subject), facts)
        if written.program:
            proof, field_remarks = _proof(written.program, facts)
            remarks += field_remarks
    except (DataError, UsageError) as error:
        remarks.append(FieldRemark(field="", level="fault", words=str(error), by="project"))
    remarks += _by_audit(final_item(written, facts.subject), facts.kind)
    if written.hints and item.answer and not (item.answer_kind == "choice" and not item.choices):
        leak = leak_in(written.hints, item)
        if leak is not None:
            remarks.append(FieldRemark(field="hints", level="fault", words=leak.detail, by="leak"))
    remarks += _by_people(item, facts)
    return MachineChecks(said=_once(remarks), licences=licences, verdicts=verdicts, proof=proof)


def _by_people(item: Item, facts: ItemFacts) -> Iterator[FieldRemark]:
    """Report that hints sufficed without the video, if the text is unchanged."""
    now = asked_in(item)
    for hint_try in facts.tried:
        if hint_try.asked.is_same(now):
            words = (
                f"A second person answered revision {hint_try.n} from the question and these hints without "
                f"the video, in {hint_try.seconds:.0f} s: they are too strong. Reword them."
            )
            yield FieldRemark(field="hints", level="fault", words=words, by="people")


def rules_of(folder: Path) -> DraftRules:
    """Read a project's bounds.

    Raises:
        UsageError: its file is none.
    """
    path = folder / CHECKS
    return read_config(path, DraftRules) if path.is_file() else DraftRules()


def quota(form: Form, folder: Path) -> int:
    """Return the number of items per medium; 0 if unlimited.

    Raises:
        UsageError: the file of bounds is none.
    """
    return rules_of(folder).most_per_video or form.per_video


def _once(remarks: Sequence[FieldRemark]) -> tuple[FieldRemark, ...]:
    """Put faults first, and remove repeated messages about a field."""
    order = {"fault": 0, "warning": 1, "note": 2}
    return tuple(sorted(dict.fromkeys(remarks), key=lambda remark: order[remark.level]))


def _by_audit(item: Item, kind: Kind) -> Iterator[FieldRemark]:
    """Yield what `vidence items audit` reports on the texts."""
    if not item.question or (kind != "open" and len(item.choices) < 2):
        return
    for reason in text_reasons(item):
        is_about_order = reason.kind == "refers-to-choices" and reason.severity != "note"
        level = "fault" if is_about_order or reason.kind in _BY_LETTER else _LEVELS[reason.severity]
        yield FieldRemark(field="question", level=level, words=reason.says, by="audit")


def _by_expert_rules(written: Wording, facts: ItemFacts) -> Iterator[FieldRemark]:
    """Yield what `vidence make expert` reports on a draft, for its forms."""
    form = _EXPERT.get(facts.form.name)
    if form is None or not facts.films or facts.subject.media[0].kind != "video":
        return
    film = facts.films[0]
    rules = rules_of(facts.folder).of(form)
    has_concept = "concept" in facts.form.parts
    draft = _expert_draft(written, facts, film)
    subject = ExpertSubject(
        subject=written.subject or "-",
        textbooks=(written.textbook,) if written.textbook else (),
        authors=(facts.author,),
    )
    concept = Concept(
        concept_id=draft.concept_id,
        subject=subject.subject,
        textbook=written.textbook,
        chapter=written.chapter,
    )
    shelf = Shelf(
        rules=msgspec.structs.replace(rules, choices=facts.form.wrong + 1),
        form=form,
        subjects={subject.subject: subject},
        concepts={concept.concept_id: concept} if concept.concept_id else {},
        films={film.video_id: film},
        lengths_s={film.video_id: film.duration_s} if film.duration_s is not None else {},
        published={film.video_id: film.published} if film.published is not None else {},
        today=facts.now.date(),
    )
    row = ExpertRow(row_id=draft.draft_id, place="", cells={}, draft=draft)
    for finding in check_rows([row], shelf)[0].findings:
        field = _FIELDS.get(finding.column, finding.column)
        is_whole = finding.kind == "long-clip" and not (written.start or written.end)
        if (field == "concept" and not has_concept) or is_whole or finding.kind in _SAID_BY_FORM:
            continue
        level: Level = "fault" if finding.is_fault else "warning"
        yield FieldRemark(field=field, level=level, words=finding.says, by="expert")
    if has_concept:
        for name in ("subject", "concept"):
            if not getattr(written, name):
                yield FieldRemark(field=name, level="fault", words=f"Give the {name}.", by="expert")


def _expert_draft(written: Wording, facts: ItemFacts, film: Film) -> ExpertDraft:
    item = item_as_written(written, facts.subject)
    start, end = seconds(written.start), seconds(written.end)
    options = options_of(written)
    return ExpertDraft(
        draft_id=facts.subject.item_id,
        video=film.video_id,
        concept_id=written.concept if "concept" in facts.form.parts else facts.subject.item_id,
        question=written.question,
        kind="open" if facts.kind == "open" else "choice",
        choices=tuple(option.text for option in options),
        answer="A" if options else written.answer,
        misconception=tuple(option.why for option in options[1:]),
        start_s=0.0 if start is None else start,
        end_s=film.duration_s if end is None else end,
        steps=written.steps,
        knowledge=tuple(Link(title=knowledge.title, url=knowledge.url) for knowledge in written.knowledge),
        evidence=tuple(
            evidence
            for evidence, mark in zip(item.evidence, written.evidence, strict=True)
            if mark.medium == 0
        ),
        reasoning=written.reasoning,
        author=facts.author,
        date=facts.now.date().isoformat(),
    )


def _licences(facts: ItemFacts) -> tuple[tuple[Film, str, bool], ...]:
    """Return each medium's licence status; empty if the project stores no licences."""
    kept, sheet = facts.folder / LICENCES, facts.folder / SHEET
    if not kept.is_file() and not sheet.is_file():
        return ()
    manual = sheet if sheet.is_file() else None
    desk = LicenceDesk.open(kept, manual=manual, now=facts.now, days=DAYS)
    passed, dropped = desk.look(facts.films)
    gone = {entry.what: f"{entry.reason}: {entry.detail}" for entry in dropped}
    licences = []
    for film in facts.films:
        look = passed.get(film.video_id)
        words = film.licence if look is None else f"{look.licence}, {look.way}, checked on {look.at:%Y-%m-%d}"
        licences.append((film, gone.get(film.video_id, words), film.video_id in passed))
    return tuple(licences)


def _verdicts(item: Item, facts: ItemFacts) -> tuple[tuple[GateVerdict, bool], ...]:
    """Return the gate verdicts on the item, with their votes."""
    path = facts.folder / VERDICTS
    if not path.is_file():
        return ()
    mine = [verdict for verdict in read_verdicts(path) if verdict.item_id == item.item_id]
    now = asked_content(item) if mine else ""
    return tuple((verdict, verdict.content == now) for verdict in mine)


def _proof(program: str, facts: ItemFacts) -> tuple[Verdict | None, list[FieldRemark]]:
    """Return the verifier's verdict on a program in its scene."""
    path = facts.folder / SCENES

    def remark(level: Level, words: str) -> FieldRemark:
        return FieldRemark(field="program", level=level, words=words, by="proof")

    if not path.is_file():
        words = f"The project has no file {SCENES}: nothing is proved."
        return None, [remark("warning", words)]
    scenes = read_scenes(path)
    written = parse_compositions(program, source="program")
    if len(written) != 1:
        return None, [remark("fault", "Expected one composition.")]
    scene = scenes.get(written[0].composition.scene)
    if scene is None:
        words = f"There is no scene {written[0].composition.scene!r}; known: {', '.join(scenes)}"
        return None, [remark("fault", words)]
    verdict = prove(with_skills(written[0], scene.vocabulary), World(scene), rules=Rules())
    remarks = [remark("fault", problem.says) for problem in verdict.problems]
    remarks += [remark("warning", warning.says) for warning in verdict.warnings]
    return verdict, remarks
