"""Annotated pictures and clips -> questions with choices, checked rule by rule."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vidence.catalog import parse_spec
from vidence.errors import UsageError
from vidence.make.gates.gate_sequence import VERDICTS_FILE, Gated
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE, write_file
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    working_folder,
)
from vidence.make.release.made_release import release_questions
from vidence.make.release.writing import RELEASE
from vidence.make.sources.annotations.people import empty_sheet
from vidence.make.writing.choices_config import Plan, read_plan
from vidence.make.writing.choices_output import FOR_PEOPLE, item_of, link_media, write_set
from vidence.make.writing.choices_people import PEOPLE, look_up
from vidence.make.writing.choices_session import STAGES, ChoicesSession
from vidence.make.writing.gathering import gather, pair_up, read_sources
from vidence.make.writing.phrases import read_seeds
from vidence.make.writing.written import PromptsInEffect
from vidence.records import Item

NAME, VERSION = "choices", 1
MADE_BY: Final = f"vidence make {NAME} {VERSION}"


class ChoicesMaker:
    """Records -> questions by templates, a model or people -> choices -> gates -> people -> items.

    Source: HumanPCR, sections 3.2 and 3.3, appendix B.1.
    Departs: the paper's rules are told to its models; here every one is a check with a reason and a count.
        Its prompts are not copied. What else is ours is in docs/making/choices.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = STAGES

    def check(self, config: Path) -> None:
        """Read the configuration, its taxonomy, its templates and its prompts."""
        _words(_plan(config, ()), config.parent)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """How many records can be asked about; no model is asked."""
        plan = _plan(config, overrides.only)
        waiting = _waiting(plan, config.parent)
        if waiting:
            said = (
                f"{', '.join(map(str, waiting))}: not there yet; --sheets DIR writes empty sheets to fill in"
            )
            return Outlook(sentences=(said,), can_make=False)
        found = gather(plan, read_sources(plan, config.parent), root=config.parent, context=context)
        _, pairs, _ = pair_up(plan, found, limit=overrides.limit)
        said = (
            f"{len(found.records):,} of {len(found.taken):,} records can be used; "
            f"{len(pairs):,} questions can be asked"
        )
        return Outlook(sentences=(said, plan.taxonomy.words()), can_make=bool(pairs))

    def make(
        self, config: Path, *, out: Path | None, overrides: MakeOverrides, context: BuildContext
    ) -> Built:
        """Make the questions; see `Maker`. `only` are tasks, `limit` counts questions of each task."""
        plan, root = _plan(config, overrides.only), config.parent
        folder = working_folder(self, config, plan.config, out=out, overrides=overrides, has_sheets=True)
        models = context.models(plan.config.models, source=config, limits=plan.config.asking)
        with models:
            work = ChoicesSession(
                plan=plan,
                root=root,
                out=folder,
                context=context,
                overrides=overrides,
                stages=STAGES,
                models=models,
                words=_words(plan, root),
            )
            return _sheets(work) if overrides.sheets else _make(work)


def create() -> Maker:
    """The maker ``choices``."""
    return ChoicesMaker()


def _plan(config: Path, only: tuple[str, ...]) -> Plan:
    plan = read_plan(config, only=only)
    for order in plan.orders:
        if order.rules.way == "template":
            read_seeds(order.rules.seeds, config.parent)
    return plan


def _words(plan: Plan, root: Path) -> PromptsInEffect:
    return PromptsInEffect.load(root / plan.config.templates if plan.config.templates else None)


def _waiting(plan: Plan, root: Path) -> list[str]:
    """The sheets of people that are not there yet."""
    wanted = {name for order in plan.orders for name in order.rules.sources}
    return [
        one.path
        for one in plan.config.records
        if one.name in wanted and parse_spec(one.format).name == "people" and not (root / one.path).is_file()
    ]


