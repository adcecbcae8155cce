"""HERBench's construction, from videos and event logs to questions of twelve tasks."""

from collections.abc import Collection, Sequence
from pathlib import Path

from vidence.catalog import names
from vidence.errors import UnknownNameError, UsageError
from vidence.make.herbench.config import HerbenchConfig, read_herbench
from vidence.make.herbench.drafting import TaskOrder, draft_all, open_tasks
from vidence.make.herbench.gates import Gated, pass_gates
from vidence.make.herbench.hints import additions, lacked_by_all, why_none
from vidence.make.herbench.opened_set import keep_opened
from vidence.make.herbench.planning import foresee
from vidence.make.herbench.release import Reviewing, release, review
from vidence.make.herbench.report import report
from vidence.make.herbench.session import STAGES, HerbenchSession, VideoState
from vidence.make.herbench.sheets import write_sheets
from vidence.make.herbench.sources import find_sources
from vidence.make.herbench.streams import gather, gather_for_sheets
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE
from vidence.make.pipeline.output import numbered, write_questions
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    check_until,
)
from vidence.media.whole import remove_leftovers
from vidence.tables.table import several

NAME, VERSION = "herbench", 1
MADE_BY = f"vidence make {NAME} {VERSION}"


class HerbenchMaker:
    """Sources -> tracks, cards, shots, scenes, events -> drafts -> questions.

    Every stream is made only where a wanted task needs it, the configuration switches it on and the source
    has what it takes; otherwise the account says what was missing.

    Source: HERBench, sections 3.2 and 7.
    Departs: see the steps; what the paper leaves open is in docs/making/herbench.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = STAGES

    def check(self, config: Path) -> None:
        """Read the configuration and open its tasks; errors as for `read_herbench` and `open_tasks`."""
        read = read_herbench(config)
        open_tasks(read.tasks, wanted_tasks(read, ()), root=config.parent)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """What the configuration can give and what it lacks; see `Maker`."""
        read, root = read_herbench(config), config.parent
        orders = open_tasks(read.tasks, wanted_tasks(read, overrides.only), root=root)
        found = find_sources(read, root, cache_root=context.cache_root, limit=overrides.limit)
        return foresee(read, found, orders, path=config, root=root, open_video=context.video)

    def make(
        self, config: Path, *, out: Path | None, overrides: MakeOverrides, context: BuildContext
    ) -> Built:
        """Make the questions; see `Maker`."""
        check_until(overrides, self)
        read = read_herbench(config)
        orders = open_tasks(read.tasks, wanted_tasks(read, overrides.only), root=config.parent)
        folder = out or config.parent / (read.out or f"made/{read.name}")
        remove_leftovers(folder)
        pictures = PictureFolder(folder / "pictures").get
        models = context.models(read.models, source=config, limits=read.asking, pictures=pictures)
        with models:
            work = HerbenchSession(
                config=read,
                root=config.parent,
                out=folder,
                context=context,
                overrides=overrides,
                models=models,
            )
            return _sheets(work) if overrides.sheets else _make(work, orders)


def _make(work: HerbenchSession, orders: Sequence[TaskOrder]) -> Built:
    videos, corpus = gather(work, needs={part for one in orders for part in one.task.needs})
    drafts = draft_all(work, videos, corpus, orders=orders) if work.reaches("drafts") else ()
    gated = pass_gates(work, drafts, videos) if work.reaches("gates") else Gated(drafts=drafts)
    questions = numbered(
        gated.drafts,
        tasks={one.task.code: one.task for one in orders},
        videos={one.video_id: one.source.video for one in videos},
    )
    files: tuple[Path, ...] = ()
    if work.reaches("questions"):
        folder = work.root / work.config.videos
        files = write_questions(questions, work.out, videos=folder, maker=MADE_BY)
    seen = Reviewing(questions=questions)
    if work.reaches("review"):
        seen = review(work, questions, videos, gated=gated)
    if work.reaches("release"):
        seen = release(work, seen, gated=gated, maker=MADE_BY)
    keep_opened(work, videos)
    account = work.ledger.write(work.out, [one.draft.task for one in seen.questions])
    hints: tuple[str, ...] = ()
    if work.reaches("questions"):
        hints = _hints(work, orders, videos, made={one.draft.task for one in questions})
    said = f"{several(len(questions), 'question')} about the sources that could be used."
    sentences = (said, *_waiting(work), *hints, *seen.sentences)
    files = (*files, *seen.files)
    if work.reaches("report"):
        files = (*files, report(work, videos, questions, account=account, sentences=sentences))
    return Built(
        folder=work.out,
        account=account,
        files=(*files, work.out / ACCOUNT_FILE, work.out / DROPPED_FILE),
        sentences=(said, *_waiting(work), *_spent(work), *hints, *seen.sentences),
        tables=seen.tables,
        is_empty=work.reaches("questions") and not questions,
    )


def _sheets(work: HerbenchSession) -> Built:
    """Watch the videos and write the sheets that people fill in; no question is made."""
    if work.overrides.until:
        raise UsageError("a session with --sheets ends with them; leave out --until")
    videos = gather_for_sheets(work)
    made = write_sheets(work, videos, Path(work.overrides.sheets))
    keep_opened(work, videos)
    account = work.ledger.write(work.out, [])
    return Built(folder=work.out, account=account, files=made.files, sentences=made.sentences)


def _waiting(work: HerbenchSession) -> tuple[str, ...]:
    """How many cards people are still to write, and where."""
    if not work.waiting or work.config.people is None:
        return ()
    each = ", ".join(f"{video_id} {n:,}" for video_id, n in sorted(work.waiting.items()))
    cards = several(sum(work.waiting.values()), "card")
    folder = f"{work.config.people.folder}/cards"
    return (f"People are still to write {cards} ({each}), into {folder}/VIDEO.jsonl.",)


def _hints(
    work: HerbenchSession, orders: Sequence[TaskOrder], videos: Sequence[VideoState], *, made: Collection[str]
) -> tuple[str, ...]:
    """For every task that gave no question what to add, or which setting decided."""
    sources = [one.source for one in videos]
    idle = [one.task for one in orders if one.task.code not in made]
    lacking = {task.code: lacked_by_all(task, sources, work.config) for task in idle}
    materials = [one.material for one in videos]
    others = [why_none(task, materials, work.ledger.dropped) for task in idle if not lacking[task.code]]
    return (*additions(lacking), *others)


def _spent(work: HerbenchSession) -> tuple[str, ...]:
    """What this session asked of models; not in the report, which is the same however often it is made."""
    spent = work.models.spent
    if not (spent.n_asked or spent.n_remembered):
        return ()
    money = f", {spent.cost:.4f} US dollars" if spent.cost else ""
    return (f"{spent.n_asked:,} replies asked for, {spent.n_remembered:,} out of the memory{money}.",)


def wanted_tasks(config: HerbenchConfig, only: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the tasks to make: those of the configuration (all where it names none), or some of them.

    Raises:
        UnknownNameError: no such task.
        UsageError: a task that the configuration does not have.
    """
    known = names("task")
    named = tuple(config.tasks) or known
    for name in only:
        if name not in known:
            raise UnknownNameError("task", name, known)
        if name not in named:
            raise UsageError(f"the task {name!r} is none of this configuration; it has {', '.join(named)}")
    return only or named


def create() -> Maker:
    """The maker ``herbench``."""
    return HerbenchMaker()
