"""The stages of ``vidence make choices``, from records to gated drafts."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar

import msgspec

from vidence.contracts import Flow
from vidence.engine.jobs import Jobs
from vidence.make.gates.rules import ALL_TASKS
from vidence.make.pipeline.cache import FlowUnit, Stage, digest_of
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import Built, Results
from vidence.make.pipeline.writer import Objection
from vidence.make.sources.annotations.annotation_records import AnnotationRecord, LabelSpace
from vidence.make.writing.choices_config import CHECKER, JUDGE, OPTIONS, WRITER, ChoicesConfig, Order, Plan
from vidence.make.writing.choices_options import match_labels, n_wanted, neighbours, options_fault
from vidence.make.writing.choices_output import (
    FOR_PEOPLE,
    Call,
    Question,
    draft_of,
    item_of,
    link_media,
    write_set,
)
from vidence.make.writing.choices_rules import (
    IMAGINED,
    POINTS_ELSEWHERE,
    QuestionSource,
    fault_of,
    imagined_words,
    points_at,
)
from vidence.make.writing.gathering import GatheredRecords, Pair, gather, generator, pair_up, read_sources
from vidence.make.writing.phrases import (
    SHEET_FILE,
    Filled,
    Phrase,
    choose_phrases,
    decided,
    fill,
    pick,
    read_seeds,
    read_sheet,
    sheet,
)
from vidence.make.writing.session import WritingSession
from vidence.make.writing.written import (
    ASK,
    EXPAND,
    POINT,
    SAME,
    PromptsInEffect,
    Wrote,
    WroteAll,
    answer_from_text,
    judge_options,
    write_options,
    write_phrases,
    write_questions,
)
from vidence.make.writing.written import OPTIONS as OPTIONS_PROMPT
from vidence.records import by_key

MAKER, VERSION = "make-choices", 1
MADE_BY: Final = f"vidence make choices {VERSION}"
T = TypeVar("T")
_Pieces: TypeAlias = dict[str, tuple[dict[str, str], Callable[[], Flow[T]]]]
"""Requests to a model by name: what determines the result, and how to start it."""
_UNSURE: Final = "the checker gave no answer"
_UNJUDGED: Final = "the judge gave no answer"


@dataclass(frozen=True)
class _ModelRequest(Generic[T]):
    """A request to a model: stage, result name, prompt, model."""

    stage: str
    name: str
    kind: type[T]
    prompt: str
    model: str


_EXPANDED: Final = _ModelRequest("templates", "choices-expanded", Wrote, EXPAND, WRITER)
_WRITTEN: Final = _ModelRequest("questions", "choices-written", WroteAll, ASK, WRITER)
_POINTED: Final = _ModelRequest("pointing", "choices-pointed", Wrote, POINT, CHECKER)
_OPTIONS: Final = _ModelRequest("options", "choices-options", Wrote, OPTIONS_PROMPT, OPTIONS)
_JUDGED: Final = _ModelRequest("meaning", "choices-judged", Wrote, SAME, JUDGE)


@dataclass(kw_only=True)
class ChoicesSession(WritingSession):
    """One session, and the data that its stages pass on."""

    plan: Plan
    config: ChoicesConfig
    models: Jobs
    words: PromptsInEffect
    tally: str = "task"
    records: GatheredRecords | None = None
    pairs: tuple[Pair, ...] = ()
    phrases: Mapping[str, tuple[Phrase, ...]] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()

    # ------------------------------------------------------------------ records and tasks

    def find_records(self) -> None:
        """Find the usable records of all sources, and link their media."""
        read = read_sources(self.plan, self.root)
        self.began("records", sum(len(annotations.records) for annotations in read.values()))
        records = gather(self.plan, read, root=self.root, context=self.context)
        self.ledger.notes.append(self.plan.taxonomy.words())
        self.ledger.notes.extend(records.notes)
        kept = list(records.records)
        self.close("records", unit="records", taken=records.taken, kept=kept, dropped=records.dropped)
        link_media(self.plan, set(records.source_of.values()), root=self.root, out=self.out)
        self.records = records

    def pair(self) -> None:
        """Pair records with tasks."""
        if self.records is None:
            return
        taken, self.pairs, dropped = pair_up(self.plan, self.records, limit=self.overrides.limit)
        self.close("tasks", unit="questions", taken=taken, dropped=dropped)

    # ------------------------------------------------------------------ templates

    def choose_phrases(self) -> None:
        """Choose each task's templates: seeds, and a model's variations."""
        orders = [entry for entry in self.plan.orders if entry.rules.way == "template"]
        seeds = {entry.name: read_seeds(entry.rules.seeds, self.root) for entry in orders}
        more = self._expanded([entry for entry in orders if entry.rules.expand], seeds)
        values: dict[str, tuple[Phrase, ...]] = {}
        taken: list[str] = []
        dropped: list[Dropped] = []
        for order in orders:
            texts = [phrase.text for phrase in seeds[order.name]]
            further = [t for t in dict.fromkeys(more.get(order.name, ())) if t not in texts]
            kept, gone = choose_phrases(order.name, seeds[order.name], further, near=self.config.near)
            values[order.name] = kept
            taken += [f"{order.name}: {text}" for text in (*texts, *further)]
            dropped += gone
        names = [f"{task}: {phrase.text}" for task, some in values.items() for phrase in some]
        self.close("templates", unit="templates", taken=taken, kept=names, dropped=dropped)
        self.phrases = values

    def _expanded(
        self, orders: Sequence[Order], seeds: Mapping[str, Sequence[Phrase]]
    ) -> dict[str, tuple[str, ...]]:
        """Return further templates by a model, for tasks that request them."""
        pieces: _Pieces[Wrote] = {}
        for order in orders:
            texts = [phrase.text for phrase in seeds[order.name]]
            inputs = {"seeds": digest_of(texts), "aspect": order.aspect, "n": str(order.rules.expand)}
            start = partial(write_phrases, texts, self.words, aspect=order.aspect, n=order.rules.expand)
            pieces[order.name] = inputs, start
        results = self._put(_EXPANDED, pieces)
        for name, failed in results.failed.items():
            self.ledger.notes.append(f"templates: {name} has its seeds only: {failed.message}")
        return {name: artifact.value.texts for name, artifact in results.made.items()}

    # ------------------------------------------------------------------ questions

    def ask_pairs(self) -> None:
        """Make a valid question from each pair, by its task's method."""
        pairs = self.pairs
        by_way = by_key((pair.order.rules.way, pair) for pair in pairs)
        values = self._filled(by_way.get("template", ()))
        values |= self._written(by_way.get("model", ()))
        values |= {element.key: _by_person(element) for element in by_way.get("people", ())}
        kept: list[Question] = []
        dropped: list[Dropped] = []
        for pair in pairs:
            entry = values[pair.key]
            if isinstance(entry, Dropped):
                dropped.append(entry)
                continue
            fault = fault_of(entry.text, _asked(entry))
            if fault is None:
                kept.append(_with_doubts(entry))
            else:
                dropped.append(_gone(entry.key, "questions", fault))
        self.close(
            "questions",
            unit="questions",
            taken=[element.key for element in pairs],
            kept=[question.key for question in kept],
            dropped=dropped,
        )
        self.questions = tuple(kept)

    def _filled(self, pairs: Sequence[Pair]) -> dict[str, Question | Dropped]:
        """Fill templates with records; ambiguous ones go to the sheet for people."""
        path = self.root / self.config.sheet if self.config.sheet else None
        values = read_sheet(path) if path is not None and path.is_file() else {}
        usable: dict[str, tuple[Phrase, ...]] = {}
        for task, some in self.phrases.items():
            usable[task], refused = decided(some, {t: d for (k, t), d in values.items() if k == task})
            self.ledger.notes += [f"templates: people refused {text!r} of {task}" for text in refused]
        entries: dict[str, Question | Dropped] = {}
        unclear: dict[tuple[str, str], list[str]] = defaultdict(list)
        for pair in pairs:
            some = usable[pair.order.name]
            rng = generator(self.config.seed, "template", pair.key)
            result = pick(some, pair.record, rng)
            if isinstance(result, Filled):
                entries[pair.key] = _by_template(pair, result)
                continue
            detail = (
                "no template fits what the record has"
                if result == "no-slot"
                else "it is ambiguous which person is meant"
            )
            entries[pair.key] = Dropped(what=pair.key, stage="questions", reason=result, detail=detail)
            for phrase in some:
                if fill(phrase, pair.record) == "ambiguous":
                    unclear[pair.order.name, phrase.text].append(pair.key)
        rows = [(task, text, len(keys), keys[0]) for (task, text), keys in unclear.items()]
        if self.phrases:
            write_file(self.out / SHEET_FILE, sheet(rows))
        return entries

    def _written(self, pairs: Sequence[Pair]) -> dict[str, Question | Dropped]:
        """Return questions written by a model, several records per call."""
        groups: dict[str, list[Pair]] = {}
        by_task = by_key((pair.order.name, pair) for pair in pairs)
        for mine in by_task.values():
            step = mine[0].order.rules.per_call
            groups |= {mine[i].key: mine[i : i + step] for i in range(0, len(mine), step)}
        pieces: _Pieces[WroteAll] = {}
        for name, group in groups.items():
            records, aspect = [entry.record for entry in group], group[0].order.aspect
            digest = digest_of([[record.caption, record.label] for record in records])
            start = partial(write_questions, records, self.words, aspect=aspect)
            pieces[name] = {"records": digest, "aspect": aspect}, start
        results = self._put(_WRITTEN, pieces)
        values: dict[str, Question | Dropped] = {}
        for name, group in groups.items():
            if name in results.failed:
                values |= {
                    entry.key: results.dropped(name, stage="questions", what=entry.key) for entry in group
                }
                continue
            for pair, wrote in zip(group, results.made[name].value.wrote, strict=True):
                values[pair.key] = self._by_model(pair, wrote)
        return values

    def _by_model(self, pair: Pair, wrote: Wrote) -> Question | Dropped:
        if not wrote.text:
            return Dropped(what=pair.key, stage="questions", reason=wrote.reason, detail=wrote.detail)
        if (pair.record.people or 1) > 1 and Phrase(text=wrote.text).names_one:
            detail = f"{pair.record.people} people are shown"
            return Dropped(what=pair.key, stage="questions", reason="several-people", detail=detail)
        call = msgspec.structs.replace(
            _call(pair),
            written_by=self.models.spec(WRITER),
            prompts=(self.words.label(ASK),),
            n_together=wrote.n_together,
            n_tries=wrote.n_tries,
        )
        return Question(pair=pair, text=wrote.text, call=call)

    def check_pointing(self) -> None:
        """Drop questions that another model, given the caption, answers with another label."""
        spec = self.models.spec(CHECKER)

        def judged(question: Question, wrote: Wrote) -> Question | Objection:
            call = msgspec.structs.replace(question.call, checked_by=spec)
            if not wrote.text:
                return replace(question, call=call, for_people=(*question.for_people, _UNSURE))
            if points_at(wrote.text, _asked(question)):
                return replace(question, call=call)
            detail = f"the answer is {wrote.text[:80]!r}; the label is {question.pair.record.label!r}"
            return Objection(reason=POINTS_ELSEWHERE, detail=detail)

        pieces: _Pieces[Wrote] = {
            question.key: (
                {"question": question.text, "caption": question.pair.record.caption},
                partial(answer_from_text, question.text, question.pair.record, self.words),
            )
            for question in self.questions
            if question.call.way == "model"
        }
        lacks = "questions were not answered by another"
        self._checked(_POINTED, pieces, judged=judged, lacks=lacks)

    # ------------------------------------------------------------------ options

    def give_options(self) -> None:
        """Give each question wrong choices, made separately from the question, and checked."""
        questions = self.questions
        by_labels = self._by_labels([q for q in questions if q.pair.order.rules.options == "labels"])
        by_model = self._options_by_model([q for q in questions if q.pair.order.rules.options == "model"])
        kept: dict[str, Question] = {}
        dropped: list[Dropped] = []
        for question in questions:
            pair, rules = question.pair, question.pair.order.rules
            n = _n_wrong(pair)
            label: Question | Dropped | Objection
            if rules.options == "model":
                label = by_model[question.key]
            elif rules.options == "people":
                label = replace(question, wrong=pair.record.wrong)
                n = len(pair.record.wrong) if 1 <= len(pair.record.wrong) < rules.n_choices else n
            else:
                label = by_labels[question.key]
            if isinstance(label, Question):
                fault = options_fault(label.text, pair.record, label.wrong, n=n, space=pair.space)
                label = fault or label
            if isinstance(label, Question):
                kept[question.key] = label
            else:
                dropped.append(label if isinstance(label, Dropped) else _gone(question.key, "options", label))
        self._closed("options", kept=kept, dropped=dropped)

    def _by_labels(self, questions: Sequence[Question]) -> dict[str, Question | Objection]:
        """Return wrong choices from label spaces, drawn jointly for each task's questions."""
        wrong: dict[str, tuple[str, ...] | Objection] = {}
        groups: dict[tuple[str, LabelSpace], list[Question]] = defaultdict(list)
        for question in questions:
            key, space, record = question.key, question.pair.space, question.pair.record
            if space is None:
                wrong[key] = Objection(reason="no-label", detail="there is no label space")
            elif space.is_numeric:
                rng = generator(self.config.seed, "labels", key)
                wrong[key] = neighbours(record, space, n=_n_wrong(question.pair), rng=rng)
            else:
                groups[question.pair.order.name, space].append(question)
        for (task, space), some in groups.items():
            by_template = some[0].pair.order.rules.way == "template"
            asked = [(_slots(q.pair.record) if by_template else q.text, q.pair.record) for q in some]
            matched = match_labels(
                asked,
                space,
                known=self._known(some[0].pair.order) if by_template else asked,
                n=_n_wrong(some[0].pair),
                confusable=some[0].pair.order.rules.confusable,
                rng=generator(self.config.seed, "labels", task),
            )
            wrong |= dict(zip((entry.key for entry in some), matched, strict=True))
        labels: dict[str, Question | Objection] = {}
        for question in questions:
            drawn = wrong[question.key]
            call = msgspec.structs.replace(question.call, options_by="labels")
            labels[question.key] = (
                drawn if isinstance(drawn, Objection) else replace(question, wrong=drawn, call=call)
            )
        return labels

    def _known(self, order: Order) -> list[tuple[str, AnnotationRecord]]:
        """Return all records of a task's sources, used or not."""
        gathered = self.records
        return [
            (_slots(record), record)
            for name, record in (gathered.records.items() if gathered else ())
            if record.label and gathered and gathered.source_of[name] in order.rules.sources
        ]

    def _options_by_model(self, questions: Sequence[Question]) -> dict[str, Question | Dropped]:
        """Return wrong choices written by a model in separate calls."""
        pieces: _Pieces[Wrote] = {}
        for question in questions:
            n, record = _n_wrong(question.pair), question.pair.record
            digest = digest_of([record.caption, record.label])
            start = partial(write_options, question.text, record, self.words, n=n)
            pieces[question.key] = {"question": question.text, "record": digest, "n": str(n)}, start
        results = self._put(_OPTIONS, pieces)
        options: dict[str, Question | Dropped] = {}
        for question in questions:
            if question.key in results.failed:
                options[question.key] = results.dropped(question.key, stage="options")
                continue
            wrote = results.made[question.key].value
            if not wrote.texts:
                options[question.key] = Dropped(
                    what=question.key, stage="options", reason=wrote.reason, detail=wrote.detail
                )
                continue
            prompts = (*question.call.prompts, self.words.label(OPTIONS_PROMPT))
            call = msgspec.structs.replace(
                question.call, options_by=self.models.spec(OPTIONS), prompts=prompts
            )
            options[question.key] = replace(question, wrong=wrote.texts, call=call)
        return options

    def check_meaning(self) -> None:
        """Drop questions for which a judge finds a wrong choice right, too."""
        spec = self.models.spec(JUDGE)

        def judged(question: Question, wrote: Wrote) -> Question | Objection:
            call = msgspec.structs.replace(question.call, judged_by=spec)
            if wrote.reason:
                return replace(question, call=call, for_people=(*question.for_people, _UNJUDGED))
            if not wrote.texts:
                return replace(question, call=call)
            detail = f"{', '.join(map(repr, wrote.texts))} would be right, too"
            return Objection(reason="paraphrase", detail=detail)

        pieces: _Pieces[Wrote] = {
            question.key: (
                {"question": digest_of([question.text, question.pair.record.label, question.wrong])},
                partial(
                    judge_options, question.text, question.pair.record.label, question.wrong, words=self.words
                ),
            )
            for question in self.questions
            if question.pair.order.rules.options == "model"
        }
        lacks = "paraphrases were looked for by words alone"
        self._checked(_JUDGED, pieces, judged=judged, lacks=lacks)

    def _put(self, asked: _ModelRequest[T], pieces: _Pieces[T]) -> Results[T]:
        """Process each piece with a model; no model is needed without pieces."""
        if not pieces:
            return Results(made={}, failed={})
        settings = [self.words.label(asked.prompt), self.models.spec(asked.model)]
        kept = Stage(name=asked.name, kind=asked.kind, version=VERSION, settings=settings)
        units = [
            FlowUnit(stage=kept, name=name, inputs=inputs, start=start)
            for name, (inputs, start) in pieces.items()
        ]
        return self.ask(asked.stage, units, models=self.models, model=asked.model)

    def _checked(
        self,
        asked: _ModelRequest[Wrote],
        pieces: _Pieces[Wrote],
        *,
        judged: Callable[[Question, Wrote], Question | Objection],
        lacks: str,
    ) -> None:
        """Check questions with a model; `lacks` is the message without a model."""
        stage, model = asked.stage, asked.model
        if model not in self.models.named or not pieces:
            self.ledger.notes += [f"{stage}: no model {model!r}; {lacks}"] if pieces else []
            return
        results = self._put(asked, pieces)
        dropped = [results.dropped(name, stage=stage) for name in results.failed]
        kept: dict[str, Question] = {}
        for question in self.questions:
            result = (
                judged(question, results.made[question.key].value)
                if question.key in results.made
                else question
            )
            if isinstance(result, Objection):
                dropped.append(_gone(question.key, stage, result))
            elif question.key not in results.failed:
                kept[question.key] = result
        self._closed(stage, kept=kept, dropped=dropped, n_cached=results.n_cached)

    def _closed(
        self, stage: str, *, kept: Mapping[str, Question], dropped: Sequence[Dropped], n_cached: int = 0
    ) -> None:
        taken = [question.key for question in self.questions]
        self.questions = tuple(kept[name] for name in taken if name in kept)
        names = [question.key for question in self.questions]
        self.close(stage, unit="questions", taken=taken, kept=names, dropped=dropped, n_cached=n_cached)

    # ------------------------------------------------------------------ gates

    def gate(self) -> None:
        """Pass the questions through the gates as drafts."""
        config = self.config
        drafts = tuple(draft_of(question, name=config.name, seed=config.seed) for question in self.questions)
        titles = {order.name: order.title for order in self.plan.orders}
        gated = self.gated(drafts, config.gates, replace(self.desk, holds=(ALL_TASKS,), tasks=titles))
        licences = {question.key: question.pair.record.licence for question in self.questions}
        self.take([item_of(draft, licence=licences[draft.draft_id], maker=MADE_BY) for draft in gated.drafts])

    # ------------------------------------------------------------------ people, and out

    def review(self) -> None:
        """Submit new questions, and keep those that people accepted."""
        wordings = {item.item_id: msgspec.to_builtins(item) for item in self.items}
        self.reviewed(wordings, by=MAKER)

    def write_items(self) -> None:
        """Write the questions, in our format and in HumanPCR's."""
        self.wrote(
            "items",
            write_set(self.items, {question.key: question.call for question in self.questions}, self.out),
        )

    def end(self) -> Built:
        """Report what was made; see `Session.end`."""
        messages = [f"{len(self.items):,} questions; {self.plan.taxonomy.words()}."]
        if n_doubts := sum(FOR_PEOPLE in item.tags for item in self.items):
            messages.append(f"{n_doubts:,} are to be looked at by people: the tag {FOR_PEOPLE} says why.")
        names = {item.item_id.partition("/")[0] for item in self.items}
        for name in [order.name for order in self.plan.orders if order.name not in names]:
            gone = Counter(o.reason for o in self.ledger.dropped if o.what.startswith(f"{name}/"))
            messages.append(f"{name} has no question: {', '.join(f'{n} {why}' for why, n in gone.items())}.")
        if unclear := sum(dropped.reason == "ambiguous" for dropped in self.ledger.dropped):
            messages.append(
                f"{unclear:,} records have only templates that are ambiguous about the person; fill in "
                "templates.csv, and set it as `sheet`."
            )
        spent = self.models.spent
        if spent.n_asked or spent.n_remembered:
            messages.append(f"{spent.n_asked:,} replies asked for, {spent.n_remembered:,} out of the memory.")
        if not self.overrides.sheets:
            self.sentences = [*messages, *self.sentences]
        return super().end()


