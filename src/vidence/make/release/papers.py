"""Documents of a release: datasheet, hub card, agreement."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from vidence.errors import DataError, UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import Account, write_file
from vidence.make.release.exporters.exporting import SPLIT, Exporter
from vidence.make.release.hidden import Hidden
from vidence.make.release.media import NO_MEDIA, ReleasedMedia
from vidence.make.release.words import rendered, stages_of, statistic_of, statistics_of
from vidence.make.review.rates import ReviewRates, rates_tables, rates_words
from vidence.records import Item
from vidence.report.set_statistics import describe
from vidence.tables.table import Table
from vidence.text import visible

HEADINGS: Final = ("Hosting", "Licences", "Use", "Removal")
_HUB_LICENCES: Final = frozenset(
    {"cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "mit"}
    | {"cc-by-nc-nd-4.0", "cc-by-3.0", "cc-by-sa-3.0", "apache-2.0", "odc-by", "odbl", "pddl"}
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """What a maker adds to a part of the datasheet."""

    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


NO_SECTION: Final = Section()


@dataclass(frozen=True, kw_only=True)
class SetFacts:
    """What is known of a release.

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
        """All questions as they are released."""
        return (*self.open_ones, *self.hidden.public)


def set_datasheet(facts: SetFacts) -> str:
    """The datasheet, as Markdown: ``datasheet_set.md.j2``."""
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
        of_formats=[
            (exporter.name, exporter.about, _losses(facts.losses.get(exporter.name, {})))
            for exporter in facts.formats
        ],
        described=described.sentences if described else (),
        statistics=statistics_of(described) if described else [],
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
    """The ``README.md`` of a data set on the Hugging Face hub: what it reads, then the datasheet.

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


def _quoted(text: str) -> str:
    return json.dumps(visible(text), ensure_ascii=False)


# --------------------------------------------------------------------------- agreement


def blank_agreement() -> str:
    """An agreement without terms: the headings that a user fills in.

    Source: HumanPCR, appendix E: annotations go out under an agreement. Departs: the headings are ours;
    no text of the paper's agreement is used.
    """
    return (files("vidence.make") / "templates" / "agreement.md").read_text(encoding="utf-8")


def read_agreement(path: Path) -> str:
    """The user's text; where the file is not there, it is written with the headings alone.

    Raises:
        UsageError: it was not there.
        DataError: it cannot be read.
        StoreError: the headings cannot be written.
    """
    if not path.exists():
        write_file(path, blank_agreement().encode())
        raise UsageError(
            f"{path} was not there: the headings {', '.join(HEADINGS)} were written into it. Write the terms "
            "under them, and call this again"
        )
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from error


def agreement_of(text: str, *, canary: str) -> str:
    """The user's text, with the canary behind it.

    Raises:
        UsageError: it is empty, or the blank as it was written.
    """
    if not text.strip() or text.strip() == blank_agreement().strip():
        raise UsageError("the agreement has no terms yet; write them under its headings, or release without")
    return f"{text.rstrip()}\n\n<!-- canary {canary} -->\n"
