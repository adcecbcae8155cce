"""Mappings of columns to fields, from a preset, a TOML file or a line of text."""

import hashlib
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.ask import files
from vidence.ask.mapping.columns import Row, columns_of
from vidence.ask.mapping.rows import files_like, read_rows
from vidence.errors import DataError, UnknownNameError, UsageError, cause
from vidence.installation import toml_of
from vidence.records import Record

PRESETS = Path(__file__).parent / "presets"
NAMED = Path(__file__).parents[1] / "benchmarks" / "named"
"""Files of the named benchmarks."""
WAYS = "item_id=COLUMN,question=COLUMN,choices=COLUMN|COLUMN,answer=COLUMN,media={COLUMN}.mp4"
"""Example of a mapping on the command line, for messages."""

MOST_WAYS = 10_000_000
"""Most ways to match a pattern: foreign regular expressions must not run forever."""
_UNITS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)  # of a pattern, that take one character
_CHOICES = re.compile(r"(?<!\()(?:[*+?]|\{\d*,\d*\})[?+]?|\|")
_REPEATED_GROUP = re.compile(r"\)(?:[*+]|\{)|\(\?[a-zA-Z]*x")
_FEWEST = 2  # columns of choices that every question fills

AnswerForm: TypeAlias = Literal["letter-or-text", "letter", "text", "number-from-0", "number-from-1"]
Column: TypeAlias = Annotated[str, Meta(description="a column, a path into one, or words with {column}")]


class Lookup(Record):
    """A column derived from another one by a table of values."""

    of: Column
    values: dict[str, str]
    default: str = ""


class Join(Record):
    """A column derived from a file next to the questions: a JSON object of values by key, or key/key."""

    of: Column
    file: str


class ReplyColumns(Record):
    """The columns of a reply."""

    text: Column
    reasoning: Column = ""
    refusal: Column = ""
    finish: Column = ""
    sample: Column = ""
    model: Column = ""
    prompt: Column = ""
    correct: Column = ""
    """The other tool's score: a boolean, a number from 0 to 1, or ``C`` and ``I``."""