def _slots(record: AnnotationRecord) -> str:
    """Return what templates can use of a record."""
    return " ".join(record.fields.values())


def _n_wrong(pair: Pair) -> int:
    return n_wanted(pair.order.rules.n_choices, pair.space) - 1


def _call(pair: Pair) -> Call:
    """Return the initial origin of a question about a record."""
    return Call(
        item_id=pair.key,
        record=pair.key.partition("/")[2],
        source_split=pair.record.source_split,
        way=pair.order.rules.way,
        label=pair.record.label,
    )


def _by_template(pair: Pair, filled: Filled) -> Question:
    phrase = filled.phrase
    call = msgspec.structs.replace(_call(pair), template=phrase.text, is_seed=phrase.is_seed)
    given = (*filled.given, phrase.text)
    return Question(pair=pair, text=filled.text, call=call, given=given)


def _by_person(pair: Pair) -> Question:
    call = msgspec.structs.replace(_call(pair), written_by="people", options_by="people")
    return Question(pair=pair, text=pair.record.question.strip(), call=call, given=(pair.record.question,))


def _asked(question: Question) -> QuestionSource:
    record, space = question.pair.record, question.pair.space
    label = None if space is None else space.find(record.label)
    order = question.pair.order
    return QuestionSource(
        label=record.label,
        synonyms=() if label is None else (label.name, *label.synonyms),
        caption=record.caption,
        owned=(order.aspect, order.title, *order.rules.owns, *question.given),
        n_named=order.rules.names,
    )


def _with_doubts(question: Question) -> Question:
    """Return the question with the words not found in its basis, for people to check."""
    names = imagined_words(question.text, _asked(question))
    return replace(question, for_people=(f"{IMAGINED}: {', '.join(names)}",)) if names else question


def _gone(key: str, stage: str, why: Objection) -> Dropped:
    return Dropped(what=key, stage=stage, reason=why.reason, detail=why.detail)
