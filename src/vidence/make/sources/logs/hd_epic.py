"""HD-EPIC: narrations with verb-noun pairs, exported from the released pickle.

A pickle can run code when it is opened, so that it is not read here; `HOW_TO_EXPORT` says what to do.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from vidence.ask.files import FieldError, usable
from vidence.errors import DataError
from vidence.make.pipeline.material import Event
from vidence.make.sources.event_log import EventLog, EventLogReader
from vidence.make.sources.logs.files import beside, log_files, text_of
from vidence.make.sources.logs.rows import ClassSettings, LogBuilder, Span, literal_list, noun_words, plain
from vidence.text import seconds

HOW_TO_EXPORT = (
    "a pickle can run any code when it is opened, so that vidence never opens one; export it once where that "
    'does no harm (a container without network): python -c "import pandas as pd; '
    "pd.read_pickle('HD_EPIC_Narrations.pkl').to_json('HD_EPIC_Narrations.jsonl', orient='records', "
    'lines=True)"'
)
_ENDINGS = (".jsonl",)
_LISTS = ("main_actions", "main_action_classes", "pairs", "pair_classes", "nouns", "noun_classes")

Cells: TypeAlias = Mapping[str, object]
Worded: TypeAlias = tuple[str, int]  # a text and its class
Settings = ClassSettings


class HdEpicLog:
    """Reads exports of ``HD_EPIC_Narrations.pkl`` as JSON Lines with its columns.

    A narration tells of several actions. Each of its `main_actions` becomes an event, and so does each
    further one of its `pairs`, all with the same span: what is narrated on the side has happened too, so
    that nothing of it may be called absent. The main actions have all nouns of the narration, the others
    only their own.

    Source: HD-EPIC, the README of its annotations; HERBench, section 3.2.
    Departs: HERBench does not say which of the columns it uses; ours are `main_actions` and `pairs`.
    """

    needs: tuple[str, ...] = ("video_id", "narration", "start_timestamp", "end_timestamp", "main_actions")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> EventLog:
        """The events in an export, or in every export in a folder.

        Raises:
            DataError: there is nothing at `path`, a pickle is all there is, or no row can be used.
        """
        _refuse_pickles(path)
        builder = self._settings.builder(path, worded=plain, noun_worded=noun_words)
        notes: list[str] = []
        for file in log_files(path, endings=_ENDINGS, but=("classes", "recipe", "activities")):
            for number, (where, row) in enumerate(_rows(file, self.needs), 1):
                with builder.row(where):
                    for event in _events(usable(row), builder, f"{file.name}#{number}"):
                        with builder.row(where):
                            builder.add(where, event)
        return builder.log(path, notes)


def create(settings: Settings) -> EventLogReader:
    """The reader of this format."""
    return HdEpicLog(settings)


# --------------------------------------------------------------------------- rows


def _refuse_pickles(path: Path) -> None:
    if path.is_dir():
        names = [entry.name.removesuffix(".gz") for entry in path.iterdir() if entry.is_file()]
        pickle = beside(path, ".pkl")
        if pickle is None or any(name.endswith(".jsonl") for name in names):
            return
        raise DataError(f"{pickle}: {HOW_TO_EXPORT}")
    if path.suffix in {".pkl", ".pickle"}:
        raise DataError(f"{path}: {HOW_TO_EXPORT}")


def _rows(path: Path, needs: Sequence[str]) -> Iterator[tuple[str, Cells | FieldError]]:
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = msgspec.json.decode(line.encode(), type=dict[str, object])
        except (msgspec.DecodeError, RecursionError) as error:
            yield where, FieldError("JSON", f"{error}; expected one JSON object on each line")
            continue
        absent = " and ".join(name for name in needs if row.get(name) is None)
        why = f"absent; expected {', '.join(needs)} in every row"
        yield where, FieldError(absent, why) if absent else row


# --------------------------------------------------------------------------- from a row to its events


def _events(row: Cells, builder: LogBuilder, row_id: str) -> list[Event]:
    times = [seconds(str(row[name])) for name in ("start_timestamp", "end_timestamp")]
    start_s, end_s = times
    if start_s is None or end_s is None or end_s <= start_s:
        seen = f"{row['start_timestamp']} to {row['end_timestamp']} found"
        reason = f"{seen}; expected seconds, not below 0, with the end after the start"
        raise FieldError("start_timestamp, end_timestamp", reason)
    lists: dict[str, list[object]] = {}
    for name in _LISTS:
        if (entries := _list(row.get(name))) is None:
            raise FieldError(name, f"{row[name]!r} found; expected a list")
        lists[name] = entries
    main = _named(lists["main_actions"], lists["main_action_classes"], builder)
    others = _named(lists["pairs"], lists["pair_classes"], builder)
    if main is None or others is None:
        raise FieldError("main_actions, pairs", "expected pairs of a verb and a noun, both texts")
    if not main and not others:
        raise FieldError("main_actions", "no action in main_actions or pairs; expected one at least")
    nouns = _nouns(lists["nouns"], lists["noun_classes"])
    actions = list(dict.fromkeys((*main, *others)))
    identity = str(row.get("unique_narration_id") or row_id)
    when = Span(start_s=start_s, end_s=end_s)
    events = []
    for number, (verb, noun) in enumerate(actions):
        is_main = number < max(1, len(set(main)))
        rest = [pair for pair in nouns if pair[0] != noun[0]] if is_main else []
        event_id = identity if number == 0 else f"{identity}/{number + 1}"
        events.append(builder.event(event_id, row, when, verb=verb, nouns=[noun, *rest]))
    return events


def _list(cell: object) -> list[object] | None:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return []
    if isinstance(cell, str):
        return literal_list(cell)
    return list(cell) if isinstance(cell, list | tuple) else None


def _named(
    pairs: Sequence[object], classes: Sequence[object], builder: LogBuilder
) -> list[tuple[Worded, Worded]] | None:
    """Verbs and nouns with classes; None if a pair is invalid. Classes count only if each has one."""
    named = []
    for place, pair in enumerate(pairs):
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(x, str) for x in pair)):
            return None
        verb, noun = plain(str(pair[0])), noun_words(str(pair[1]))
        if not verb or not noun:
            continue
        given = classes[place] if len(classes) == len(pairs) else None
        ids = given if isinstance(given, list | tuple) and len(given) == 2 else (-1, -1)
        verb_id, noun_id = (value if isinstance(value, int) else -1 for value in ids)
        named.append(((verb, builder.verbs.find(verb, verb_id)), (noun, builder.nouns.find(noun, noun_id))))
    return named


def _nouns(nouns: Sequence[object], classes: Sequence[object]) -> list[Worded]:
    ids = classes if len(classes) == len(nouns) else [-1] * len(nouns)
    values = {noun_words(str(n)): c if isinstance(c, int) else -1 for n, c in zip(nouns, ids, strict=True)}
    return [(text, given) for text, given in values.items() if text]
