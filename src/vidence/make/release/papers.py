"""Documents of a release: datasheet, hub card, agreement."""

import functools
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

import jinja2
import msgspec
from markupsafe import Markup

from vidence.errors import DataError, UsageError, cause
from vidence.installation import __version__
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import Account, write_file
from vidence.make.pipeline.output import json_file
from vidence.make.release.exporters.exporting import SPLIT, Exporter
from vidence.make.release.hidden import Hidden
from vidence.make.release.media import NO_MEDIA, ReleasedMedia
from vidence.make.review.rates import ReviewRates, rates_tables, rates_words
from vidence.records import Item
from vidence.report.set_statistics import describe
from vidence.tables.table import Table, shown_columns, shown_rows
from vidence.text import visible

_STATISTICS = ("words", "counts", "videos", "evidence", "vocabulary")


def plain(text: str) -> str:
    """Foreign text on one line, with Markdown escaped."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in " ".join(visible(text).split()))


def rendered(template: str, **values: object) -> str:
    """A Markdown template in which all foreign text is `plain`."""
    return _environment().get_template(template).render(version=__version__, table=_table, **values)


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("vidence.make"),
        autoescape=False,  # noqa: S701 - Markdown, in which `plain` lets no markup stand
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: plain(value) if type(value) is str else value,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def stages_of(account: Account) -> list[tuple[object, ...]]:
    """For each stage: what came in, what came out, and why the rest did not."""
    return [
        (s.stage, s.unit, s.n_in, s.n_out, ", ".join(f"{n} {why}" for why, n in s.dropped.items()))
        for s in account.stages
    ]


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A statistics table for the datasheet."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def statistic_of(table: Table) -> Statistic:
    """A table in the form of the datasheet."""
    return Statistic(
        title=table.title,
        note=table.note,
        headings=tuple(column.title for column in shown_columns(table)),
        rows=tuple(tuple(cell.text for cell in row.cells) for row in shown_rows(table)),
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    lines = [headings, ["---"] * len(headings), *rows]
    cells = [[cell if i == 1 else plain(str(cell)) for cell in map(str, row)] for i, row in enumerate(lines)]
    text = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    return Markup(text)  # noqa: S704 - its cells are plain


def citation(rules: ReleaseRules, *, name: str, message: str) -> str:
    """A ``CITATION.cff``; strings are JSON-quoted, which YAML accepts, so no text can break it."""
    authors = rules.authors or ("The makers of this set",)
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        f"message: {_quoted(message)}",
        f"title: {_quoted(rules.title or name)}",
        f"version: {_quoted(rules.version)}",
        "authors:",
        *(f"  - name: {_quoted(name)}" for name in authors),
    ]
    for key, value in (("date-released", rules.date), ("license", rules.licence), ("url", rules.url)):
        if value:
            lines.append(f"{key}: {_quoted(value)}")
    if rules.contact:
        lines += ["contact:", f"  - name: {_quoted(rules.contact)}"]
    return "\n".join(lines) + "\n"


def eval_yaml(rules: ReleaseRules, splits: Sequence[str], *, name: str, said: str) -> str:
    """``eval.yaml`` for the Hugging Face hub: one task per split.

    Quoted as JSON, as `citation`. The framework is vidence: those that the hub lists ask without the video.

    Args:
        rules: under which title.
        splits: those whose answers are released.
        name: of the set.
        said: what it holds.
    """
    lines = [
        f"name: {_quoted(rules.title or name)}",
        f"description: {_quoted(said)}",
        "evaluation_framework: vidence",
        "tasks:",
    ]
    for split in splits:
        lines += [f"  - id: {_quoted(f'{name}-{split}')}", f"    split: {_quoted(split)}"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(visible(text), ensure_ascii=False)


HEADINGS: Final = ("Hosting", "Licences", "Use", "Removal")
_HUB_LICENCES: Final = frozenset(
    {"cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "mit"}
    | {"cc-by-nc-nd-4.0", "cc-by-3.0", "cc-by-sa-3.0", "apache-2.0", "odc-by", "odbl", "pddl"}
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """What a maker adds to a section of the datasheet."""

    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


NO_SECTION: Final = Section()


@dataclass(frozen=True, kw_only=True)
class SetFacts:
    """Facts about a release.

    `losses` are for each format what it does not hold, of how many questions. `accounts` are those of the
    making, where one was given, and of the release. `shared` says what splits share, where they do. `making`
    is what the maker says of the questions, `reviewed` of a review of its own.
    """

    name: str
    rules: ReleaseRules
    canary: str
    open_ones: Sequence[Item]
    hidden: Hidden
    formats: Sequence[Exporter]
    losses: Mapping[str, Mapping[str, int]]
    accounts: Sequence[Account]
    review: ReviewRates | None = None
    looked_up: str = ""
    shared: str = ""
    has_agreement: bool = False
    n_withdrawn: int = 0
    media: ReleasedMedia = NO_MEDIA
    making: Section = NO_SECTION
    reviewed: Section = NO_SECTION

    @property
    def public(self) -> tuple[Item, ...]:
        """All questions in released form."""
        return (*self.open_ones, *self.hidden.public)


def set_datasheet(facts: SetFacts) -> str:
    """The datasheet in Markdown, from ``datasheet_set.md.j2``."""
    described = describe(facts.open_ones, name=facts.name) if facts.open_ones else None
    hidden = sorted({item.tags[SPLIT] for item in facts.hidden.public})
    return rendered(
        "datasheet_set.md.j2",
        name=facts.name,
        rules=facts.rules,
        canary=facts.canary,
        of_splits=_splits(facts),
        hidden=", ".join(hidden),
        hidden_tags=", ".join(facts.hidden.tags),
        shared=facts.shared,
        of_formats=[(e.name, e.about, _losses(facts.losses.get(e.name, {}))) for e in facts.formats],
        described=described.sentences if described else (),
        statistics=[statistic_of(t) for t in described.tables if t.name in _STATISTICS] if described else [],
        looked_up=facts.looked_up,
        of_sources=_sources(facts.public),
        agreement=facts.has_agreement,
        of_stages=[stages_of(account) for account in facts.accounts if account.stages],
        cautions=[warning for account in facts.accounts for warning in account.warnings],
        notes=[note for account in facts.accounts for note in account.notes],
        making=facts.making.sentences,
        of_making=[statistic_of(table) for table in facts.making.tables],
        review=[*facts.reviewed.sentences, *(rates_words(facts.review) if facts.review else ())],
        rates=[
            statistic_of(table)
            for table in (*facts.reviewed.tables, *(rates_tables(facts.review) if facts.review else ()))
        ],
        n_withdrawn=facts.n_withdrawn,
        media=facts.media.words,
    )


def _splits(facts: SetFacts) -> list[tuple[object, ...]]:
    lines: list[tuple[object, ...]] = []
    for items, message in ((facts.open_ones, "released"), (facts.hidden.public, "hidden")):
        for split, n in Counter(item.tags[SPLIT] for item in items).items():
            sources = {item.source_id for item in items if item.tags[SPLIT] == split}
            lines.append((split, n, len(sources), message))
    return lines


def _losses(lost: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in lost.items()) or "nothing is lost"


def _sources(items: Sequence[Item]) -> list[tuple[str, str, int, int]]:
    counts: Counter[tuple[str, str]] = Counter()
    media: dict[tuple[str, str], set[str]] = {}
    for item in items:
        origin = item.provenance
        named = item.benchmark or "not said"
        key = (named, (origin.licence if origin else "") or "none stated")
        counts[key] += 1
        media.setdefault(key, set()).add(item.video_id)
    return [(*key, len(media[key]), n) for key, n in sorted(counts.items())]


# --------------------------------------------------------------------------- for the hub


def hub_card(facts: SetFacts, *, paths: Mapping[str, str], body: str) -> str:
    """``README.md`` of a Hugging Face dataset: the hub's metadata, then the datasheet.

    Splits without answers have a configuration of their own: all splits of one have the same columns.

    Args:
        facts: of the release.
        paths: the file of each split, as it is seen from the card.
        body: the datasheet.
    """
    licence = facts.rules.licence.casefold()
    known = [f"license: {licence}"] if licence in _HUB_LICENCES else ["license: other"]
    if facts.rules.licence and licence not in _HUB_LICENCES:
        known.append(f"license_name: {_quoted(facts.rules.licence)}")
    lines = [
        "---",
        f"pretty_name: {_quoted(facts.rules.title or facts.name)}",
        *known,
        "task_categories:",
        "  - visual-question-answering",
        "configs:",
    ]
    hidden = sorted({item.tags[SPLIT] for item in facts.hidden.public})
    whole = [split for split in paths if split not in hidden]
    configs = {"default": whole} if whole else {}
    for config, splits in {**configs, **{f"questions-{split}": [split] for split in hidden}}.items():
        lines += [f"  - config_name: {_quoted(config)}", "    data_files:"]
        for split in splits:
            lines += [f"      - split: {_quoted(split)}", f"        path: {_quoted(paths[split])}"]
    return "\n".join([*lines, "---", "", body])


# --------------------------------------------------------------------------- agreement


def blank_agreement() -> str:
    """An agreement without terms: headings for the user to fill in.

    Source: HumanPCR, appendix E: annotations go out under an agreement. Departs: the headings are ours;
    no text of the paper's agreement is used.
    """
    return (files("vidence.make") / "templates" / "agreement.md").read_text(encoding="utf-8")


def read_agreement(path: Path) -> str:
    """The user's text; a missing file is created with the headings alone.

    Raises:
        UsageError: it was not there.
        DataError: it cannot be read.
        StoreError: the headings cannot be written.
    """
    if not path.exists():
        write_file(path, blank_agreement().encode())
        raise UsageError(
            f"{path} was not there: the headings {', '.join(HEADINGS)} were written into it. Write the terms "
            "under them, then run the same command again"
        )
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({cause(error)})") from error


def agreement_of(text: str, *, canary: str) -> str:
    """The user's text, followed by the canary.

    Raises:
        UsageError: it is empty, or the blank as it was written.
    """
    if not text.strip() or text.strip() == blank_agreement().strip():
        raise UsageError("the agreement has no terms yet; write them under its headings, or release without")
    return f"{text.rstrip()}\n\n<!-- canary {canary} -->\n"


CROISSANT_FILE: Final = Path("croissant.json")
_KINDS: Final = {".jsonl": "application/jsonlines", ".json": "application/json"}
_TYPES: Final = {str: "sc:Text", int: "sc:Integer", float: "sc:Float"}
_WORDS: Final = "citeAs column extract field fileObject jsonPath key recordSet repeated source transform"
_CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
} | {word: f"cr:{word}" for word in _WORDS.split()}


def croissant(facts: SetFacts, files: Mapping[Path, bytes]) -> bytes:
    """Croissant metadata as JSON-LD; for our item format, one field per column.

    Args:
        facts: of the release.
        files: of the formats, by their paths in it.

    Source: Croissant format specification, version 1.0 (MLCommons, 2024).
    """
    rules = facts.rules
    authors, title = rules.authors or ("The makers of this set",), rules.title or facts.name
    known = {"license": rules.licence, "url": rules.url, "datePublished": rules.date}
    if re.fullmatch(r"\d+\.\d+\.\d+", rules.version):  # the format has no other versions
        known["version"] = rules.version
    ours = {path: content for path, content in files.items() if path.parts == (f"{path.stem}.jsonl",)}
    return json_file(
        {
            "@context": _CONTEXT,
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": facts.name,
            "description": f"{title}: {len(facts.public):,} questions, released with vidence.",
            "identifier": facts.canary,
            "creator": [{"@type": "sc:Person", "name": author} for author in authors],
            "citeAs": ". ".join(filter(None, (", ".join(authors), title, rules.version, rules.url))),
            **{key: value for key, value in known.items() if value},
            "distribution": [_file(path, content) for path, content in sorted(files.items())],
            "recordSet": [_rows(path, content) for path, content in sorted(ours.items())],
        }
    )


def _file(path: Path, content: bytes) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        **dict.fromkeys(("@id", "name", "contentUrl"), path.as_posix()),
        "encodingFormat": _KINDS.get(path.suffix, "application/x-parquet"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _rows(path: Path, content: bytes) -> dict[str, object]:
    seen: dict[tuple[str, str], tuple[str | None, bool]] = {}
    for line in content.splitlines():
        for column, value in msgspec.json.decode(line, type=dict[str, object]).items():
            is_list = isinstance(value, list)
            for entry in value if isinstance(value, list) else [value]:
                parts = entry if isinstance(entry, dict) else {"": entry}
                seen |= {(column, key): (_TYPES.get(type(part)), is_list) for key, part in parts.items()}
    fields = []
    for (column, key), (kind, is_list) in seen.items():
        if kind is not None and re.fullmatch(r"\w*", key):  # as a path in JSON says it
            source = {"fileObject": {"@id": path.as_posix()}, "extract": {"column": column}}
            source |= {"transform": {"jsonPath": key}} if key else {}
            name = f"{path.stem}/{column}{key and '/'}{key}"
            field = {"@type": "cr:Field", "@id": name, "name": name, "dataType": kind, "repeated": is_list}
            fields.append(field | {"source": source})
    about = {"@type": "cr:RecordSet", "@id": path.stem, "name": path.stem}
    return about | {"key": {"@id": f"{path.stem}/item_id"}, "field": fields}
