"""Annotated pictures and clips -> questions with choices, checked rule by rule."""

from pathlib import Path
from typing import Final

from vidence.errors import UsageError
from vidence.make.pipeline.ledger import write_file
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
from vidence.make.sources.annotations.csv import empty_sheet
from vidence.make.writing.choices_config import Plan, read_plan
from vidence.make.writing.choices_session import ChoicesSession
from vidence.make.writing.gathering import gather, pair_up, read_sources
from vidence.make.writing.phrases import read_seeds
from vidence.make.writing.session import REVIEW
from vidence.make.writing.written import PromptsInEffect

NAME, VERSION = "choices", 1
STAGES: Final[tuple[StageRow[ChoicesSession], ...]] = (
    StageRow(name="records", do=ChoicesSession.find_records),
    StageRow(name="tasks", do=ChoicesSession.pair),
    StageRow(name="templates", do=ChoicesSession.choose_phrases),
    StageRow(name="questions", do=ChoicesSession.ask_pairs),
    StageRow(name="pointing", do=ChoicesSession.check_pointing),
    StageRow(name="options", do=ChoicesSession.give_options),
    StageRow(name="meaning", do=ChoicesSession.check_meaning),
    StageRow(name="gates", do=ChoicesSession.gate, asks=("gates.models",)),
    StageRow(name=REVIEW, do=ChoicesSession.review),
    StageRow(name="items", do=ChoicesSession.write_items),
    StageRow(name=RELEASE, do=ChoicesSession.released),
)


class ChoicesMaker:
    """Records -> questions by templates, a model or people -> choices -> gates -> people -> items.

    Source: HumanPCR, sections 3.2 and 3.3, appendix B.1.
    Departs: the paper's rules are told to its models; here every one is a check with a reason and a count.
        Its prompts are not copied. What else is ours is in docs/making/choices.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = tuple(row.name for row in STAGES)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """How many records can be asked about; prompts are read, no model is asked."""
        plan = _plan(config, overrides.only)
        _words(plan, config.parent)
        if waiting := _waiting(plan, config.parent):
            message = (
                f"{', '.join(map(str, waiting))}: not there yet; --sheets DIR writes empty sheets to fill in"
            )
            return Outlook(sentences=(message,), can_make=False)
        records = gather(plan, read_sources(plan, config.parent), root=config.parent, context=context)
        _, pairs, _ = pair_up(plan, records, limit=overrides.limit)
        message = (
            f"{len(records.records):,} of {len(records.taken):,} records can be used; "
            f"{len(pairs):,} questions can be asked"
        )
        return Outlook(sentences=(message, plan.taxonomy.words()), can_make=bool(pairs))

    def make(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Built:
        """Make the questions; see `Maker`. `only` selects tasks, `limit` counts questions per task."""
        plan = _plan(config, overrides.only)
        read = plan.config
        start = started(self, config, read, overrides=overrides, context=context, has_sheets=True)
        with context.models(read.models, source=config, limits=read.asking, out=start["out"]) as models:
            words = _words(plan, config.parent)
            work = ChoicesSession(**start, plan=plan, config=read, models=models, words=words)
            return _sheets(work) if overrides.sheets else work.run(STAGES)


def create() -> Maker:
    """The maker ``choices``."""
    return ChoicesMaker()


def _plan(config: Path, only: tuple[str, ...]) -> Plan:
    plan = read_plan(config, only=only)
    check_models(config, plan.config, STAGES, models=plan.config.models)
    for order in plan.orders:
        if order.rules.way == "template":
            read_seeds(order.rules.seeds, config.parent)
    return plan


def _words(plan: Plan, root: Path) -> PromptsInEffect:
    return PromptsInEffect.load(root / plan.config.templates if plan.config.templates else None)


def _waiting(plan: Plan, root: Path) -> list[str]:
    """Missing sheets of people."""
    wanted = _sheets_of(plan)
    return [
        record.path
        for record in plan.config.records
        if record.name in wanted and not (root / record.path).is_file()
    ]


def _sheets_of(plan: Plan) -> set[str]:
    """The sources of tasks written by people."""
    return {name for order in plan.orders if order.rules.way == "people" for name in order.rules.sources}


def _sheets(work: ChoicesSession) -> Built:
    """Write empty sheets for the tasks that people write, and make no question."""
    folder = Path(work.overrides.sheets)
    files: list[Path] = []
    for name in sorted(_sheets_of(work.plan)):
        path = folder / f"{name}.csv"
        if path.exists():
            raise UsageError(f"{path} exists already; a sheet is never overwritten")
        write_file(path, empty_sheet())
        files.append(path)
    work.files += files
    work.sentences.append(f"{len(files)} empty sheets in {folder}; name each as the path of its [[records]]")
    return work.end()
