"""HERBench's construction, from videos and event logs to questions of twelve tasks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from vidence.catalog import names
from vidence.engine.side_by_side import look_side_by_side
from vidence.errors import UnknownNameError, UsageError
from vidence.make.gates.frames import FrameSource
from vidence.make.gates.gate_sequence import Gated, GateDesk, pass_gates
from vidence.make.herbench.card_step import cut_all_crops, write_all_cards
from vidence.make.herbench.config import HerbenchConfig, read_herbench
from vidence.make.herbench.drafting import TaskOrder, draft_all, open_tasks
from vidence.make.herbench.hints import additions, lacked_by_all, wants_people, why_none
from vidence.make.herbench.identification import cut_all_portraits
from vidence.make.herbench.opened_set import keep_opened
from vidence.make.herbench.people import give_counts
from vidence.make.herbench.planning import foresee
from vidence.make.herbench.release import Reviewing, release, review
from vidence.make.herbench.report import report
from vidence.make.herbench.scenes import write_all_scenes
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.sheets import write_sheets
from vidence.make.herbench.sources import Sources, find_sources
from vidence.make.herbench.tracking import track_all
from vidence.make.pipeline.material import Corpus, Material
from vidence.make.pipeline.output import Question, numbered, write_questions
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    StageRow,
    Stop,
    started,
)
from vidence.tables.table import several

NAME, VERSION = "herbench", 1
MADE_BY = f"vidence make {NAME} {VERSION}"
HOLDS: Final = ("sva", "tso")  # tasks about true and false descriptions, which their words may tell apart
_MOST_NAMED: Final = 10


@dataclass(kw_only=True)
class _Build(HerbenchSession):
    """One session with the intermediate results of its stages."""

    orders: tuple[TaskOrder, ...]
    found: Sources = field(default_factory=lambda: Sources(sources=()))
    videos: list[VideoState] = field(default_factory=list)
    gated: Gated = field(default_factory=lambda: Gated(left=()))
    questions: tuple[Question, ...] = ()
    reviewing: Reviewing = field(default_factory=lambda: Reviewing(questions=()))

    @property
    def needs(self) -> frozenset[str]:
        """The parts of the material that the wanted tasks need."""
        return frozenset(part for order in self.orders for part in order.task.needs)

    # ------------------------------------------------------------------ material

    def find_sources(self) -> None:
        """Find the usable videos."""
        sources = find_sources(
            self.config,
            self.root,
            cache_root=self.context.cache_root,
            limit=self.overrides.limit,
            look_ahead=self._look_ahead,
        )
        kept = [source.video.video_id for source in sources.sources]
        self.close("sources", unit="videos", taken=sources.taken, kept=kept, dropped=sources.dropped)
        for dropped in sources.dropped[:_MOST_NAMED]:
            self.trouble(f"{dropped.what} cannot be used: {dropped.detail}")
        if len(sources.dropped) > _MOST_NAMED:
            rest = len(sources.dropped) - _MOST_NAMED
            self.trouble(f"{rest:,} more videos cannot be used; see dropped.jsonl")
        for remark in sources.remarks:
            self.trouble(remark)
        self.ledger.notes.extend((*sources.notes, *sources.remarks))
        self.video_ids.update(sources.taken)
        self.found = sources
        self.videos = [VideoState(source=s, material=Material(source=s.video)) for s in sources.sources]

    def _look_ahead(self, files: Sequence[Path]) -> None:
        """Let other processes inspect the files; unreadable ones are reported in turn."""
        context = self.context
        if context.parallel.has_others and len(files) > 1:
            for _ in look_side_by_side(
                files, context.parallel, cache_root=context.cache_root, on_trouble=self.trouble
            ):
                pass

    def take_events(self) -> None:
        """Give each video its events; reading logs is faster than caching."""
        if "events" not in self.needs:
            return
        kept: list[str] = []
        for video in self.videos:
            logs = ", ".join(rule.path for rule in self.config.logs)
            why = f"no event of it in {logs}" if logs else "the configuration has no [[logs]]"
            video.material = replace(video.material, events=video.source.events)
            video.settle("events", otherwise=why)
            kept += [video.named(event.event_id) for event in video.source.events]
        dropped = self.found.unused_events
        taken = [*kept, *(entry.what for entry in dropped)]
        self.close("events", unit="events", taken=taken, kept=kept, dropped=dropped)

    def watch(self) -> None:
        """Track people and find shots; take people's counts."""
        track_all(self, self.videos, needs=self.needs)
        give_counts(self, self.videos)

    def write_cards(self) -> None:
        """Write the cards of every chosen track."""
        write_all_cards(self, self.videos, needs=self.needs)
        if self.config.people is not None:  # boards show everybody
            cut_all_portraits(self, [video for video in self.videos if video.material.chosen])

    def describe_scenes(self) -> None:
        """Write the scene cards of every shot."""
        write_all_scenes(self, self.videos, needs=self.needs)

    # ------------------------------------------------------------------ questions

    def draft(self) -> None:
        """Try every task on every video."""
        with_cards = {video.video_id: video.material for video in self.videos if video.material.a_cards}
        corpus = Corpus(
            events=self.found.events,
            a_cards={name: card.a_cards for name, card in with_cards.items()},
            looks={name: _looks(card) for name, card in with_cards.items()},
        )
        self._take(Gated(left=draft_all(self, self.videos, corpus, orders=self.orders)))

    def gate(self) -> None:
        """Run the configured gates on the drafts."""
        config = self.config
        frames = FrameSource(
            files={
                video.video_id: video.source.file for video in self.videos if video.source.file is not None
            },
            videos={video.video_id: video.source.video for video in self.videos},
            pictures=self.pictures,
            cache=self.cache,
            context=self.context,
        )
        desk = GateDesk(
            ledger=self.ledger,
            on_event=self.context.on_event,
            out=self.out,
            models=self.models,
            frames=lambda some: frames,
            seed=config.seed,
            sources={video.video_id: video.source.video.source_id for video in self.videos},
            own_words=self.prompts,
            is_released=config.release is not None,
            holds=HOLDS,
        )
        self._take(pass_gates(self.gated.drafts, config.gates, desk))

    def _take(self, gated: Gated) -> None:
        """Keep the remaining drafts as questions."""
        self.gated = gated
        self.questions = numbered(
            gated.drafts,
            tasks={order.task.code: order.task for order in self.orders},
            videos={video.video_id: video.source.video for video in self.videos},
            maker=MADE_BY,
        )
        self.tasks = [question.draft.task for question in self.questions]

    def write_questions(self) -> None:
        """Write the questions."""
        folder = self.root / self.config.videos
        self.files += write_questions(self.questions, self.out, videos=folder)
        self.n_made = len(self.questions)
        self.sentences += self._hints()

    def _hints(self) -> tuple[str, ...]:
        """For each task without questions, what to add, or the setting that decided."""
        tasks = {question.draft.task for question in self.questions}
        idle = [order for order in self.orders if order.task.code not in tasks]
        sources = [video.source for video in self.videos]
        lacking = {order.task.code: lacked_by_all(order.task, sources, self.config) for order in idle}
        materials = [video.material for video in self.videos]
        others = [
            why_none(order.task, materials, self.ledger.dropped)
            for order in idle
            if not lacking[order.task.code]
        ]
        return (*additions(lacking), *others)

    def review(self) -> None:
        """Write the sheets, or read what people filled in and decide."""
        self.reviewing = review(self, self.questions, self.videos, gated=self.gated)
        self.tasks = [question.draft.task for question in self.reviewing.questions]

    def release(self) -> None:
        """Write the release that the configuration wants."""
        left = release(self, self.reviewing, gated=self.gated)
        self.tasks = [question.draft.task for question in left]

    # ------------------------------------------------------------------ the end

    def report(self) -> None:
        """Write the page that shows what was made."""
        account = self.ledger.account(self.tasks)
        messages = self._said()
        self.files.append(report(self, self.videos, self.questions, account=account, sentences=messages))

    def write_sheets(self) -> None:
        """Cut the pictures for people, and write the sheets to fill in."""
        with_tracks = [video for video in self.videos if video.material.chosen]
        cut_all_crops(self, with_tracks)
        cut_all_portraits(self, with_tracks)
        write_sheets(self, self.videos, Path(self.overrides.sheets))

    def watch_for_sheets(self) -> None:
        """Track people and find shots, whatever the tasks need."""
        config = self.config
        if not (config.tracking or config.shots or any(source.tracks for source in config.sources)):
            raise UsageError(
                "a sheet shows tracks and shots; the configuration has neither [tracking] nor [shots]"
            )
        track_all(self, self.videos, needs=("tracked", "chosen", "shots"))

    def _said(self, *spent: str) -> list[str]:
        """The number of questions, what waits for people, what to add, and how to continue."""
        words = f"{several(len(self.questions), 'question')} about the sources that could be used."
        return [words, *self._waiting(), *spent, *self.sentences]

    def _waiting(self) -> tuple[str, ...]:
        """Return how many cards people still have to write, and where."""
        if not self.waiting or self.config.people is None:
            return ()
        each = ", ".join(f"{video_id} {n:,}" for video_id, n in sorted(self.waiting.items()))
        cards = several(sum(self.waiting.values()), "card")
        folder = f"{self.config.people.folder}/cards"
        return (f"People are still to write {cards} ({each}), into {folder}/VIDEO.jsonl.",)

    def _stops(self) -> Iterator[Stop]:
        """Return the next tasks of people: check tracks, count, write cards and scenes, check questions."""
        step, boards = self.config.scenes, self.videos if self.config.people is not None else []
        for board in boards:
            video = board.material.tracked
            if video is not None and video.tracks and video.basis.kind == "detected":
                words = f"{board.video_id}: look at {several(len(video.tracks), 'track')}, then at Everybody."
                yield Stop(first=f"{board.video_id}/tracks", words=words)
                if not board.material.counts and any(wants_people(o.task, board.source) for o in self.orders):
                    words = f"{board.video_id}: count people at places, unless Everybody is complete."
                    yield Stop(first=f"{board.video_id}/counts", words=words)
        for board in boards:
            wants = [several(n, "card")] if (n := self.waiting.get(board.video_id)) else []
            is_open = step is not None and not step.model and not board.source.rule.scene_cards
            if is_open and board.material.shots and not board.material.scene_cards and "shots" in self.needs:
                wants.append(several(len(board.material.shots), "sentence") + " about shots")
            if wants:
                words = f"{board.video_id}: write {' and '.join(wants)}; note which tracks each A fits."
                yield Stop(first=f"{board.video_id}/cards", words=words)
        if self.reviewing.is_pending:
            yield Stop(first="/review", words="Look at the drawn questions, under My work.")

    def _spent(self) -> tuple[str, ...]:
        """What models were asked; kept out of the report, which is reproducible."""
        spent = self.models.spent
        if not (spent.n_asked or spent.n_remembered):
            return ()
        money = f", {spent.cost:.4f} US dollars" if spent.cost else ""
        return (f"{spent.n_asked:,} replies asked for, {spent.n_remembered:,} out of the memory{money}.",)

    def end(self) -> Built:
        """Store what boards show, and report the result; see `Session.end`."""
        keep_opened(self, self.videos)
        if not self.overrides.sheets:
            self.sentences, self.stops = self._said(*self._spent()), tuple(self._stops())
        return super().end()


