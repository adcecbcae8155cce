"""Questions with rationale and evidence -> the same with three levels of hints, for people to edit."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.prompting.templates import Template, Templates
from vidence.ask.scoring.letters import plain
from vidence.ask.strategies.hints import said as behind
from vidence.catalog import create as make_one
from vidence.contracts import Benchmark, Flow, Loaded
from vidence.engine.config_file import Count, read_config
from vidence.engine.jobs import Jobs, NamedModel
from vidence.engine.limits import AskLimits
from vidence.errors import DataError, UsageError
from vidence.explain.diagnostics.conditions import Condition, n_right
from vidence.explain.diagnostics.conditions import ask_together as sit
from vidence.make.gates.checks import leak_in, right_answer
from vidence.make.gates.model_gates import DraftSubject
from vidence.make.pipeline.cache import FlowUnit, Stage, digest_of
from vidence.make.pipeline.ledger import DROPPED_FILE, write_file
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.output import json_lines
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    MakerConfig,
    Outlook,
    Session,
    StageRow,
    check_models,
    started,
)
from vidence.make.pipeline.wording import CardWording, load_template
from vidence.make.pipeline.writer import Objection, WritingTask, in_words, tidy, write_all
from vidence.records import Evidence, Item, Prompt, Record, TextPart

NAME, VERSION = "hints", 1
HINTED_FILE: Final = "hinted.jsonl"
N_LEVELS: Final = 3
TEMPLATE: Final = "write_hints"
VARIABLES: Final = {
    "question": "the question",
    "answer": "the right answer, which no hint may hold",
    "rationale": "why it is right",
    "evidence": "the annotated evidence, one line for each piece",
}
_LINE: Final = re.compile(r"^\W*([1-9])\s*[.):]\s*(\S.*)$")


class HintRules(Record, omit_defaults=True):
    """Who writes hints (`writer`) and who reads the text alone (`reader`): names in ``[models]``.

    A question is refused where `reader` is right with its hints in `at_least` of `tries`, and is not
    without them. Without a reader the words alone are looked at. `templates` is a folder with a
    ``write_hints.txt`` of your own.
    """

    writer: str = "writer"
    reader: str = ""
    tries: Count = 3
    at_least: Count = 2
    templates: str = ""

    def __post_init__(self) -> None:
        if self.at_least > self.tries:
            raise UsageError(
                f"at_least is {self.at_least} of {self.tries} tries; expected no more than there are"
            )


class HintsConfig(MakerConfig, omit_defaults=True):
    """The configuration; paths are relative to its folder; `benchmark` reads the questions in `data`."""

    data: str
    models: Mapping[str, NamedModel | str]
    benchmark: str = "table"
    split: str = ""
    hints: HintRules = HintRules()
    asking: AskLimits = AskLimits()


def _template(read: HintsConfig, root: Path) -> Template:
    folder = root / read.hints.templates if read.hints.templates else None
    return load_template(TEMPLATE, variables=VARIABLES, folder=folder)


def _load(read: HintsConfig, root: Path) -> Loaded:
    benchmark: Benchmark = make_one("benchmark", read.benchmark)
    return benchmark.load(root / read.data, split=read.split or benchmark.splits[0])


def _lacks(item: Item) -> str:
    """Why a question cannot have hints; empty if it can."""
    if item.hints:
        return "has-hints"
    if not item.rationale.strip():
        return "no-rationale"
    return "" if any(evidence.note.strip() for evidence in item.evidence) else "no-noted-evidence"


class _HintsResult(Record, omit_defaults=True):
    """A question's hints or a failure."""

    hints: tuple[str, ...] = ()
    reason: str = ""
    detail: str = ""


class _HintTries(Record):
    """How often the reader was right with and without hints."""

    n_with: int
    n_without: int


