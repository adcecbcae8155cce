"""Import results of other tools as run folders, scored by vidence's parsers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import msgspec

from vidence.ask.benchmarks.question_files import QuestionReader, lettered
from vidence.ask.files import FieldError, usable
from vidence.ask.mapping.items import ItemReader
from vidence.ask.mapping.mapping import ColumnMap, ReplyColumns, presets, read_map
from vidence.ask.mapping.replies import Recorded, recorded
from vidence.ask.mapping.rows import Table, find_files, read_rows
from vidence.ask.models.answers import finish_of
from vidence.contracts import Loaded
from vidence.engine.environment import Environment
from vidence.engine.evaluate import opened_run, own_run, write_submission
from vidence.engine.events import Listener, Started, TrialStored
from vidence.engine.plan import PLAN_FILE, Facts, Plan, PlanOverrides, read_overrides
from vidence.engine.prepare import PreparedRun, load_questions, make_plan
from vidence.engine.scoring import score_reply
from vidence.engine.session import opened_session
from vidence.errors import DataError, StoreError, UsageError
from vidence.media.whole import write_records
from vidence.records import NEEDS_JUDGE, Failed, Item, Prompt, Reply, TextPart, Trial, Verdict

ITEMS_FILE = "items.jsonl"
_UNSAFE = re.compile(r"[^\w.+-]+")
_LONGEST_NAME = 80
_NO_REPLY = Failed(stage="model", error="RejectedRequestError", message="the imported log holds no reply")


@dataclass(frozen=True, kw_only=True)
class Log:
    """The contents of a results file.

    `media_root` is the base folder of media paths, if known; `problems` are unusable rows.
    """

    path: Path
    content_hash: str
    layout: str
    model: str
    items: tuple[Item, ...]
    replies: tuple[Recorded, ...]
    media_root: Path | None
    problems: tuple[str, ...]


# --------------------------------------------------------------------------- reading


def result_presets() -> tuple[str, ...]:
    """Return the names of the presets that read results."""
    return tuple(name for name, preset in presets().items() if preset.reply is not None)


def read_log(path: Path, layout: str, *, questions: Plan | None = None, model: str = "") -> Log:
    """Read the questions and replies of a results file.

    Args:
        path: the file, or a folder with exactly one such file.
        layout: a preset, a TOML file or pairs, as for ``--map``. A preset also stands for all presets whose
            names start with it: the first one that fits the columns is used.
        questions: a plan with the questions asked; None: the log's own. Questions are matched by id, or by
            position if the log numbers rows.
        model: the name of the model; empty: as in the log.

    Raises:
        DataError: the file has nothing usable.
        UsageError: no such layout, or a layout without replies.
    """
    others = [name for name in result_presets() if layout in presets() and name.startswith(f"{layout}-")]
    maps = [read_map(name) for name in (layout, *others)]
    paths = find_files(path, maps[0].files, split="all")
    if len(paths) > 1:
        raise DataError(
            f"{path} holds {len(paths)} such files "
            f"({', '.join(entry.name for entry in paths[:10])}); give one"
        )
    mapping, table = _fitting(paths[0], maps)
    if mapping.reply is None:
        raise UsageError(f"the mapping {layout!r} has no reply.text; expected the column of the replies")
    asked = None if questions is None else _LoggedQuestions(load_questions(questions))
    items, replies, problems = _taken(table, mapping, columns=mapping.reply, asked=asked)
    if not replies:
        raise DataError(
            f"{paths[0]} holds no reply in {mapping.reply.text!r}; expected the results of a finished run"
        )
    entries = Counter(reply.model for reply in replies if reply.model).most_common(1)
    return Log(
        path=paths[0],
        content_hash=table.file.content_hash,
        layout=layout,
        model=model or (entries[0][0] if entries else model_of(paths[0])),
        items=items,
        replies=replies,
        media_root=None if asked is None else asked.loaded.media_root,
        problems=problems,
    )


def _fitting(path: Path, maps: Sequence[ColumnMap]) -> tuple[ColumnMap, Table]:
    """Return the first mapping whose columns the file has, or the first mapping, with the rows it needs."""
    tables = (
        (column_map, read_rows(path, levels=column_map.levels, is_log=column_map.is_log, what="results"))
        for column_map in maps
    )
    first = next(tables)
    if first[1].first is None or first[0].fits(first[1].first):
        return first
    return next((pair for pair in tables if pair[1].first and pair[0].fits(pair[1].first)), first)


class _LoggedQuestions:
    """The questions of a log, by id or by position."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self._by_id = {item.item_id: item for item in loaded.items}

    def counts_rows(self, ids: Sequence[str]) -> bool:
        """Whether a log with these ids refers to questions by row number.

        Raises:
            DataError: it does, but an unusable line of the questions shifts the numbers.
        """
        if any(name in self._by_id for name in ids) or not all(name.isdecimal() for name in ids):
            return False
        if self.loaded.problems:
            raise DataError(
                f"the log counts rows, and {len(self.loaded.problems)} rows of the questions cannot be used "
                f"({self.loaded.problems[0]}); correct them first"
            )
        return True

    def find(self, item_id: str, *, is_row: bool) -> Item:
        """Return the question.

        Raises:
            FieldError: there is none.
        """
        items = self.loaded.items
        if is_row and int(item_id) < len(items):
            return items[int(item_id)]
        if not is_row and item_id in self._by_id:
            return self._by_id[item_id]
        expected = f"a row from 0 to {len(items) - 1}" if is_row else "the id of a question"
        raise FieldError("item_id", f"{item_id!r} found; expected {expected}")