def _looks(material: Material) -> dict[str, tuple[float, ...]]:
    """The appearance of people with a card."""
    known = {} if material.tracked is None else material.tracked.looks
    named = sorted({card.track_id for card in material.a_cards} & set(known))
    return {name: tuple(float(value) for value in known[name]) for name in named}


STAGES: Final[tuple[StageRow[_Build], ...]] = (
    StageRow(name="sources", do=_Build.find_sources),
    StageRow(name="events", do=_Build.take_events),
    StageRow(name="watching", do=_Build.watch),
    StageRow(name="cards", do=_Build.write_cards, asks=("cards.model", "cards.identify")),
    StageRow(name="scenes", do=_Build.describe_scenes, asks=("scenes.model", "scenes.false_model")),
    StageRow(name="drafts", do=_Build.draft),
    StageRow(name="gates", do=_Build.gate, asks=("gates.models",)),
    StageRow(name="questions", do=_Build.write_questions),
    StageRow(name="review", do=_Build.review),
    StageRow(name="release", do=_Build.release),
    StageRow(name="report", do=_Build.report),
)
SHEETS: Final[tuple[StageRow[_Build], ...]] = (
    STAGES[0],
    StageRow(name="watching", do=_Build.watch_for_sheets),
    StageRow(name="sheets", do=_Build.write_sheets),
)


