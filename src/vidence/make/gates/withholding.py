"""Test whether each piece of evidence is needed, by withholding one span after another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from vidence.contracts import Flow
from vidence.engine.jobs import Jobs
from vidence.explain.diagnostics.blind_panel import orders
from vidence.explain.diagnostics.conditions import Condition, ReplyScore, ask_together
from vidence.make.gates.frames import Exhibit, FrameSet, FrameSource, frame_sets, middle_frame
from vidence.make.gates.model_gates import (
    FORCED_BY_FRAME,
    USUAL,
    Asked,
    AskSettings,
    Decision,
    DraftFrames,
    DraftSubject,
    GateVerdict,
    GateVote,
    as_items,
    subjects,
)
from vidence.make.gates.rules import NeedsAllRules
from vidence.make.pipeline.material import VideoSource, n_apart
from vidence.records import Evidence, Failed, Item

NEEDS_ALL: Final = "needs-all"
_LEAST_IMAGES: Final = 2
_UNSURE: Final = frozenset({"answered", "unreadable"})  # a refusal or a failure says nothing about the video


@dataclass(frozen=True, kw_only=True)
class ShownEvidence(DraftFrames):
    """The frames of a draft's evidence in time order.

    `without` has for each span that is withheld the positions of the frames that are left: those which show
    no moment of it. A span is not withheld where it has no frames of its own. `spans` are those of a clip;
    where images are the pieces of evidence, there are none. `n_needed` are wanted.
    """

    without: Mapping[int, tuple[int, ...]]
    spans: tuple[Evidence, ...] = ()
    n_needed: int = 0


def shown_frames(span: Evidence, video: VideoSource, rules: NeedsAllRules) -> tuple[int, ...]:
    """Return the frames of one span: the maker's best ones, and its middle."""
    middle = middle_frame(span, video)
    best = span.frames[: rules.frames]
    frames = best if len(best) >= rules.frames or middle is None else (*best, middle)
    return tuple(dict.fromkeys(min(index, video.n_frames - 1) for index in frames))


def cut_evidence(
    drafts: Sequence[Asked], rules: NeedsAllRules, source: FrameSource
) -> dict[str, ShownEvidence]:
    """Return the evidence frames of each question by id; every video is read once.

    Of a clip these are the frames of the spans, behind any images beside it. Where there are several images
    and no clip, each image is a piece of evidence.

    Raises:
        StoreError: pictures cannot be written.
    """
    items = as_items(drafts)
    values = {item.item_id: source.exhibit(item) for item in items}
    pieces = {item.item_id: _pieces(item, values[item.item_id], rules) for item in items}
    wanted = [
        (values[name], {i for some in (*piece, _beside(values[name])) for i in some})
        for name, piece in pieces.items()
    ]
    sets = frame_sets(wanted, source, frame_px=rules.frame_px)
    return {
        item.item_id: _shown(item, values[item.item_id], pieces[item.item_id], sets=sets) for item in items
    }


def _clip(exhibit: Exhibit) -> VideoSource | None:
    """Return the clip that contains the evidence; None without a clip, or with several."""
    return exhibit.parts[exhibit.clips[0]] if len(exhibit.clips) == 1 else None


def _beside(exhibit: Exhibit) -> tuple[int, ...]:
    """Return the images shown with the clip regardless of evidence."""
    return tuple(exhibit.first(place) for place in exhibit.stills) if exhibit.clips else ()


def _pieces(item: Item, exhibit: Exhibit, rules: NeedsAllRules) -> tuple[tuple[int, ...], ...]:
    """Return the frames of each piece of evidence."""
    if (clip := _clip(exhibit)) is not None:
        first = exhibit.first(exhibit.clips[0])
        return tuple(tuple(first + i for i in shown_frames(e, clip, rules)) for e in item.evidence)
    if exhibit.clips or len(exhibit.stills) < _LEAST_IMAGES:
        return ()
    return tuple((exhibit.first(place),) for place in exhibit.stills)


def _shown(
    item: Item, exhibit: Exhibit, pieces: Sequence[Sequence[int]], *, sets: Mapping[str, FrameSet]
) -> ShownEvidence:
    have, clip = exhibit.have(sets), _clip(exhibit)
    wanted = [[index for index in some if index in have] for some in pieces]
    frames = sorted({index for some in wanted for index in some})
    if frames:
        frames = sorted({*frames, *(index for index in _beside(exhibit) if index in have)})
    without: dict[int, tuple[int, ...]] = {}
    for i, piece in enumerate(wanted):
        if not piece:
            continue
        held = set(piece)
        if clip is not None:
            first = exhibit.first(exhibit.clips[0])
            own = (index for index in frames if first <= index < first + clip.n_frames)
            held = {index for index in own if _shows(item.evidence[i], index - first, clip)}
        without[i] = tuple(place for place, index in enumerate(frames) if index not in held)
    spans = tuple(item.evidence) if clip is not None else ()
    why = exhibit.fault(sets) if any(pieces) or not exhibit.parts else "no evidence is stored"
    return ShownEvidence(
        frames=tuple(have[index] for index in frames),
        without=without,
        duration_s=clip.duration_s if clip else 0.0,
        fps=clip.fps if clip else 1.0,
        spans=spans,
        n_needed=_demand(item, n_pieces=len(pieces), spans=spans),
        why="" if frames else why,
    )


