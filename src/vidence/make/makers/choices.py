"""Annotated pictures and clips -> questions with choices, checked rule by rule."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vidence.catalog import parse_spec
from vidence.errors import UsageError
from vidence.make.gates.gate_sequence import VERDICTS_FILE, Gated
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE, write_file
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    check_until,
)
from vidence.make.release.made_release import SECRET_BYTES, Making, refuse_unreviewed, release_making
from vidence.make.release.writing import RELEASE
from vidence.make.review.files import PROTOCOL_FILE, Reviews, read_reviews
from vidence.make.sources.annotations.people import empty_sheet
from vidence.make.writing.choices_config import Plan, read_plan
from vidence.make.writing.choices_output import FOR_PEOPLE, item_of, link_media, write_set
from vidence.make.writing.choices_people import PEOPLE, look_up
from vidence.make.writing.choices_session import STAGES, ChoicesSession
from vidence.make.writing.gathering import gather, pair_up, read_sources
from vidence.make.writing.phrases import read_seeds
from vidence.make.writing.written import PromptsInEffect
from vidence.media.whole import remove_leftovers
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
        check_until(overrides, self)
        plan, root = _plan(config, overrides.only), config.parent
        folder = out or root / (plan.config.out or f"made/{plan.config.name}")
        remove_leftovers(folder)
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
    if work.overrides.until:
        raise UsageError("a session with --sheets ends with them; leave out --until")
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
        released, said = _release(work, items)
        files, words = (*files, *released), [*words, *said]
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


def _release(work: ChoicesSession, items: Sequence[Item]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The release that the configuration wants; a session that was narrowed releases nothing."""
    config = work.plan.config
    rules, review = config.release, config.review
    refuse_unreviewed(rules, is_reviewed=review is not None)
    if rules is None:
        return (), ()
    if work.overrides.only or work.overrides.limit is not None:
        return (), ("Nothing is released by a session that was narrowed with --only or --limit.",)
    folder = work.root / review.folder if review is not None else None
    has_review = folder is not None and (folder / PROTOCOL_FILE).is_file()
    reviews = read_reviews(folder) if folder is not None and has_review else None
    waiting = [] if rules.unreviewed else _waiting_ones(items, reviews)
    gone = {one.what for one in waiting}
    making = Making(
        name=config.name,
        root=work.root,
        media_root=work.out,
        seed=config.seed,
        account=work.ledger.account([item.tags["task"] for item in items]),
        fresh_secret=os.urandom(SECRET_BYTES),
        reviews=reviews,
    )
    left = [item for item in items if item.item_id not in gone]
    found = release_making(left, rules, making, into=work.out / RELEASE)
    work.began(RELEASE, len(items))
    taken, kept = [item.item_id for item in items], [item.item_id for item in found.items]
    work.close(RELEASE, unit="questions", taken=taken, kept=kept, dropped=[*waiting, *found.dropped])
    return found.files, found.sentences


def _waiting_ones(items: Sequence[Item], reviews: Reviews | None) -> list[Dropped]:
    """What people have not accepted, and a release leaves out."""
    states = {} if reviews is None else {name: one.state for name, one in reviews.states.items()}
    return [
        Dropped(
            what=item.item_id,
            stage=RELEASE,
            reason="not-accepted",
            detail=states.get(item.item_id, "nobody has looked"),
        )
        for item in items
        if states.get(item.item_id) != "accepted"
    ]


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