def _taken(
    table: Table, mapping: ColumnMap, *, columns: ReplyColumns, asked: _LoggedQuestions | None
) -> tuple[tuple[Item, ...], tuple[Recorded, ...], tuple[str, ...]]:
    """Return the questions and replies of a log, and its unusable rows."""
    reader = ItemReader(mapping, folder=table.file.path.parent)
    gathering = QuestionReader(
        table.file, strict=False, format_hint="is it of the layout that was named, with its choices?"
    )
    rows = [(line, row) for line, row in table.lines]
    is_row = asked is not None and asked.counts_rows(
        [reader.id_of(row) for _, row in rows if not isinstance(row, FieldError)]
    )
    items: dict[str, Item] = {}
    n_samples: Counter[str] = Counter()
    replies: list[Recorded] = []
    for line, row in rows:
        with gathering.row(line):
            whole = reader.row(usable(row))
            if asked is None:
                item = lettered(reader.item(whole))
            else:
                item = asked.find(reader.id_of(whole), is_row=is_row)
            if items.get(item.item_id) != item:
                gathering.keep(item)
                items[item.item_id] = item
            elif not columns.sample:
                raise FieldError(
                    "item_id", f"{item.item_id!r} is there twice; name the column that counts as reply.sample"
                )
            reply = recorded(whole, columns, item_id=item.item_id, sample=n_samples[item.item_id])
            n_samples[item.item_id] += 1
            if reply is not None:
                replies.append(reply)
    loaded = gathering.loaded(media_root=table.file.path.parent)
    return tuple(loaded.items), tuple(replies), loaded.problems


def model_of(path: Path) -> str:
    """Return the model's name, from lmms-eval's results next to its samples, or from the file name."""
    stamp, samples, _ = path.name.partition("_samples_")
    results = path.with_name(f"{stamp}_results.json")
    if samples and results.is_file():
        try:
            fields = msgspec.json.decode(results.read_bytes(), type=dict[str, object])
        except (msgspec.DecodeError, UnicodeDecodeError, OSError, RecursionError):
            fields = {}
        for name in ("model_name", "model_source"):
            if isinstance(model := fields.get(name), str) and model:
                return model
    return path.absolute().parent.name if samples else path.name.removesuffix(".gz").rpartition(".")[0]


# --------------------------------------------------------------------------- writing


def default_import_folder(log: Log) -> Path:
    """Return the default run folder of an import."""
    return Path("runs") / f"imported-{_name_of(log)}-{log.content_hash[:8]}"


def _name_of(log: Log) -> str:
    name = _UNSAFE.sub("-", log.model.rpartition("/")[2] or "replies").strip("-.")
    return name[:_LONGEST_NAME] or "replies"