class HerbenchMaker:
    """Sources -> tracks, cards, shots, scenes, events -> drafts -> questions.

    Every stream is made only where a wanted task needs it, the configuration switches it on and the source
    has what it takes; otherwise the account says what was missing.

    Source: HERBench, sections 3.2 and 7.
    Departs: see the steps; what the paper leaves open is in docs/making/herbench.md.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = tuple(row.name for row in STAGES)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """What the configuration can yield and lacks; errors as for `read_herbench`, `open_tasks`."""
        read, root = read_herbench(config), config.parent
        orders = open_tasks(read.tasks, wanted_tasks(read, overrides.only), root=root)
        sources = find_sources(read, root, cache_root=context.cache_root, limit=overrides.limit)
        return foresee(read, sources, orders, path=config, root=root, open_video=context.video)

    def make(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Built:
        """Make the questions, or with sheets only what people fill in; see `Maker`."""
        read = read_herbench(config)
        orders = open_tasks(read.tasks, wanted_tasks(read, overrides.only), root=config.parent)
        start = started(self, config, read, overrides=overrides, context=context, has_sheets=True)
        with context.models(read.models, source=config, limits=read.asking, out=start["out"]) as models:
            work = _Build(**start, config=read, models=models, orders=orders)
            return work.run(SHEETS if overrides.sheets else STAGES)


def wanted_tasks(config: HerbenchConfig, only: tuple[str, ...]) -> tuple[str, ...]:
    """The tasks to make: those of the configuration (all by default), or a selection.

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
            raise UsageError(f"the task {name!r} is not in this configuration; it has {', '.join(named)}")
    return only or named


def create() -> Maker:
    """The maker ``herbench``."""
    return HerbenchMaker()
