"""The browser of questions on the page, as data for its template."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vidence.report.entries import (
    Choice,
    Said,
    choices_of,
    error_of,
    how_read,
    pick,
    prompt_text,
    shown_words,
    verdicts_of,
)
from vidence.report.results import FATES, Row, Run
from vidence.report.thumbnails import ContactSheets, Sheet

LONG_TEXT = 20_000
SHORT_TEXT = 2_000
# All texts together; beyond it, long ones are cut shorter.
TEXT_BUDGET = 4_000_000
MOST_TAG_VALUES = 60


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One trial as the page shows it."""

    id: str
    run_id: str
    run_name: str
    item_id: str
    repeat: int
    video: str
    question: str
    choices: tuple[Choice, ...]
    gold: str
    read: str
    fate: str
    fate_words: str
    tags: tuple[tuple[str, str], ...]
    tag_ids: str
    sheet_id: str
    sheet: Sheet | None
    shown: str
    prompt: str
    reply: str | None
    reasoning: str
    error: str
    how_read: str
    verdicts: tuple[Said, ...]


@dataclass(frozen=True, kw_only=True)
class Browser:
    """All entries, and what they can be filtered by: (value, words) pairs."""

    note: str
    entries: tuple[Entry, ...]
    fates: tuple[tuple[str, str], ...]
    tags: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(kw_only=True)
class _Texts:
    """Cuts long texts, and cuts more once a lot has been said."""

    n_used: int = 0

    def cut(self, text: str) -> str:
        most = LONG_TEXT if self.n_used < TEXT_BUDGET else SHORT_TEXT
        self.n_used += min(len(text), most)
        if len(text) <= most:
            return text
        half = most // 2
        return f"{text[:half]}\n[… {len(text) - most:,} characters are left out here …]\n{text[-half:]}"


@dataclass(kw_only=True)
class _TagIds:
    """Short ids for tag values, which may be any text."""

    ids: dict[tuple[str, str], str] = field(default_factory=dict)

    def of(self, name: str, value: str) -> str:
        return self.ids.setdefault((name, value), f"t{len(self.ids)}")

    def by_name(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        found: dict[str, list[tuple[str, str]]] = {}
        for (name, value), tag_id in self.ids.items():
            found.setdefault(name, []).append((tag_id, value))
        return tuple(
            (name, tuple(sorted(values, key=lambda pair: pair[1])))
            for name, values in found.items()
            if 1 < len(values) <= MOST_TAG_VALUES
        )


@dataclass(kw_only=True)
class _Maker:
    """Makes entries; what they share is kept here."""

    sheets: ContactSheets
    texts: _Texts = field(default_factory=_Texts)
    tag_ids: _TagIds = field(default_factory=_TagIds)

    def entry(self, run: Run, row: Row, *, entry_id: str, run_id: str, run_name: str) -> Entry:
        item, trial, cut = row.item, row.trial, self.texts.cut
        pictured = self.sheets.of(run, row)
        shown = f"{shown_words(trial)} {pictured.note}".strip()
        return Entry(
            id=entry_id,
            run_id=run_id,
            run_name=run_name,
            item_id=item.item_id,
            repeat=trial.repeat,
            video=item.video_id,
            question=cut(item.question),
            choices=choices_of(row),
            gold=item.answer,
            read=row.read,
            fate=row.fate,
            fate_words=FATES[row.fate],
            tags=tuple(item.tags.items()),
            tag_ids=" ".join(self.tag_ids.of(name, value) for name, value in item.tags.items()),
            sheet_id=pictured.sheet_id,
            sheet=self.sheets.sheets.get(pictured.sheet_id),
            shown=shown,
            prompt=cut(prompt_text(trial.prompt)),
            reply=None if trial.reply is None else cut(trial.reply.text),
            reasoning="" if trial.reply is None else cut(trial.reply.reasoning),
            error=error_of(row),
            how_read=how_read(row),
            verdicts=tuple(
                Said(
                    judge=said.judge,
                    summary=said.summary,
                    reason=cut(said.reason),
                    replies=tuple(cut(reply) for reply in said.replies),
                )
                for said in verdicts_of(row)
            ),
        )


def browse(runs: Sequence[tuple[str, str, Run]], *, sheets: ContactSheets, n_items: int) -> Browser:
    """Choose trials from all runs and prepare them.

    Args:
        runs: for each run its id on the page, its name, and the run.
        sheets: makes the pictures.
        n_items: how many trials to show in all.
    """
    maker = _Maker(sheets=sheets)
    entries: list[Entry] = []
    for run_id, name, run in runs:
        for row in pick(run.rows, n_items // len(runs)):
            entry_id = f"{run_id}-q{len(entries) + 1}"
            shown_name = name if len(runs) > 1 else ""
            entries.append(maker.entry(run, row, entry_id=entry_id, run_id=run_id, run_name=shown_name))
    found = {entry.fate for entry in entries}
    fates = [(str(fate), words) for fate, words in FATES.items() if fate in found]
    missed = " ".join(fate for fate, _ in fates if fate not in {"right", "unmarked"})
    if "right" in found and missed:
        fates.insert(1, (missed, "not right"))
    return Browser(
        note=_note(len(entries), sum(len(run.rows) for _, _, run in runs)),
        entries=tuple(entries),
        fates=tuple(fates),
        tags=maker.tag_ids.by_name(),
    )


def _note(n: int, n_all: int) -> str:
    if n == n_all:
        return f"All {n:,} trials."
    return (
        f"{n:,} of {n_all:,} trials: alike many right, wrong, unreadable, refused and failed ones as far as "
        "there are, spread evenly over the run. The shares here are not those of the run."
    )
