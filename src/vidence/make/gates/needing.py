"""Whether each piece of evidence is needed: drafts put to a model with one span after the other withheld."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vidence.ask.prompting.templates import Templates
from vidence.catalog import create
from vidence.contracts import Flow, Scorer
from vidence.explain.diagnostics.blind_panel import orders
from vidence.explain.diagnostics.conditions import Condition, ask_together
from vidence.make.gates.asking import (
    FORCED_BY_FRAME,
    Decision,
    DraftSubject,
    GateVerdict,
    GateVote,
    plain_item,
)
from vidence.make.gates.frames import FrameSource, frame_sets, middle_frame
from vidence.make.gates.rules import NeedsAllRules
from vidence.make.pipeline.material import Crop, Draft, VideoSource
from vidence.make.pipeline.models import Models
from vidence.make.tasks.candidates import n_apart
from vidence.records import Evidence, Failed

NEEDS_ALL: Final = "needs-all"
_UNSURE: Final = frozenset({"answered", "unreadable"})  # a refusal or a failure says nothing about the video


@dataclass(frozen=True, kw_only=True)
class ShownEvidence:
    """The frames of a draft's evidence in the order of time; none, and `why`, where it cannot be tried.

    `without` has for each span that is withheld the positions of the frames that are left: those which show
    no moment of it. A span is not withheld where it has no frames of its own.
    """

    frames: tuple[Crop, ...] = ()
    without: Mapping[int, tuple[int, ...]]
    video: VideoSource
    why: str = ""


def shown_frames(span: Evidence, video: VideoSource, rules: NeedsAllRules) -> tuple[int, ...]:
    """The frames that show one span: the best ones that the maker of the question names, and its middle."""
    middle = middle_frame(span, video)
    best = span.frames[: rules.frames]
    found = best if len(best) >= rules.frames or middle is None else (*best, middle)
    return tuple(dict.fromkeys(min(index, video.n_frames - 1) for index in found))


def cut_evidence(
    drafts: Sequence[Draft], rules: NeedsAllRules, source: FrameSource
) -> dict[str, ShownEvidence]:
    """The frames of the evidence of each draft, by its id; every video is read once, for all its drafts.

    Raises:
        StoreError: pictures cannot be written.
    """
    by_video: dict[str, set[int]] = {}
    for draft in drafts:
        video = source.videos[draft.video_id]
        for span in draft.evidence:
            by_video.setdefault(draft.video_id, set()).update(shown_frames(span, video, rules))
    sets = frame_sets(by_video, source, frame_px=rules.frame_px)
    return {
        draft.draft_id: _shown(
            draft,
            source.videos[draft.video_id],
            rules,
            have={one.frame_index: one for one in sets[draft.video_id].frames}
            if draft.video_id in sets
            else {},
            why=sets[draft.video_id].why if draft.video_id in sets else "no evidence is stored",
        )
        for draft in drafts
    }


def _shown(
    draft: Draft, video: VideoSource, rules: NeedsAllRules, *, have: Mapping[int, Crop], why: str
) -> ShownEvidence:
    wanted = [
        [index for index in shown_frames(span, video, rules) if index in have] for span in draft.evidence
    ]
    frames = sorted({index for some in wanted for index in some})
    without = {
        i: tuple(place for place, index in enumerate(frames) if not _shows(span, index, video))
        for i, span in enumerate(draft.evidence)
        if wanted[i]
    }
    return ShownEvidence(
        frames=tuple(have[index] for index in frames),
        without=without,
        video=video,
        why="" if frames else why or "none of its frames can be read",
    )


def _shows(span: Evidence, frame_index: int, video: VideoSource) -> bool:
    """Whether a frame shows a moment of a span."""
    if frame_index in span.frames:
        return True
    if span.start_s is None or span.end_s is None:
        return False
    return span.start_s <= frame_index / video.fps < span.end_s


def ask_without(
    drafts: Sequence[Draft],
    shown: Mapping[str, ShownEvidence],
    rules: NeedsAllRules,
    *,
    models: Models,
    seed: int,
    own_words: Path | None = None,
) -> tuple[GateVerdict, ...]:
    """Put every draft to the model with all its evidence, and where it is right with each span withheld.

    `own_words` is a folder of templates.

    Raises:
        VidenceError: the model answers nobody any more; every reply so far is remembered.

    Source: HERBench, section 3.1 (each piece of evidence is needed).
    Departs: the paper requires it of the construction and does not try it; here a model does, on what it
        can answer at all.
    """
    templates = Templates.load(rules.prompts, override=own_words, is_shared=True)
    parser = create("parser", "robust")
    flows = {
        draft.draft_id: _try(
            draft, shown[draft.draft_id], rules, templates=templates, parser=parser, seed=seed
        )
        for draft in drafts
        if shown[draft.draft_id].frames
    }
    said = models.run(flows)
    return tuple(
        _verdict(draft, said.get(draft.draft_id), rules, why=shown[draft.draft_id].why) for draft in drafts
    )


def _try(
    draft: Draft,
    shown: ShownEvidence,
    rules: NeedsAllRules,
    *,
    templates: Templates,
    parser: Scorer,
    seed: int,
) -> Flow[tuple[GateVote, ...]]:
    """The vote with everything, and where that is right one vote for each span that is withheld."""
    subject = DraftSubject(
        item=plain_item(draft),
        templates=templates,
        parser=parser,
        frames=shown.frames,
        duration_s=shown.video.duration_s,
        fps=shown.video.fps,
    )
    shuffles = ((), *orders(subject.item, rules.permutations, seed=seed))
    more = FORCED_BY_FRAME if rules.forced else ""

    def ways(positions: tuple[int, ...] | None) -> list[Condition]:
        return [
            Condition(view="", positions=positions, order=order, model=rules.model, more=more)
            for order in shuffles
        ]

    whole = GateVote(model=rules.model, marks=tuple((yield from ask_together(subject, ways(None)))))
    if not whole.is_right:
        return (whole,)
    asked = [one for left in shown.without.values() for one in ways(left)]
    marks = yield from ask_together(subject, asked)
    n = len(shuffles)
    return (
        whole,
        *(
            GateVote(model=rules.model, marks=tuple(marks[i * n : (i + 1) * n]), without_span=span)
            for i, span in enumerate(shown.without)
        ),
    )


def _verdict(
    draft: Draft, said: tuple[GateVote, ...] | Failed | None, rules: NeedsAllRules, *, why: str
) -> GateVerdict:
    """Kept where at least `k` moments are needed, open where missing answers decide."""
    verdict = GateVerdict(draft_id=draft.draft_id, gate=NEEDS_ALL, decision="untried", why=why)
    if said is None:
        return verdict
    if isinstance(said, Failed):
        vote = GateVote(model=rules.model, failed=f"{said.error}: {said.message}")
        return _with(verdict, votes=(vote,), n_unusable=1, why="the model gave no answer")
    whole, *held = said
    if not whole.is_right:
        why = "the model is not right with all of the evidence" if whole.is_usable else "no usable answer"
        return _with(verdict, votes=said, n_unusable=int(not whole.is_usable), why=why)
    unknown = [one for one in held if any(mark.kind not in _UNSURE for mark in one.marks)]
    needed = [one for one in held if one not in unknown and not one.is_right]
    k = n_apart([draft.evidence[one.without_span] for one in needed])
    most = n_apart([draft.evidence[one.without_span] for one in (*needed, *unknown)])
    decision: Decision = "kept"
    if rules.drop and most < draft.k:
        decision = "dropped"
    elif rules.drop and k < draft.k:
        decision = "open"
    return GateVerdict(
        draft_id=draft.draft_id,
        gate=NEEDS_ALL,
        decision=decision,
        votes=said,
        n_right=sum(one.is_right for one in held),
        n_unusable=len(unknown),
        k_verified=k,
    )


def _with(verdict: GateVerdict, *, votes: Sequence[GateVote], n_unusable: int, why: str) -> GateVerdict:
    return GateVerdict(
        draft_id=verdict.draft_id,
        gate=verdict.gate,
        decision=verdict.decision,
        votes=tuple(votes),
        n_right=sum(one.is_right for one in votes),
        n_unusable=n_unusable,
        why=why,
    )