def _sheets(work: ChoicesSession) -> Built:
    """Write empty sheets for the tasks that people write, and make no question."""
    folder = Path(work.overrides.sheets)
    names = [one.name for one in work.plan.config.records if parse_spec(one.format).name == "people"]
    files: list[Path] = []
    for name in names:
        path = folder / f"{name}.csv"
        if path.exists():
            raise UsageError(f"{path} is there already; a sheet is never written over")
        write_file(path, empty_sheet())
        files.append(path)
    account = work.ledger.write(work.out, [])
    said = f"{len(files)} empty sheets in {folder}; name each as the path of its [[records]]"
    return Built(folder=work.out, account=account, files=tuple(files), sentences=(said,))


def _make(work: ChoicesSession) -> Built:
    gathered = work.records()
    link_media(work.plan, set(gathered.source_of.values()), root=work.root, out=work.out)
    pairs = work.pairs(gathered) if work.reaches("tasks") else ()
    phrases = work.phrases() if work.reaches("templates") else {}
    questions = work.questions(pairs, phrases) if work.reaches("questions") else ()
    questions = work.pointing(questions) if work.reaches("pointing") else questions
    questions = work.options(questions) if work.reaches("options") else questions
    questions = work.meaning(questions) if work.reaches("meaning") else questions
    gated = work.gates(questions) if work.reaches("gates") else Gated(drafts=())
    licences = {one.key: one.pair.record.licence for one in questions}
    items = [item_of(d, licence=licences[d.draft_id], maker=MADE_BY) for d in gated.drafts]
    words: list[str] = []
    if work.reaches("people"):
        items, words = _looked(work, items)
    files: tuple[Path, ...] = ()
    if work.reaches("items"):
        files = write_set(items, {one.key: one.call for one in questions}, work.out)
        work.began("items", len(items))
        names = [item.item_id for item in items]
        work.close("items", unit="questions", taken=names, kept=names)
    if work.reaches(RELEASE) and items:
        work.tasks = [item.tags["task"] for item in items]
        release_questions(work, items, work.plan.config, media_root=work.out)
        files, words = (*files, *work.files), [*words, *work.sentences]
    account = work.ledger.write(work.out, [item.tags["task"] for item in items])
    if (work.out / VERDICTS_FILE).is_file() and work.plan.config.gates is not None:
        files = (*files, work.out / VERDICTS_FILE)
    return Built(
        folder=work.out,
        account=account,
        files=(*files, work.out / ACCOUNT_FILE, work.out / DROPPED_FILE),
        sentences=(*_sentences(work, items), *words, *gated.words),
        is_empty=work.reaches("items") and not items,
    )


def _looked(work: ChoicesSession, items: list[Item]) -> tuple[list[Item], list[str]]:
    """What people left of the questions."""
    rules = work.plan.config.review
    if rules is None:
        return items, ["the configuration has no [review]; nobody's decisions were read"]
    found = look_up(items, work.root / rules.folder, waiting=rules.waiting)
    work.began(PEOPLE, len(items))
    work.close(
        PEOPLE,
        unit="questions",
        taken=[item.item_id for item in items],
        kept=[item.item_id for item in found.items],
        dropped=found.dropped,
    )
    return list(found.items), list(found.words)


def _sentences(work: ChoicesSession, items: Sequence[Item]) -> list[str]:
    spent = work.models.spent
    said = [f"{len(items):,} questions; {work.plan.taxonomy.words()}."]
    n_doubts = sum(FOR_PEOPLE in item.tags for item in items)
    if n_doubts:
        said.append(f"{n_doubts:,} are to be looked at by people: the tag {FOR_PEOPLE} says why.")
    unclear = sum(one.reason == "ambiguous" for one in work.ledger.dropped)
    if unclear:
        said.append(
            f"{unclear:,} records have no template that is clear about whom it means; fill in "
            "templates.csv, and name it as `sheet`."
        )
    if spent.n_asked or spent.n_remembered:
        said.append(f"{spent.n_asked:,} replies asked for, {spent.n_remembered:,} out of the memory.")
    return said
