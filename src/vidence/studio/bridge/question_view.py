"""One question as the viewer shows it: what each run, or repeat, was shown, said, and got for it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from vidence.ask.prompting.compose import Layout
from vidence.ask.scoring.logp import letter_probabilities
from vidence.engine.diagnose import open_diagnostic
from vidence.engine.store import RunStore
from vidence.errors import StoreError, VidenceError
from vidence.explain.errors.labels import Label
from vidence.records import Failed, ImagePart, Item, Selection, Verdict, VideoPart
from vidence.report.logps import logp_words
from vidence.report.provenance import is_asked, prompt_note, shown_note
from vidence.report.questions import error_of, how_read, prompt_text, shown_words, verdict_words
from vidence.report.results import STATUSES, Row, Run
from vidence.report.timeline import spans_of
from vidence.report.trials import cost_usd
from vidence.studio.bridge.runs import DAMAGED, readings, row_of
from vidence.tables.rendering import settings_of
from vidence.text import visible

LONGEST: Final = 40_000
"""Letters of one text on a page; the whole is a download."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text of somebody else, control characters written out; `n_left_out` letters of it are not there."""

    shown: str
    n_left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.shown)


def text_of(said: str) -> Text:
    """The beginning of a text."""
    return Text(shown=visible(said[:LONGEST]), n_left_out=max(0, len(said) - LONGEST))


@dataclass(frozen=True, kw_only=True)
class ShownChoice:
    """A choice as it was shown. `own` is its letter in the item, where that is another one."""

    letter: str
    own: str
    text: str
    is_right: bool
    is_read: bool


@dataclass(frozen=True, kw_only=True)
class Likely:
    """The log-probability of a letter and its share among those reported, 0 to 1."""

    letter: str
    logp: float
    share: float


@dataclass(frozen=True, kw_only=True)
class JudgeVerdict:
    """What one judge said: in a sentence, its reason, and word for word."""

    judge: str
    found: str
    reason: Text
    said: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """What a labeller found wrong in a reply: the kinds, who, and the words of the reply that show it."""

    kinds: str
    labeller: str
    by: str
    quote: str


def labelled(labels: Iterable[Label]) -> tuple[Labelled, ...]:
    """Labels of one reply for a page."""
    return tuple(
        Labelled(
            kinds=visible(", ".join((one.kind, *one.also))),
            labeller=visible(one.labeller),
            by=visible(one.by),
            quote=visible(one.quote),
        )
        for one in labels
    )


@dataclass(frozen=True, kw_only=True)
class RunAnswer:
    """What one run made of a question in one repeat; without a `row` it is not there, as `problem` says."""

    place: str
    name: str
    repeat: int
    fate: str
    fate_words: str
    problem: str = ""
    row: Row | None = None
    choices: tuple[ShownChoice, ...] = ()
    reply: Text = Text(shown="")
    reasoning: Text = Text(shown="")
    error: Text = Text(shown="")
    how_read: str = ""
    readings: tuple[tuple[str, str], ...] = ()
    likely: tuple[Likely, ...] = ()
    likely_words: str = ""
    judged: tuple[JudgeVerdict, ...] = ()
    shown: str = ""
    still: str = ""
    """How the stills of its frames are asked for, so that they are those that were sent."""
    montages: tuple[tuple[tuple[int, int], ...], ...] = ()
    """Of each montage that was sent, in order: its frames as medium and frame; none for other layouts."""
    montage: str = ""
    """How a montage is asked for, so that it is the one that was sent."""
    is_whole: bool = False
    """Whether whole videos were sent."""
    hits: str = ""
    prompt: Text = Text(shown="")
    prompt_note: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    steps: tuple[tuple[str, Text], ...] = ()
    findings: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()

    labels: tuple[Labelled, ...] = ()

    @property
    def selection(self) -> Selection | None:
        """The frames that were shown."""
        return None if self.row is None else self.row.trial.selection

    @property
    def do_readers_differ(self) -> bool:
        """Whether another reader reads something else in the reply."""
        return len({read for _, read in self.readings}) > 1


def tell(head: Run, item_id: str, repeat: int, *, place: str, name: str) -> tuple[Item | None, RunAnswer]:
    """The question of a run, and what the run made of it.

    Args:
        head: the run, as `open_head` gives it.
        item_id: the question.
        repeat: which time it was asked, from 0.
        place: the id of the run in addresses.
        name: what the run is called.
    """
    said = name if head.plan.repeats == 1 else f"{name}, repeat {repeat}"
    none = RunAnswer(place=place, name=said, repeat=repeat, fate=DAMAGED, fate_words="damaged")
    try:
        with RunStore(head.folder) as store:
            item = store.item(item_id)
            stored = store.trial(item_id, repeat)
            findings = tuple(_findings(store, item_id))
    except StoreError as error:
        return None, replace(none, problem=visible(str(error)))
    if item is None:
        return None, replace(
            none, fate="missing", fate_words="not asked", problem="This run has no such question."
        )
    if stored is None:
        return item, replace(none, fate="missing", fate_words="not asked yet", problem="Not asked yet.")
    row = row_of({item_id: (0, item)}, stored)
    if row is None:
        why = stored.problem or "The trial does not fit its question; the file is damaged."
        return item, replace(none, problem=visible(why))
    return item, replace(_told(head, row, none), findings=findings)


