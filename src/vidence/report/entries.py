"""The questions that the page shows one by one: which ones, and what is said about each."""

from collections.abc import Sequence
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
from vidence.report.results import Fate, Row

MOST_TIMES = 64


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
