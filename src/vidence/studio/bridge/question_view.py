"""One question in the viewer: for each run or repeat, the frames, the reply and the score."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import msgspec

from vidence.engine.diagnose import open_diagnostic
from vidence.engine.store import RunStore
from vidence.errors import StoreError, VidenceError
from vidence.explain.errors.labels import Label
from vidence.records import Failed, Item, Selection, VideoPart
from vidence.report.browser import LONG_TEXT
from vidence.report.page import reply_fragment, words_fragment
from vidence.report.provenance import is_asked, shown_note
from vidence.report.questions import shown_words
from vidence.report.results import STATUSES, Row, Run
from vidence.report.trials import cost_usd
from vidence.studio.bridge.runs import DAMAGED, readings, row_of
from vidence.tables.rendering import settings_of
from vidence.text import visible


def labelled(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Labels whose texts can be shown on a page."""
    fields = ("kind", "labeller", "quote")
    return tuple(
        msgspec.structs.replace(label, **{name: visible(getattr(label, name)) for name in fields})
        for label in labels
    )


@dataclass(frozen=True, kw_only=True)
class RunAnswer:
    """What one run made of a question in one repeat; without a `row` it does not exist, as `problem` says."""

    place: str
    name: str
    repeat: int
    fate: str
    fate_words: str
    problem: str = ""
    row: Row | None = None
    piece: str = ""
    """Its reply and score as HTML, escaped."""
    cut: tuple[str, ...] = ()
    """The texts that are not whole on the page: ``reply``, ``reasoning``."""
    readings: str = ""
    """What each reader reads in the reply, as HTML; empty if only words count."""
    do_readers_differ: bool = False
    shown: str = ""
    still: str = ""
    """How the stills of its frames are asked for, so that they are those that were sent."""
    is_whole: bool = False
    """Whether whole videos were sent."""
    facts: tuple[tuple[str, str], ...] = ()
    findings: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    labels: tuple[Label, ...] = ()

    @property
    def selection(self) -> Selection | None:
        """The frames that were shown."""
        return None if self.row is None else self.row.trial.selection


def tell(head: Run, item_id: str, repeat: int, *, place: str, name: str) -> tuple[Item | None, RunAnswer]:
    """The question of a run, and what the run made of it.

    Args:
        head: the run, as `open_head` gives it.
        item_id: the question.
        repeat: which time it was asked, from 0.
        place: the id of the run in addresses.
        name: what the run is called.
    """
    message = name if head.plan.repeats == 1 else f"{name}, repeat {repeat}"
    none = RunAnswer(place=place, name=message, repeat=repeat, fate=DAMAGED, fate_words="damaged")
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
    read = readings(row, head.parser)
    texts = {} if reply is None else {"reply": reply.text, "reasoning": reply.reasoning}
    return replace(
        named,
        fate=row.status,
        fate_words=STATUSES[row.status],
        row=row,
        piece=reply_fragment(head, row),
        cut=tuple(name for name, text in texts.items() if len(text) > LONG_TEXT),
        readings=words_fragment(
            "What each reader reads",
            ("reader", "reads"),
            [
                (name, "of this run" if name == head.parser else "", text or "nothing")
                for name, text in read.items()
            ],
        )
        if read
        else "",
        do_readers_differ=len(set(read.values())) > 1,
        shown=visible(shown_note(head, row) or shown_words(trial)),
        still=_still(head),
        is_whole=trial.prompt is not None and any(isinstance(p, VideoPart) for p in trial.prompt.parts),
        facts=tuple(_facts(head, row)),
    )


def _still(head: Run) -> str:
    plan = head.plan
    kind = "png" if plan.layout.startswith("montage") else "jpeg"
    return urlencode({"size": plan.size, "format": kind, "quality": plan.jpeg_quality})


def _facts(head: Run, row: Row) -> Iterator[tuple[str, str]]:
    """Return tokens, time and other metadata of a reply."""
    reply, usage = row.trial.reply, row.trial.usage
    known = [str(n) if n is not None else "not reported" for n in (usage.input_tokens, usage.output_tokens)]
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
        yield "reply", "from the reply cache, not paid again"
    if row.trial.choice_order:
        yield "choices", "in an order drawn for this trial"


def _findings(store: RunStore, item_id: str) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """What diagnostics found of this question."""
    for name, header in store.diagnoses().items():
        try:
            diagnostic = open_diagnostic(header.diagnostic, header.options)
            record = store.finding(name, item_id, diagnostic.finding)
        except VidenceError as error:
            yield name, (("cannot be shown", visible(str(error))),)
            continue
        if isinstance(record, Failed):
            yield name, (("failed", visible(f"{record.error}: {record.message}"[:2_000])),)
        elif record is not None:
            yield name, tuple((key, visible(value[:2_000])) for key, value in settings_of(record))


# --------------------------------------------------------------------------- time


def lanes_of(item: Item, answers: Sequence[RunAnswer], media_index: int) -> list[dict[str, object]]:
    """Return the timeline of one medium: its clip, evidence by kind, and the frames that each run showed.

    Spans are in seconds; those that are open end where the last thing lies that is known.
    """
    media = item.media[media_index]
    values = {
        run_answer.name: [f for f in run_answer.selection.frames if f.media_index == media_index]
        for run_answer in answers
        if run_answer.selection is not None
    }
    end_s = _last_s(item, [frame.time_s for some in values.values() for frame in some], media.end_s)
    lanes: list[dict[str, object]] = []
    if media.start_s is not None or media.end_s is not None:
        lanes.append({"name": "part of the video", "spans": [_span(media.start_s, media.end_s, end_s)]})
    for kind in dict.fromkeys(evidence.kind for evidence in item.evidence if len(item.media) == 1):
        some = [evidence for evidence in item.evidence if evidence.kind == kind]
        spans = [_span(e.start_s, e.end_s, end_s) for e in some if (e.start_s, e.end_s) != (None, None)]
        frames = sorted({frame for evidence in some for frame in evidence.frames})
        lanes.append({"name": f"evidence, {kind}", "spans": spans, "frames": frames})
    for answer in answers:
        if answer.is_whole and media.kind == "video":
            lanes.append({"name": f"sent whole to {answer.name}", "whole": True})
        elif frames_shown := values.get(answer.name):
            indices = [frame.frame_index for frame in frames_shown]
            lanes.append({"name": f"shown to {answer.name}", "frames": indices, "still": answer.still})
    return lanes


def _span(start_s: float | None, end_s: float | None, last_s: float) -> list[float]:
    return [0.0 if start_s is None else start_s, last_s if end_s is None else end_s]


def _last_s(item: Item, times: Sequence[float], end_s: float | None) -> float:
    known = [evidence.end_s if evidence.end_s is not None else evidence.start_s for evidence in item.evidence]
    return max([*times, *(time for time in (*known, end_s) if time is not None)], default=0.0)