@dataclass(kw_only=True)
class _Build(Session):
    """One session and the remaining questions."""

    config: HintsConfig
    loaded: Loaded
    models: Jobs
    template: Template
    items: Mapping[str, Item] = field(default_factory=dict)
    n_unread: int = 0

    def find_questions(self) -> None:
        """Take the questions that can have hints."""
        self.ledger.notes.extend(self.loaded.problems)
        taken = self.loaded.items[: self.overrides.limit]
        dropped = [
            Dropped(what=item.item_id, stage="questions", reason=reason)
            for item in taken
            if (reason := _lacks(item))
        ]
        kept = {item.item_id: item for item in taken if not _lacks(item)}
        ids = [item.item_id for item in taken]
        self.close("questions", unit="questions", taken=ids, kept=list(kept), dropped=dropped)
        if not kept:
            raise DataError(
                f"{self.config.data}: no question has a rationale and evidence with notes, and no hints yet; "
                "hints are written from these"
            )
        self.items = kept

    # ------------------------------------------------------------------ written

    def write(self) -> None:
        """Write the hints of each question."""
        items = self.items
        rules = self.config.hints
        settings = [self.template.label, self.models.spec(rules.writer), N_LEVELS]
        stage = Stage(name="hints-written", kind=_HintsResult, version=VERSION, settings=settings)
        units = [
            FlowUnit(stage=stage, name=name, inputs={"item": digest_of(item)}, start=self._writing(item))
            for name, item in items.items()
        ]
        results = self.ask("written", units, models=self.models, model=rules.writer)
        dropped = [results.dropped(name, stage="written") for name in results.failed]
        hinted: dict[str, Item] = {}
        for name, artifact in results.made.items():
            result = artifact.value
            if result.hints:
                hinted[name] = msgspec.structs.replace(items[name], hints=result.hints)
            else:
                dropped.append(
                    Dropped(what=name, stage="written", reason=result.reason, detail=result.detail)
                )
        self.close(
            "written",
            unit="questions",
            taken=list(items),
            kept=list(hinted),
            dropped=dropped,
            n_cached=results.n_cached,
        )
        self._take(hinted)

    def _take(self, hinted: Mapping[str, Item]) -> None:
        """Take the questions that now have hints."""
        self.items = hinted
        self.tasks = ["hints"] * len(hinted)

    def _writing(self, item: Item) -> Callable[[], Flow[_HintsResult]]:
        def start() -> Flow[_HintsResult]:
            words = self.template.fill(
                {
                    "question": item.question,
                    "answer": right_answer(item),
                    "rationale": item.rationale,
                    "evidence": "\n".join(_piece(e) for e in item.evidence if e.note.strip()),
                }
            )
            prompt = Prompt(parts=(TextPart(text=words),), template=self.template.label)
            pieces = [WritingTask(prompt=prompt, read=in_words(_read_hints))]
            (task,) = yield from write_all(pieces, CardWording.load())
            if task.made is not None:
                return _HintsResult(hints=task.made)
            return _HintsResult(reason=task.why.reason, detail=task.why.detail)

        return start

    # ------------------------------------------------------------------ what gives a question away

    def read_words(self) -> None:
        """Drop questions whose hints leak the answer in words."""
        hinted = self.items
        words = {name: leak_in(item.hints, item) for name, item in hinted.items()}
        dropped = [
            Dropped(what=name, stage="words", reason=objection.reason, detail=objection.detail)
            for name, objection in words.items()
            if objection is not None
        ]
        self._take({name: item for name, item in hinted.items() if words[name] is None})
        self.close("words", unit="questions", taken=list(hinted), dropped=dropped)

    def try_readers(self) -> None:
        """Drop questions answered from hints without the video; count untestable ones."""
        rules, hinted = self.config.hints, self.items
        if not rules.reader:
            self.close("readers", unit="questions", taken=list(hinted))
            return
        tried = {name: item for name, item in hinted.items() if item.answer_kind == "choice"}
        settings = [self.models.spec(rules.reader), rules.tries]
        stage = Stage(name="hints-read", kind=_HintTries, version=VERSION, settings=settings)
        units = [
            FlowUnit(stage=stage, name=name, inputs={"item": digest_of(item)}, start=self._reading(item))
            for name, item in tried.items()
        ]
        results = self.ask("readers", units, models=self.models, model=rules.reader)
        dropped = [results.dropped(name, stage="readers") for name in results.failed]
        for name, artifact in results.made.items():
            tries = artifact.value
            if tries.n_with >= rules.at_least > tries.n_without:
                detail = (
                    f"{rules.reader} is right without the video in {tries.n_with} of {rules.tries} tries "
                    f"with the hints, in {tries.n_without} without: {' | '.join(tried[name].hints)}"
                )
                dropped.append(Dropped(what=name, stage="readers", reason="read-off", detail=detail))
        gone = {entry.what for entry in dropped}
        self._take({name: item for name, item in hinted.items() if name not in gone})
        self.n_unread = len(hinted) - len(tried)
        self.close(
            "readers", unit="questions", taken=list(hinted), dropped=dropped, n_cached=results.n_cached
        )

    def _reading(self, item: Item) -> Callable[[], Flow[_HintTries]]:
        def start() -> Flow[_HintTries]:
            parser = make_one("parser", "robust")
            subject = DraftSubject(item=item, templates=Templates.load("plain"), parser=parser)
            tries = range(self.config.hints.tries)
            help_ = behind("\n".join(item.hints))
            conditions = [
                Condition(view="", positions=(), sample=i, more=more) for more in (help_, "") for i in tries
            ]
            scores = yield from sit(subject, conditions)
            n = len(tries)
            return _HintTries(n_with=n_right(scores[:n]), n_without=n_right(scores[n:]))

        return start

    # ------------------------------------------------------------------ the end

    def write_table(self) -> None:
        """Write the table that people edit."""
        self.files.append(self.out / HINTED_FILE)
        write_file(self.files[-1], json_lines(list(self.items.values())))
        self.n_made = len(self.items)
        self.close("table", unit="questions", taken=list(self.items))

    def end(self) -> Built:
        """Report the result; see `Session.end`."""
        n_refused = sum(dropped.stage in ("words", "readers") for dropped in self.ledger.dropped)
        self.sentences += [
            f"{len(self.tasks):,} questions have hints of {N_LEVELS} levels; have a person read each of "
            "them.",
            f"{n_refused:,} were refused, since their hints give something away; {DROPPED_FILE} has them.",
        ]
        if self.n_unread:
            self.sentences.append(
                f"{self.n_unread:,} open questions were checked by words alone: free answers are not marked "
                "here."
            )
        if not self.config.hints.reader:
            self.sentences.append(
                "No reader is named: no model was asked whether the hints alone are enough."
            )
        return super().end()


