"""Estimate what a run would need: requests, tokens, dollars and hours."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from vidence.ask.models.prices import image_rule
from vidence.ask.prompting.compose import Layout
from vidence.catalog import parse_spec
from vidence.contracts import Drawing
from vidence.engine.environment import Environment
from vidence.engine.plan import Plan
from vidence.engine.prepare import PreparedRun
from vidence.engine.session import opened_session
from vidence.errors import MediaError
from vidence.media.encode import Size
from vidence.media.files import located, read_facts
from vidence.media.subtitles import Line
from vidence.records import Usage
from vidence.tables.table import Cell, Column, Kind, Row, Table

REPLY_S = 5.0
"""Assumed seconds per reply."""
CHARACTERS = 4
"""Assumed characters per text token."""
_MOST_LOOKED_AT = 20


async def forecast(plan: Plan, *, environment: Environment, now: datetime) -> Table:
    """Return a table of what the whole run would need, with empty replies and with replies of full length.

    Raises:
        VidenceError: the run could not start.
    """
    async with opened_session(plan, environment=environment, now=now, on_event=lambda _: None) as session:
        prepared = session.prepared
        notes: list[str] = []
        if plan.strategy != "once":
            notes.append(f"of {plan.strategy} the asks of a first round are counted")
        n_each = prepared.strategy.n_drawn if isinstance(prepared.strategy, Drawing) else 1
        n = len(prepared.items) * plan.repeats * n_each
        shows = session.needs_frames and parse_spec(plan.selector).name != "none"
        frames = _frame_tokens(prepared, notes, environment) if shows else 0.0
        lines = session.lines(prepared.items) if session.shows_lines else {}
        if lines and plan.subtitles != "all":
            notes.append("of subtitles a line for each frame is counted")
        read = None if frames is None else frames + _word_tokens(prepared, lines)
        written = (0, plan.sampling.max_tokens)
        sums = [None if read is None or w is None else (read + w) * n for w in written]
        rates = ((plan.requests_per_minute, (n, n)), (plan.tokens_per_minute, sums))
        in_flight = min(plan.concurrency, prepared.model.max_in_flight or plan.concurrency)
        hours = [n * REPLY_S / in_flight / 3600] * 2
        for limit, counts in rates:
            if limit is not None:
                hours = [max(h, (c or 0) / limit / 60) for h, c in zip(hours, counts, strict=True)]
        dollars = [_dollars(plan, notes, read=read, written=w, n=n) for w in written]
        rows: list[tuple[str, str, Kind, Sequence[float | None]]] = [
            ("asks", "Asks", "count", (n, n)),
            ("read", "Tokens read", "count", (_whole(read, n), _whole(read, n))),
            ("written", "Tokens written", "count", tuple(_whole(w, n) for w in written)),
            ("dollars", "US dollars", "number", tuple(dollars)),
            ("hours", "Hours", "number", (None, None) if plan.batch else tuple(hours)),
        ]
    pace = f"a reply takes {REPLY_S:g} s and {in_flight} are in flight"
    if plan.batch:
        pace = "the API promises the answers of each wave within 24 hours, and how long it takes is not known"
    assumed = (
        f"{CHARACTERS} characters are a token; {pace}; caches, the memory, judges and models that choose "
        "frames are not counted"
    )
    return Table(
        name="forecast",
        title=f"{plan.benchmark} with {plan.model}: estimate, nothing was asked",
        label="",
        columns=(Column(key="least", title="empty replies"), Column(key="most", title="longest replies")),
        rows=tuple(
            Row(key=key, label=label, values=tuple(Cell(value=v, kind=kind) for v in values))
            for key, label, kind, values in rows
        ),
        note="; ".join(dict.fromkeys([assumed, *notes])),
    )


def _whole(each: float | None, n: int) -> int | None:
    return None if each is None else round(each * n)


def _dollars(
    plan: Plan, notes: list[str], *, read: float | None, written: float | None, n: int
) -> float | None:
    """Return the cost of `n` requests with these tokens; unknown prices are noted."""
    prices = plan.prices
    if prices is None:
        notes.append(
            f"no price known for {plan.model}: give --price-in and --price-out, in US dollars per million "
            "tokens"
        )
    elif read is not None and written is not None:
        notes.append(prices.says)
        return n * prices.cost(Usage(input_tokens=round(read), output_tokens=round(written)))
    return None


def _word_tokens(prepared: PreparedRun, lines: Mapping[str, Sequence[Line]]) -> float:
    """Return the average text tokens of a question and of a reply."""
    prompts = [prepared.prompter.prompt(i, (), duration_s=0.0).prompt for i in prepared.items]
    n_shown = math.inf if prepared.plan.subtitles == "all" else prepared.plan.frames
    value = sum(
        sum(len(x.text) for x in some) * min(1, n_shown / max(len(some), 1)) for some in lines.values()
    )
    return (sum(len(p.system) + len(p.text) for p in prompts) + value) / CHARACTERS / max(len(prompts), 1)


def _frame_tokens(prepared: PreparedRun, notes: list[str], environment: Environment) -> float | None:
    """Return the average tokens of a question's frames, from a sample; None if unknown."""
    plan = prepared.plan
    rule, layout = image_rule(plan.model), Layout.parse(plan.layout)
    sizes = _sizes(prepared, environment)
    if rule is None or layout.kind == "video" or not sizes:
        why = f"no rule is known for the tokens of {'a video' if rule else 'images'} at {plan.model}"
        if rule and layout.kind != "video":
            why = "of no video the size could be read"
        notes.append(f"{why}: ask a few questions with --limit 5, whose tokens are printed at the end")
        return None
    notes.append(f"tokens of images by {rule.source}, {rule.date}, for {plan.frames} frames of a video")
    tokens = []
    for width, height, n_frames in sizes:
        n = math.ceil(n_frames / (layout.columns * layout.rows))
        tokens.append(n * rule.tokens(width * layout.columns, height * layout.rows))
    return sum(tokens) / len(tokens)


def _sizes(prepared: PreparedRun, environment: Environment) -> Sequence[tuple[int, int, int]]:
    """Return width, height and number of frames for questions spread over the set."""
    plan, entries = prepared.plan, list[tuple[int, int, int]]()
    items = [item for item in prepared.items if item.media]
    for item in items[:: max(1, len(items) // _MOST_LOOKED_AT)]:
        medium = item.media[0]
        try:
            facts = read_facts(
                located(prepared.media_root, medium), kind=medium.kind, cache_root=environment.cache_root
            )
        except MediaError:  # it fails alone in a run, too
            continue
        size = Size.parse(plan.size).fit(facts.probe.width_px, facts.probe.height_px)
        n_images = len(item.media) if medium.kind == "image" else facts.probe.counted.n_frames
        entries.append((*size, min(n_images, plan.frames)))
    return entries