def _demand(item: Item, *, n_pieces: int, spans: Sequence[Evidence]) -> int:
    """Return how many pieces a question claims to need: its tag ``k``, else all disjoint ones."""
    tag = item.tags.get("k", "")
    if tag.isdecimal():
        return int(tag)
    return n_apart(spans) if spans else n_pieces


def _shows(span: Evidence, frame_index: int, video: VideoSource) -> bool:
    """Whether a frame shows a moment of a span."""
    if frame_index in span.frames:
        return True
    if span.start_s is None or span.end_s is None:
        return False
    return span.start_s <= frame_index / video.fps < span.end_s


def ask_without(
    drafts: Sequence[Asked],
    values: Mapping[str, ShownEvidence],
    rules: NeedsAllRules,
    *,
    models: Jobs,
    seed: int,
    how: AskSettings = USUAL,
) -> tuple[GateVerdict, ...]:
    """Ask with all evidence and, if right, with each span withheld.

    Raises:
        VidenceError: the model answers nobody any more; every reply so far is remembered.

    Source: HERBench, section 3.1 (each piece of evidence is needed).
    Departs: the paper requires it of the construction and does not try it; here a model does, on what it
        can answer at all.
    """
    subject, items = subjects(rules, how), as_items(drafts)
    flows = {
        item.item_id: _try(
            subject(item=item, shown=values[item.item_id]), values[item.item_id], rules, seed=seed
        )
        for item in items
        if values[item.item_id].frames
    }
    entries = models.run(flows)
    return tuple(
        _verdict(item.item_id, entries.get(item.item_id), rules, shown=values[item.item_id]) for item in items
    )


def _try(
    subject: DraftSubject, evidence: ShownEvidence, rules: NeedsAllRules, *, seed: int
) -> Flow[tuple[GateVote, ...]]:
    """Return the vote with all evidence and, if right, one vote per withheld span."""
    item = subject.item
    shuffles = ((), *orders(subject.item, rules.permutations, seed=seed))
    more = FORCED_BY_FRAME if rules.forced and item.answer_kind == "choice" else ""

    def ways(positions: tuple[int, ...] | None) -> list[Condition]:
        return [
            Condition(view="", positions=positions, order=order, model=rules.model, more=more)
            for order in shuffles
        ]

    whole = GateVote(model=rules.model, marks=tuple((yield from ask_together(subject, ways(None)))))
    if not whole.is_right:
        return (whole,)
    asked = [way for left in evidence.without.values() for way in ways(left)]
    marks = yield from ask_together(subject, asked)
    n = len(shuffles)
    return (
        whole,
        *(
            GateVote(model=rules.model, marks=tuple(marks[i * n : (i + 1) * n]), without_span=span)
            for i, span in enumerate(evidence.without)
        ),
    )


def _verdict(
    name: str, pair: tuple[GateVote, ...] | Failed | None, rules: NeedsAllRules, *, shown: ShownEvidence
) -> GateVerdict:
    """Keep if enough moments are needed; leave open if missing answers decide."""
    verdict = GateVerdict(item_id=name, gate=NEEDS_ALL, decision="untried", why=shown.why)
    if pair is None:
        return verdict
    if isinstance(pair, Failed):
        vote = GateVote(model=rules.model, failed=f"{pair.error}: {pair.message}")
        return replace(verdict, votes=(vote,), n_unusable=1, why="the model gave no answer")
    whole, *held = pair
    if not whole.is_right:
        why = "the model is not right with all of the evidence" if whole.is_usable else "no usable answer"
        return replace(verdict, votes=pair, n_unusable=int(not whole.is_usable), why=why)
    unknown = [gate_vote for gate_vote in held if any(map(_says_nothing, gate_vote.marks))]
    needed = [gate_vote for gate_vote in held if gate_vote not in unknown and not gate_vote.is_right]
    k, most = _n_apart(needed, shown), _n_apart([*needed, *unknown], shown)
    decision: Decision = "kept"
    if rules.drop and most < shown.n_needed:
        decision = "dropped"
    elif rules.drop and k < shown.n_needed:
        decision = "open"
    return GateVerdict(
        item_id=name,
        gate=NEEDS_ALL,
        decision=decision,
        votes=pair,
        n_right=sum(gate_vote.is_right for gate_vote in held),
        n_unusable=len(unknown),
        k_verified=k,
    )


def _says_nothing(mark: ReplyScore) -> bool:
    """Return whether a reply says nothing about the video or could not be judged."""
    return mark.kind not in _UNSURE or (mark.kind == "answered" and mark.value is None)


def _n_apart(votes: Sequence[GateVote], evidence: ShownEvidence) -> int:
    """Count disjoint withheld pieces; images are always disjoint."""
    if not evidence.spans:
        return len(votes)
    return n_apart([evidence.spans[vote.without_span] for vote in votes])