STAGES: Final[tuple[StageRow[_Build], ...]] = (
    StageRow(name="questions", do=_Build.find_questions),
    StageRow(name="written", do=_Build.write, asks=("hints.writer",)),
    StageRow(name="words", do=_Build.read_words),
    StageRow(name="readers", do=_Build.try_readers, asks=("hints.reader",)),
    StageRow(name="table", do=_Build.write_table),
)


def _piece(evidence: Evidence) -> str:
    ends = [f"{value:g} s" for value in (evidence.start_s, evidence.end_s) if value is not None]
    when = f" ({' to '.join(ends)})" if ends else ""
    return f"{evidence.kind}{when}: {evidence.note.strip()}"


def _read_hints(text: str) -> tuple[str, ...] | Objection:
    """The hints in a reply: one numbered line per level."""
    hints: dict[int, str] = {}
    for line in text.splitlines():
        if (match := _LINE.match(plain(line))) is not None:
            hints.setdefault(int(match[1]), tidy(match[2]))
    if list(hints) != list(range(1, N_LEVELS + 1)) or not all(hints.values()):
        numbers = ", ".join(map(str, hints)) or "none"
        detail = f"it has the numbered lines {numbers}; wanted are 1 to {N_LEVELS}, one sentence each"
        return Objection(reason="misshapen", detail=detail)
    return tuple(hints.values())


class HintsMaker:
    """Questions -> hints -> hints that do not leak -> a table for people to edit.

    Source: HumanPCR, section 4.3 (three levels: a kind of relation, which cues belong together, a vague
        description of the proactive evidence; neither reasoning steps nor the answer).
    Departs: the paper's hints were written by people and were not released. The checks are ours.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = tuple(row.name for row in STAGES)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """How many questions can have hints; reads the template."""
        read = _read(config)
        _template(read, config.parent)
        loaded = _load(read, config.parent)
        n = sum(not _lacks(item) for item in loaded.items[: overrides.limit])
        message = (
            f"{n:,} of {len(loaded.items):,} questions have a rationale and noted evidence, and no hints"
        )
        return Outlook(sentences=(message,), can_make=n > 0)

    def make(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Built:
        """Write the hints; see `Maker`. `limit` of the overrides counts questions."""
        read = _read(config)
        loaded = _load(read, config.parent)
        start = started(self, config, read, overrides=overrides, context=context)
        with context.models(read.models, source=config, limits=read.asking) as models:
            template = _template(read, config.parent)
            return _Build(**start, config=read, loaded=loaded, models=models, template=template).run(STAGES)


def create() -> Maker:
    """The maker."""
    return HintsMaker()


def _read(path: Path) -> HintsConfig:
    """The configuration; errors as for `read_config` and `check_models`."""
    read = read_config(path, HintsConfig)
    check_models(path, read, STAGES, models=read.models)
    return read