def _told(head: Run, row: Row, named: RunAnswer) -> RunAnswer:
    reply, trial = row.trial.reply, row.trial
    note = prompt_note(head, row)
    return replace(
        named,
        fate=row.status,
        fate_words=STATUSES[row.status],
        row=row,
        choices=tuple(_choices(row)),
        reply=text_of("" if reply is None else reply.text),
        reasoning=text_of("" if reply is None else reply.reasoning),
        error=text_of(error_of(row)),
        how_read=visible(how_read(row)),
        readings=tuple((n, visible(read)) for n, read in readings(row, head.parser).items()),
        likely=tuple(_likely(row)),
        likely_words=visible(logp_words(row)),
        judged=tuple(map(_judged, (*row.score.verdicts, *row.score.unanswered))),
        shown=visible(shown_note(head, row) or _shown(head, row)),
        still=_still(head),
        montages=tuple(_montages(head, row)),
        montage=_grid(head),
        is_whole=trial.prompt is not None and any(isinstance(p, VideoPart) for p in trial.prompt.parts),
        hits=hits(row.item, trial.selection),
        prompt=text_of("" if note else prompt_text(trial.prompt)),
        prompt_note=visible(note),
        facts=tuple(_facts(head, row)),
        steps=tuple((f"{step.role} {step.model}".strip(), text_of(step.reply.text)) for step in trial.steps),
    )


def _shown(head: Run, row: Row) -> str:
    """What was shown in words: images have no times, and frames of a montage are in fewer pictures."""
    trial, media = row.trial, row.item.media
    n = 0 if trial.selection is None else len(trial.selection.frames)
    said = shown_words(trial)
    if n and all(one.kind == "image" for one in media):
        said = f"{n} of {len(media)} image{'s' if len(media) > 1 else ''}."
    layout = Layout.parse(head.plan.layout)
    if n and layout.kind == "montage" and trial.prompt is not None:
        pictures = sum(isinstance(part, ImagePart) for part in trial.prompt.parts)
        many = "1 picture" if pictures == 1 else f"{pictures} pictures"
        said = f"{said} Laid out in {many} of {layout.columns} by {layout.rows} cells."
    return said


def _still(head: Run) -> str:
    plan = head.plan
    kind = "png" if plan.layout.startswith("montage") else "jpeg"
    return urlencode({"size": plan.size, "format": kind, "quality": plan.jpeg_quality})


def _grid(head: Run) -> str:
    plan, layout = head.plan, Layout.parse(head.plan.layout)
    told = {"columns": layout.columns, "rows": layout.rows, "size": plan.size, "quality": plan.jpeg_quality}
    return urlencode(told) if layout.kind == "montage" else ""


def _montages(head: Run, row: Row) -> Iterator[tuple[tuple[int, int], ...]]:
    selection, prompt = row.trial.selection, row.trial.prompt
    if selection is None or prompt is None or Layout.parse(head.plan.layout).kind != "montage":
        return
    frames = selection.frames
    for part in prompt.parts:
        if isinstance(part, ImagePart) and part.frames and max(part.frames) < len(frames):
            yield tuple((frames[k].media_index, frames[k].frame_index) for k in part.frames)


def _choices(row: Row) -> Iterator[ShownChoice]:
    order = row.trial.choice_order
    for i, (letter, text) in enumerate(zip(row.item.letters, row.item.choices, strict=True)):
        own = chr(ord("A") + order[i]) if order else letter
        yield ShownChoice(
            letter=letter,
            own=own if own != letter else "",
            text=visible(text),
            is_right=letter == row.item.answer,
            is_read=letter == row.read,
        )


def _likely(row: Row) -> Iterator[Likely]:
    reply = row.trial.reply
    if reply is None or not reply.choice_logps:
        return
    shares = letter_probabilities(reply.choice_logps, row.item.letters)
    for letter, logp in sorted(reply.choice_logps.items()):
        if math.isfinite(logp):
            yield Likely(letter=visible(letter), logp=logp, share=shares.get(letter, 0.0))


def _judged(verdict: Verdict) -> JudgeVerdict:
    return JudgeVerdict(
        judge=visible(verdict.judge_model) or "a judge that is not named",
        found=visible(verdict_words(verdict)),
        reason=text_of(verdict.reason),
        said=tuple(text_of(said) for said in verdict.said),
    )