async def import_log(
    log: Log,
    folder: Path,
    *,
    overrides: PlanOverrides,
    environment: Environment,
    now: datetime,
    on_event: Listener,
) -> int:
    """Create a run folder from a log: no model is asked; the plan's parsers score the replies.

    The folder holds the questions (``items.jsonl``) and the replies (a file named after the model), so that
    the run can be resumed, judged and parsed again like any other.

    Args:
        log: the log.
        folder: the run folder; it must not contain a run.
        overrides: fields of the plan, as for a run.
        environment: cache and workers.
        now: written to the facts of the run.
        on_event: called for each reply.

    Returns:
        The number of questions without a reply in the log; they count as wrong.

    Raises:
        StoreError: the folder contains a run, or cannot be written.
    """
    if (folder / PLAN_FILE).exists():
        raise StoreError(f"{folder} holds a run already; choose another --out")
    own_run(folder)
    replies_file = folder / f"{_name_of(log)}.jsonl"
    write_records(folder / ITEMS_FILE, log.items)
    write_records(replies_file, log.replies)
    import_log = f"imported from {log.layout}: {log.path.name}, {log.model}"
    given: PlanOverrides = {
        "media": None if log.media_root is None else str(log.media_root),
        "repeats": 1 + max((reply.sample for reply in log.replies), default=0),
        "name": log.model,
        **read_overrides(overrides),
    }
    plan = make_plan(
        "table",
        data=folder / ITEMS_FILE,
        model=f"replay:{replies_file}?asked={quote(import_log)}",
        overrides=given,
    )
    values = {(reply.item_id, reply.sample): reply for reply in log.replies}
    async with opened_session(plan, environment=environment, now=now, on_event=on_event) as session:
        trials = list(_trials(session.prepared, log, values))
        prepared = replace(session.prepared, facts=_facts(session.prepared, log))
        with opened_run(folder, prepared) as store:
            on_event(Started(n_planned=len(trials), n_answered_before=0))
            for trial in trials:
                store.add(trial)
                on_event(TrialStored(trial=trial, cost=0.0))
            write_submission(prepared, store, folder)
    return len(trials) - len(values)


def _trials(prepared: PreparedRun, log: Log, values: Mapping[tuple[str, int], Recorded]) -> Iterator[Trial]:
    """Yield the trials of a run; for a free answer, the log's mark is the verdict."""
    for item in prepared.items:
        for repeat in range(prepared.plan.repeats):
            entry = values.get((item.item_id, repeat))
            reply: Reply | Failed = _reply(entry) if entry is not None else _NO_REPLY
            score = score_reply(item, reply, prepared.parser_for(item))
            if entry is not None and entry.correct is not None and score.scorer == NEEDS_JUDGE:
                value = entry.correct if score.value is None else score.value  # without words it is wrong
                verdicts = (Verdict(judge_model=log.path.name, value=value),)
                score = msgspec.structs.replace(score, value=value, scorer=log.layout, verdicts=verdicts)
            prompt = None
            if entry is not None and entry.prompt:
                prompt = Prompt(parts=(TextPart(text=entry.prompt),), choices=item.choices)
            yield Trial(
                item_id=item.item_id,
                repeat=repeat,
                prompt=prompt,
                reply=reply if isinstance(reply, Reply) else None,
                score=score,
            )


def _reply(entry: Recorded) -> Reply:
    return Reply(
        text=entry.text,
        reasoning=entry.reasoning,
        refusal=entry.refusal,
        finish="refusal" if entry.refusal else finish_of(entry.finish or "stop"),
        model=entry.model,
        logged=entry.correct,
    )


def _facts(prepared: PreparedRun, log: Log) -> Facts:
    """Return the facts of the run, including its origin."""
    note = (
        f"imported from {log.path.name} (SHA-256 {log.content_hash[:16]}..., read as {log.layout}): replies "
        f"of {log.model}, which vidence did not ask"
    )
    return msgspec.structs.replace(
        prepared.facts,
        notes=(note, *prepared.facts.notes),
        problems=(*log.problems, *prepared.facts.problems),
    )
