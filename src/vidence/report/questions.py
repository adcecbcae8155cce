"""The questions that a page shows one by one: which ones, what is said about each, and their filters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
from vidence.report.results import STATUSES, Row, Run, Status
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


def verdict_words(verdict: Verdict) -> str:
    """What one judge found, in a sentence."""
    sampled = "" if verdict.temperature is None else f" at temperature {verdict.temperature:g}"
    if verdict.value is None:
        return f"No verdict{sampled}: {verdict.error or 'nothing could be read'}."
    found = {1.0: "Right", 0.0: "Wrong"}.get(verdict.value, f"Partly right ({verdict.value:g})")
    points = "" if verdict.points is None else f", {verdict.points:g} points"
    answer = f"; it took the answer to be {verdict.extracted!r}" if verdict.extracted else ""
    return f"{found}{points}{sampled}{answer}."


def pick(rows: Sequence[Row], n: int) -> list[Row]:
    """About `n` trials, alike many of each status and evenly spread over the run, in its order.

    Fates that are rare are shown whole, and what they leave over goes to the others.
    """
    positions: dict[Status, list[int]] = {}
    for i, row in enumerate(rows):
        positions.setdefault(row.status, []).append(i)
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
    said = "not scored yet" if row.correct is None else f"score {row.correct:g}"
    return f"{found}; {said}."


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
    """One trial as the page shows it: `run_name` stands beside it where there are several runs."""

    id: str
    run_id: str
    run_name: str
    row: Row
    tag_ids: str
    sheet_id: str
    shown: str

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices, none for free answers."""
        return choices_of(self.row)

    @property
    def status_words(self) -> str:
        """What became of the trial."""
        return STATUSES[self.row.status]

    @property
    def how_read(self) -> str:
        """How the answer was found, and what it scored."""
        return how_read(self.row)

    @property
    def error(self) -> str:
        """The error of a trial that failed."""
        return error_of(self.row)

    @property
    def prompt(self) -> str:
        """What was sent."""
        return prompt_text(self.row.trial.prompt)


@dataclass(kw_only=True)
class Browser:
    """All entries, what they can be filtered by as (value, words) pairs, and how much text was shown."""

    note: str
    entries: tuple[Entry, ...]
    statuses: tuple[tuple[str, str], ...]
    tags: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    sheets: Mapping[str, Sheet]
    n_characters: int = 0

    def cut(self, text: str) -> str:
        """A text that is not too long for the page; more is cut once a lot has been said."""
        most = LONG_TEXT if self.n_characters < TEXT_BUDGET else SHORT_TEXT
        self.n_characters += min(len(text), most)
        if len(text) <= most:
            return text
        half = most // 2
        return f"{text[:half]}\n[… {len(text) - most:,} characters are left out here …]\n{text[-half:]}"


def browse(runs: Sequence[tuple[str, str, Run]], *, sheets: ContactSheets, n_items: int) -> Browser:
    """Choose trials from all runs and prepare them.

    Args:
        runs: for each run its id on the page, its name, and the run.
        sheets: makes the pictures.
        n_items: how many trials to show in all.
    """
    tag_ids: dict[tuple[str, str], str] = {}  # short ids for tag values, which may be any text
    entries: list[Entry] = []
    for run_id, name, run in runs:
        for row in pick(run.rows, n_items // len(runs)):
            pictured = sheets.of(run, row)
            tags = row.item.tags.items()
            entries.append(
                Entry(
                    id=f"{run_id}-q{len(entries) + 1}",
                    run_id=run_id,
                    run_name=name if len(runs) > 1 else "",
                    row=row,
                    tag_ids=" ".join(tag_ids.setdefault(tag, f"t{len(tag_ids)}") for tag in tags),
                    sheet_id=pictured.sheet_id,
                    shown=f"{shown_words(row.trial)} {pictured.note}".strip(),
                )
            )
    found = {entry.row.status for entry in entries}
    statuses = [(str(status), words) for status, words in STATUSES.items() if status in found]
    missed = " ".join(status for status, _ in statuses if status not in {"right", "unmarked"})
    if "right" in found and missed:
        statuses.insert(1, (missed, "not right"))
    return Browser(
        note=_note(len(entries), sum(len(run.rows) for _, _, run in runs)),
        entries=tuple(entries),
        statuses=tuple(statuses),
        tags=tuple(_tags(tag_ids)),
        sheets=sheets.sheets,
    )


def _tags(ids: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Each tag that can be chosen by, with the ids and the words of its values."""
    for name in dict.fromkeys(name for name, _ in ids):
        values = sorted((value, tag_id) for (of, value), tag_id in ids.items() if of == name)
        if 1 < len(values) <= MOST_TAG_VALUES:
            yield name, tuple((tag_id, value) for value, tag_id in values)


def _note(n: int, n_all: int) -> str:
    if n == n_all:
        return f"All {n:,} trials."
    return (
        f"{n:,} of {n_all:,} trials: alike many right, wrong, unreadable, refused and failed ones as far as "
        "there are, spread evenly over the run. The shares here are not those of the run."
    )
