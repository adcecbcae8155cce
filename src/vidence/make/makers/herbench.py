"""``herbench``: HERBench's construction, from videos and event logs to questions of twelve tasks."""

from collections.abc import Sequence
from pathlib import Path

from vidence.catalog import names
from vidence.engine.jobs import Jobs
from vidence.errors import UnknownNameError, UsageError
from vidence.make.cards.pictures import PictureFolder
from vidence.make.herbench.config import HerbenchConfig, read_herbench
from vidence.make.herbench.drafting import ASKED, Ordered, Tools, draft_all, open_tasks
from vidence.make.herbench.gates import Sifted, pass_gates
from vidence.make.herbench.release import Reviewing, release, review
from vidence.make.herbench.report import report
from vidence.make.herbench.streams import gather
from vidence.make.herbench.work import STAGES, Known, Work
from vidence.make.pipeline.accounts import ACCOUNT_FILE, DROPPED_FILE
from vidence.make.pipeline.making import Built, Maker, MakeWishes, Workshop
from vidence.make.pipeline.material import Corpus, Draft
from vidence.make.pipeline.output import Question, numbered, write_questions

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

    def make(self, config: Path, *, out: Path | None, wishes: MakeWishes, workshop: Workshop) -> Built:
        """Make the questions; see `Maker`."""
        if wishes.until and wishes.until not in self.stages:
            raise UnknownNameError("stage of herbench", wishes.until, self.stages)
        read = read_herbench(config)
        ordered = open_tasks(read.tasks, wanted_tasks(read, wishes.only), root=config.parent)
        folder = out or config.parent / (read.out or f"made/{read.name}")
        jobs = Jobs(
            read.named_models,
            memory=workshop.memory,
            limits=read.asking,
            pictures=PictureFolder(folder / "pictures").get,
            on_event=workshop.on_asking,
        )
        with jobs:
            work = Work(
                config=read, root=config.parent, out=folder, workshop=workshop, wishes=wishes, jobs=jobs
            )
            return _make(work, ordered)


def _make(work: Work, ordered: Sequence[Ordered]) -> Built:
    videos, corpus = gather(work, needs={part for one in ordered for part in one.task.needs})
    drafts = _drafts(work, ordered, videos, corpus=corpus) if work.goes_to("drafts") else ()
    sifted = pass_gates(work, drafts, videos) if work.goes_to("gates") else Sifted(drafts=drafts)
    questions = _questions(ordered, videos, sifted.drafts)
    files: tuple[Path, ...] = ()
    if work.goes_to("questions"):
        folder = work.root / work.config.videos
        files = write_questions(questions, work.out, videos=folder, maker=MADE_BY)
    seen = Reviewing(questions=questions)
    if work.goes_to("review"):
        seen = review(work, questions, videos, sifted=sifted)
    if work.goes_to("release"):
        seen = release(work, seen, sifted=sifted, maker=MADE_BY)
    account = work.books.write(work.out, [one.draft.task for one in seen.questions])
    sentences = (*_sentences(work, len(questions)), *seen.sentences)
    files = (*files, *seen.files)
    if work.goes_to("report"):
        files = (*files, report(work, videos, questions, account=account, sentences=sentences))
    return Built(
        folder=work.out,
        account=account,
        files=(*files, work.out / ACCOUNT_FILE, work.out / DROPPED_FILE),
        sentences=sentences,
    )


def _drafts(
    work: Work, ordered: Sequence[Ordered], videos: Sequence[Known], *, corpus: Corpus
) -> tuple[Draft, ...]:
    """What the tasks make."""
    models = work.config.named_models
    tools = Tools(
        shelf=work.shelf,
        jobs=work.jobs,
        books=work.books,
        on_event=work.workshop.on_event,
        answerer=models[ASKED].spec if ASKED in models else "",
    )
    ready = [one.ready() for one in videos]
    return draft_all(ready, corpus, ordered, seed=work.config.seed, tools=tools)


def _questions(
    ordered: Sequence[Ordered], videos: Sequence[Known], drafts: Sequence[Draft]
) -> tuple[Question, ...]:
    return numbered(
        drafts,
        tasks={one.task.code: one.task for one in ordered},
        videos={one.video_id: one.source.video for one in videos},
    )


def _sentences(work: Work, n_questions: int) -> list[str]:
    spent = work.jobs.spent
    said = [f"{n_questions:,} questions about the sources that could be used."]
    if spent.n_asked or spent.n_remembered:
        money = f", {spent.cost:.4f} US dollars" if spent.cost else ""
        said.append(f"{spent.n_asked:,} replies asked for, {spent.n_remembered:,} out of the memory{money}.")
    return said


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