def columns_in(source: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of a field that may have several."""
    return source if isinstance(source, tuple) else (source,)


def n_ways(pattern: str, n_characters: int) -> int:
    """Return an upper bound on the ways to match a mapping's pattern to a text.

    >>> n_ways("main/(?P<clip>.+)", 100), n_ways("(?P<a>.*)-(?P<b>.*)-(?P<c>.*)", 100)
    (10201, 17861951)
    """
    n_choices = len(_CHOICES.findall(_UNITS.sub("a", pattern)))
    return (n_characters + 1) * max(math.comb(n_characters + n_choices, n_choices), 1 << n_choices)


class ColumnMap(Record):
    """The layout of a foreign file: for each field of a question the column that holds it.

    A field is a column, a path into one (``doc.question_id``, ``resps.0``), or words with columns in braces
    (``{video}_{qid}``). `constants` say a field that is the same everywhere. Further columns are made by
    `patterns` (named groups of a regular expression over a column), `lookups` and `joins`.
    """

    format: Literal["vidence-map/1"] = "vidence-map/1"
    about: str = ""
    home: str = ""
    files: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    each: str = ""
    """A column with a list of objects; each becomes a row with its own row's columns."""
    only: dict[Column, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Keep only rows with one of these values in each of these columns."""
    is_log: bool = False
    item_id: Column = ""
    question: Column = ""
    choices: Column | tuple[Column, ...] = ()
    choices_in_question: bool = False
    answer: Column = ""
    answer_is: AnswerForm = "letter-or-text"
    answer_kind: Column = ""
    media: Column | tuple[Column, ...] = ()
    media_kind: Column = ""
    start_s: Column = ""
    end_s: Column = ""
    spans: Column = ""
    """Shown spans of the media, for `start_s` and `end_s`: pairs, or texts with a dash."""
    evidence: Column = ""
    """Evidence spans, in the same formats."""
    source_id: Column = ""
    subtitles: Column = ""
    """Subtitle file, relative to the media folder."""
    subtitles_from_s: Column = ""
    """Start of the medium in the subtitles, in seconds."""
    benchmark: Column = ""
    rationale: Column = ""
    steps: Column | tuple[Column, ...] = ()
    licence: Column = ""
    tags: dict[str, Column] = msgspec.field(default_factory=dict)
    absent: tuple[str, ...] = ()
    constants: dict[str, str | tuple[str, ...]] = msgspec.field(default_factory=dict)
    patterns: dict[str, str] = msgspec.field(default_factory=dict)
    lookups: dict[str, Lookup] = msgspec.field(default_factory=dict)
    joins: dict[str, Join] = msgspec.field(default_factory=dict)
    reply: ReplyColumns | None = None

    def __post_init__(self) -> None:
        for name in ("item_id", "question", "answer"):
            if not getattr(self, name) and name not in self.constants:
                raise UsageError(f"the mapping has no {name}; expected {name} = a column")
        for name, values in self.constants.items():
            if name not in _CONSTANT or (isinstance(values, tuple) and name != "choices"):
                raise UsageError(f"constants.{name} is not allowed; expected one of {', '.join(_CONSTANT)}")
        for column, pattern in self.patterns.items():
            try:
                re.compile(pattern)
            except (re.error, RecursionError, OverflowError) as error:  # ((((, a{99999999999}
                raise UsageError(f"patterns.{column} is not a regular expression: {error}") from error
            if _REPEATED_GROUP.search(_UNITS.sub("a", pattern)):
                raise UsageError(f"patterns.{column} repeats a group, or is verbose, and could run forever")
        for path in (*self.files, *(join.file for join in self.joins.values())):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise UsageError(f"the mapping names {path!r}; expected a path inside the folder of the data")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything that affects how rows are read."""
        bare: dict[str, object] = msgspec.to_builtins(msgspec.structs.replace(self, about="", home=""))
        for name in _LATER:  # runs of versions without these stay usable
            if not bare[name]:
                del bare[name]
        return hashlib.sha256(msgspec.json.encode(bare, order="sorted")).hexdigest()

    @property
    def used(self) -> frozenset[str]:
        """Return all columns that are read, including the first column of a path."""
        entries = [] if self.reply is None else [getattr(self.reply, n) for n in self.reply.__struct_fields__]
        fields = (getattr(self, name) for name in (*_PLAIN, "spans", "evidence"))
        several = (*map(columns_in, (self.choices, self.steps, self.media)), self.only, [self.each])
        sources = (*fields, *chain.from_iterable(several), *self.tags.values(), *entries)
        columns = {name for source in sources for way in source.split("|") for name in self._columns(way)}
        return frozenset(columns | {name.partition(".")[0] for name in columns})

    def fits(self, row: Row) -> bool:
        """Whether a row has the required columns."""
        if self.each:
            inner = row.get(self.each)
            first = inner[0] if isinstance(inner, list) and inner else None
            row = {**row, **first} if isinstance(first, Mapping) else row
        choices = columns_in(self.choices)[:_FEWEST]
        needed = (self.item_id, self.question, self.answer, *choices, *columns_in(self.media))
        return all(
            any(
                all(name in row or name.partition(".")[0] in row for name in self._columns(way))
                for way in source.split("|")
            )
            for source in needed
        )

    def _columns(self, way: str) -> set[str]:
        """Return the file's columns that a source without bars needs, resolving derived ones."""
        behind = {name: lookup.of for name, lookup in self.lookups.items()}
        behind |= {name: entry.of for name, entry in self.joins.items()}
        for column, pattern in self.patterns.items():
            behind |= dict.fromkeys(re.compile(pattern).groupindex, column)
        names: set[str] = set()
        waiting = list(columns_of(way))
        while waiting:
            column = waiting.pop()
            if (columns := column if column in behind else column.partition(".")[0]) in behind:
                waiting += columns_of(behind.pop(columns))
            elif not column.startswith("@") and column not in self.levels:
                names.add(column)
        return names


_PLAIN = (
    *("item_id", "question", "answer", "answer_kind", "media_kind", "start_s", "end_s", "source_id"),
    *("benchmark", "rationale", "licence", "subtitles", "subtitles_from_s"),
)
_LATER = ("steps", "subtitles", "subtitles_from_s", "each", "only", "spans", "evidence")
_CONSTANT = (*_PLAIN, "choices", "media")


# --------------------------------------------------------------------------- where mappings come from


class Layout(ColumnMap):
    """A mapping for some splits of a benchmark, by glob of file names, the most likely first."""

    splits: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def of(self, split: str) -> ColumnMap:
        """Return the mapping of one split."""
        fields = {name: getattr(self, name) for name in ColumnMap.__struct_fields__}
        return ColumnMap(**{**fields, "files": self.splits[split]})


class _Benchmark(msgspec.Struct):
    """The part of a benchmark's file that is read here."""

    about: str
    layouts: dict[str, Layout]


@cache
def presets() -> dict[str, ColumnMap]:
    """Return the built-in mappings by name: of tools, and of benchmarks' layouts."""
    presets = {path.stem: msgspec.convert(read_toml(path), ColumnMap) for path in PRESETS.glob("*.toml")}
    for path in NAMED.glob("*.toml"):
        for name, layout in msgspec.convert(read_toml(path), _Benchmark).layouts.items():
            presets[name] = layout.of(next(iter(layout.splits)))
    return dict(sorted(presets.items()))


def read_map(text: str) -> ColumnMap:
    """Parse a mapping given by a user.

    Args:
        text: the name of a preset, the path of a TOML file, pairs such as ``item_id=qid,question=text``, or a
            preset or file with pairs behind it that replace its own.

    Raises:
        UsageError: no such preset or file, or it is no mapping.
    """
    first, *more = text.split(",")
    if "=" in first:
        first, more = "", [first, *more]
    table = _table_of(first) if first else {}
    for pair in filter(None, more):
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} in --map {text!r} is not FIELD=COLUMN; expected {WAYS}")
        _put(table, name.strip(), value.strip())
    try:
        return msgspec.convert(table, ColumnMap)
    except msgspec.ValidationError as error:
        raise UsageError(f"{first or '--map'}: {files.why_no_record(error, record=ColumnMap)}") from error


def whole_map(text: str) -> str:
    """Make the file path in a user's mapping absolute, so that runs resume from any folder.

    >>> whole_map("video-mme,media={videoID}.mp4")
    'video-mme,media={videoID}.mp4'
    """
    first, comma, rest = text.partition(",")
    if first in presets() or "=" in first or not first.endswith(".toml"):
        return text
    return f"{Path(first).resolve()}{comma}{rest}"


def _table_of(name: str) -> dict[str, object]:
    known = presets()
    if name in known:
        return as_table(known[name])
    path = Path(name)
    if path.suffix != ".toml" or not path.is_file():
        if path.suffix == ".toml" or len(path.parts) > 1:
            raise UsageError(f"there is no file {name}; expected a mapping in TOML, or a preset")
        raise UnknownNameError("preset of --map", name, known)
    try:
        return read_toml(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name} cannot be read as a mapping in TOML: {cause(error)}") from error


def read_toml(path: Path) -> dict[str, object]:
    """Read a TOML file; errors as for `installation.toml_of`."""
    return toml_of(path.read_text(encoding="utf-8"))


def as_table(mapping: ColumnMap) -> dict[str, object]:
    """Return a mapping as the contents of a TOML file."""
    fields: dict[str, object] = msgspec.to_builtins(mapping)
    usual: dict[str, object] = msgspec.to_builtins(ColumnMap(item_id="-", question="-", answer="-"))
    return {name: value for name, value in fields.items() if value != usual[name]}


def _put(table: dict[str, object], name: str, value: str) -> None:
    """Set a field by its dotted name; choices may be several columns, separated by ``|``."""
    *outer, last = name.split(".", 1)
    if outer:
        inner = table.setdefault(outer[0], {})
        if not isinstance(inner, dict):
            raise UsageError(f"--map says {name}, and {outer[0]} is {inner!r}; give one of them")
        table = inner
    is_list = last in _LISTS or (last in _MAYBE_LISTS and "|" in value)
    table[last] = value.split("|") if is_list else value == "true" if last in _SWITCHES else value


_LISTS = ("levels", "files", "absent")
_MAYBE_LISTS = ("choices", "steps")
_SWITCHES = ("choices_in_question", "is_log")


def near_presets(row: Row, *, name: str = "", n_levels: int = 0) -> list[str]:
    """Return the presets whose columns a row has; matching file names first, then by columns read.

    Args:
        row: a row of the file.
        name: the name of the file.
        n_levels: how many keys of objects stand around the rows.
    """
    fitting = [
        (
            name not in [Path(pattern).name for pattern in column_map.files],
            -len(column_map.used & row.keys()),
            preset,
        )
        for preset, column_map in presets().items()
        if len(column_map.levels) == n_levels and column_map.fits(row)
    ]
    return [preset for *_, preset in sorted(fitting)]


def folder_presets(folder: Path) -> dict[str, Path]:
    """Return the presets that match a folder's files and columns, most specific patterns first."""
    folder_presets: list[tuple[int, str, Path]] = []
    for name, preset in presets().items():
        pattern, paths = files_like(folder, preset.files)
        with suppress(DataError, UsageError):  # of another layout: no object with keys, no log
            row = read_rows(paths[0], levels=preset.levels, is_log=preset.is_log).first if paths else None
            if row is not None and preset.fits(row):
                folder_presets.append((-len(pattern), name, paths[0]))
    return {name: path for _, name, path in sorted(folder_presets)}