def _facts(head: Run, row: Row) -> Iterator[tuple[str, str]]:
    """Tokens, time and what else stands beside a reply."""
    reply, usage = row.trial.reply, row.trial.usage
    known = [str(n) if n is not None else "not told" for n in (usage.input_tokens, usage.output_tokens)]
    yield "tokens in, out", " and ".join(known) if known[0] != known[1] else known[0]
    if reply is not None:
        if is_asked(head):
            yield "latency", f"{reply.latency_s:.2f} s"
        yield "ended", "cut off at its limit" if reply.finish == "length" else reply.finish
        if reply.model:
            yield "server's name of the model", visible(reply.model)
    if (cost := cost_usd(head, row)) is not None:
        yield "cost", f"{cost:.6f} $"
    if row.trial.is_remembered:
        yield "reply", "out of the reply memory, not paid again"
    if row.trial.choice_order:
        yield "choices", "in an order that was drawn for this trial"


def _findings(store: RunStore, item_id: str) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """What diagnostics found of this question."""
    for name, header in store.diagnoses().items():
        try:
            diagnostic = open_diagnostic(header.diagnostic, header.options)
            found = store.finding(name, item_id, diagnostic.finding)
        except VidenceError as error:
            yield name, (("cannot be shown", visible(str(error))),)
            continue
        if isinstance(found, Failed):
            yield name, (("failed", visible(f"{found.error}: {found.message}"[:2_000])),)
        elif found is not None:
            yield name, tuple((key, visible(value[:2_000])) for key, value in settings_of(found))


# --------------------------------------------------------------------------- time


def hits(item: Item, selection: Selection | None) -> str:
    """How many of the frames that were shown lie in evidence, and in how much of it; empty without either.

    >>> from vidence.records import Evidence, FrameRef, Media
    >>> item = Item(item_id="a", question="?", answer="A", media=(Media(path="a.mp4"),),
    ...             evidence=(Evidence(start_s=1.0, end_s=2.0), Evidence(start_s=5.0, end_s=6.0)))
    >>> frames = (FrameRef(frame_index=0, time_s=0.0), FrameRef(frame_index=30, time_s=1.5))
    >>> hits(item, Selection(selector="s", version=1, frames=frames, n_candidates=9))
    '1 of 2 frames hits 1 of 2 spans of evidence.'
    """
    if selection is None or not selection.frames or len(item.media) != 1 or not item.evidence:
        return ""
    spans = spans_of(item)
    if not spans:
        return ""
    times = [frame.time_s for frame in selection.frames]
    inside = sum(any(start <= time < end for start, end in spans) for time in times)
    hit = sum(any(start <= time < end for time in times) for start, end in spans)
    verb = "hits" if inside == 1 else "hit"
    return f"{inside} of {len(times)} frames {verb} {hit} of {len(spans)} spans of evidence."


def lanes_of(item: Item, told: Sequence[RunAnswer], media_index: int) -> list[dict[str, object]]:
    """What lies on the time of one medium: its part, evidence by kind, and the frames shown to each.

    Spans are in seconds; those that are open end where the last thing lies that is known.
    """
    media = item.media[media_index]
    shown = {
        one.name: [f for f in one.selection.frames if f.media_index == media_index]
        for one in told
        if one.selection is not None
    }
    end_s = _last_s(item, [frame.time_s for some in shown.values() for frame in some], media.end_s)
    lanes: list[dict[str, object]] = []
    if media.start_s is not None or media.end_s is not None:
        lanes.append({"name": "part of the video", "spans": [_span(media.start_s, media.end_s, end_s)]})
    for kind in dict.fromkeys(one.kind for one in item.evidence if len(item.media) == 1):
        some = [one for one in item.evidence if one.kind == kind]
        spans = [_span(e.start_s, e.end_s, end_s) for e in some if (e.start_s, e.end_s) != (None, None)]
        frames = sorted({frame for one in some for frame in one.frames})
        lanes.append({"name": f"evidence, {kind}", "spans": spans, "frames": frames})
    for one in told:
        if one.is_whole and media.kind == "video":
            lanes.append({"name": f"sent whole to {one.name}", "whole": True})
        elif frames_shown := shown.get(one.name):
            indices = [frame.frame_index for frame in frames_shown]
            lanes.append({"name": f"shown to {one.name}", "frames": indices, "still": one.still})
    return lanes


def _span(start_s: float | None, end_s: float | None, last_s: float) -> list[float]:
    return [0.0 if start_s is None else start_s, last_s if end_s is None else end_s]


def _last_s(item: Item, times: Sequence[float], end_s: float | None) -> float:
    known = [one.end_s if one.end_s is not None else one.start_s for one in item.evidence]
    return max([*times, *(time for time in (*known, end_s) if time is not None)], default=0.0)
