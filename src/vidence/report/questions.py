"""The questions that a page shows one by one: which ones, what is said about each, and their filters."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vidence.records import (
    Answered,
    Failed,
    ImagePart,
    Prompt,
    Refused,
    TextPart,
    Trial,
    Unreadable,
    Verdict,
    VideoPart,
)
from vidence.report.results import FATES, Fate, Row, Run
from vidence.report.thumbnails import ContactSheets, Sheet

MOST_TIMES = 64
LONG_TEXT = 20_000
SHORT_TEXT = 2_000
# All texts together; beyond it, long ones are cut shorter.
TEXT_BUDGET = 4_000_000
MOST_TAG_VALUES = 60


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One choice of a question."""

    letter: str
    text: str
    is_gold: bool
    is_read: bool

    @property
    def flag(self) -> str:
        """What to write beside the choice."""
        return {
            (True, True): "right answer, read",
            (True, False): "right answer",
            (False, True): "read",
            (False, False): "",
        }[self.is_gold, self.is_read]


@dataclass(frozen=True, kw_only=True)
class Said:
    """What one judge said of a reply: its model, its verdict in a sentence, why, and its replies."""

    judge: str
    summary: str
    reason: str
    replies: tuple[str, ...]


def verdicts_of(row: Row) -> tuple[Said, ...]:
    """The verdicts on a trial, one of each judge."""
    return tuple(
        Said(
            judge=verdict.judge_model or "a judge that is not named",
            summary=_summary(verdict),
            reason=verdict.reason,
            replies=verdict.said,
        )
        for verdict in row.score.verdicts
    )


def _summary(verdict: Verdict) -> str:
    drawn = "" if verdict.temperature is None else f" at temperature {verdict.temperature:g}"
    if verdict.value is None:
        return f"No verdict{drawn}: {verdict.error or 'nothing could be read'}."
    found = {1.0: "Right", 0.0: "Wrong"}.get(verdict.value, f"Partly right ({verdict.value:g})")
    points = "" if verdict.points is None else f", {verdict.points:g} points"
    answer = f"; it took the answer to be {verdict.extracted!r}" if verdict.extracted else ""
    return f"{found}{points}{drawn}{answer}."


def pick(rows: Sequence[Row], n: int) -> list[Row]:
    """About `n` trials, alike many of each fate and evenly spread over the run, in its order.

    Fates that are rare are shown whole, and what they leave over goes to the others.
    """
    positions: dict[Fate, list[int]] = {}
    for i, row in enumerate(rows):
        positions.setdefault(row.fate, []).append(i)
    chosen: list[int] = []
    groups = sorted(positions.values(), key=len)
    for n_done, group in enumerate(groups):
        quota = min(len(group), (n - len(chosen)) // (len(groups) - n_done))
        chosen += [group[(2 * k + 1) * len(group) // (2 * quota)] for k in range(quota)]
    return [rows[i] for i in sorted(chosen)]


def choices_of(row: Row) -> tuple[Choice, ...]:
    """The choices with the right one and the one read marked; none for free answers."""
    item = row.item
    if item.answer_kind != "choice":
        return ()
    return tuple(
        Choice(letter=letter, text=text, is_gold=letter == item.answer, is_read=letter == row.read)
        for letter, text in zip(item.letters, item.choices, strict=True)
    )


def how_read(row: Row) -> str:
    """How the answer was found, or why not, by which parser, and what it scored."""
    score = row.score
    by = f"{score.scorer}, version {score.scorer_version}"
    match score.outcome:
        case Answered(answer=answer, rule=rule):
            read = f"Read {answer!r}" if len(answer) <= 20 else "The reply is taken as the answer"
            found = f"{read} by the rule {rule!r} of {by}" if rule else f"{read} by {by}"
        case Unreadable(reason=reason):
            found = f"Not read by {by}: {reason}"
        case Refused(reason=reason):
            found = f"Refused: {reason}"
        case Failed(stage=stage):
            found = f"Failed in the stage {stage!r}"
    mark = "not marked yet" if row.correct is None else f"score {row.correct:g}"
    return f"{found}; {mark}."


def error_of(row: Row) -> str:
    """The error of a trial that failed, or nothing."""
    outcome = row.score.outcome
    return f"{outcome.error}: {outcome.message}" if isinstance(outcome, Failed) else ""


def prompt_text(prompt: Prompt | None) -> str:
    """What was sent, with a word in the place of images and videos."""
    if prompt is None:
        return ""
    pieces = [f"[system] {prompt.system}\n"] if prompt.system else []
    n_images = 0
    for part in (*prompt.parts, None):
        if isinstance(part, ImagePart):
            n_images += 1
            continue
        if n_images:
            pieces.append(f"[{n_images} images]" if n_images > 1 else "[1 image]")
            n_images = 0
        if isinstance(part, TextPart):
            pieces.append(part.text)
        elif isinstance(part, VideoPart):
            pieces.append("[the video]")
    return "\n".join(pieces)


def shown_words(trial: Trial) -> str:
    """Which frames were shown, and their times."""
    prompt, selection = trial.prompt, trial.selection
    if prompt is not None and any(isinstance(part, VideoPart) for part in prompt.parts):
        return "The whole video was sent."
    if selection is None or not selection.frames:
        return "No frames were shown."
    frames = selection.frames
    n = len(frames)
    times = ", ".join(f"{frame.time_s:.2f}" for frame in frames[:MOST_TIMES])
    more = f" and {n - MOST_TIMES:,} more" if n > MOST_TIMES else ""
    what = f"{n:,} frames" if n > 1 else "1 frame"
    note = f" {selection.note}" if selection.note else ""
    return f"{what} of {selection.n_candidates:,} by {selection.selector}, at {times}{more} s.{note}"


# --------------------------------------------------------------------------- on the page


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
                replace(said, reason=cut(said.reason), replies=tuple(cut(reply) for reply in said.replies))
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
