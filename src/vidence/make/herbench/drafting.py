"""Draft step: run every task on every video, cached by inputs, with reasons for missing drafts."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

import msgspec
import numpy as np

from vidence.catalog import create
from vidence.contracts import Flow
from vidence.errors import UsageError, cause
from vidence.make.herbench.config import OptionValue, TaskRules, option_spec
from vidence.make.herbench.hints import ASKED
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.cache import FlowUnit, Stage, digest_of
from vidence.make.pipeline.material import Corpus, Draft, Dropped, Made, Material, Task, truth_words
from vidence.records import Media, Record, by_key
from vidence.text import normal_form

BENCHMARK = "herbench"
_DRAFT_FORM = 3  # of the drafts of every task; 3: synonyms count together where a log has no classes
_LEAST_SAME = 2  # drafts of one structure that may have the same answer, however few there are

PARTS = ("tracked", "chosen", "a_cards", "b_cards", "shots", "scene_cards", "events", "crops", "counts")


class DraftSet(Record):
    """The drafts of a task on one video."""

    drafts: tuple[Draft, ...]
    dropped: tuple[Dropped, ...]

    @classmethod
    def of(cls, entries: Sequence[Made]) -> Self:
        """Split drafts from drops."""
        return cls(
            drafts=tuple(entry for entry in entries if isinstance(entry, Draft)),
            dropped=tuple(entry for entry in entries if isinstance(entry, Dropped)),
        )


@dataclass(frozen=True, kw_only=True)
class TaskOrder:
    """A task with its wanted number; `templates` is the digest of the user's templates."""

    name: str
    task: Task
    rules: TaskRules
    templates: str = ""


def open_tasks(rules: Mapping[str, TaskRules], wanted: Sequence[str], *, root: Path) -> tuple[TaskOrder, ...]:
    """Open tasks by name, in order; template folders in options are relative to `root`.

    Raises:
        UnknownNameError: no such task.
        UsageError: an option or a structure that a task does not have.
    """
    opened: list[TaskOrder] = []
    for name in wanted:
        task_rules = rules.get(name, TaskRules())
        options, templates = _with_templates(task_rules.options, root)
        task: Task = create("task", option_spec(name, options))
        if unknown := [structure for structure in task_rules.structures if structure not in task.structures]:
            raise UsageError(
                f"the task {name!r} has no structure {unknown[0]!r}; it has {', '.join(task.structures)}"
            )
        opened.append(TaskOrder(name=name, task=task, rules=task_rules, templates=templates))
    return tuple(opened)


def _with_templates(options: Mapping[str, OptionValue], root: Path) -> tuple[dict[str, OptionValue], str]:
    """The options with a whole path to templates, and the digest of the texts there."""
    if "prompts" not in options:
        return dict(options), ""
    folder = root / str(options["prompts"])
    try:
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the templates in {folder} cannot be read: {cause(error)}") from error
    return {**options, "prompts": str(folder)}, digest_of(texts)


def draft_all(
    work: HerbenchSession, videos: Sequence[VideoState], corpus: Corpus, *, orders: Sequence[TaskOrder]
) -> tuple[Draft, ...]:
    """The drafts of all tasks on all videos, in the order of tasks and videos, within their quotas.

    Three accounts are closed: ``pairs`` (a task on a video either gave a draft or did not, and why),
    ``drafts`` (what the tasks tried), and ``quotas``.

    Raises:
        AccountError: a task gave two drafts one id.
        VidenceError: a model answers nobody any more; every unit so far is kept.
    """
    pairs = {video.named(order.task.code): (video, order) for order in orders for video in videos}
    lacks = {name: part for name, (state, order) in pairs.items() if (part := _lacking(state, order.task))}
    units = _units({name: pair for name, pair in pairs.items() if name not in lacks}, corpus, work=work)
    results = work.ask("pairs", units, models=work.models, model=ASKED if ASKED in work.config.models else "")
    dropped = [
        Dropped(
            what=name,
            stage="pairs",
            reason=f"no-{part.replace('_', '-')}",
            detail=pairs[name][0].absent.get(part, ""),
        )
        for name, part in lacks.items()
    ]
    dropped += [results.dropped(name, stage="pairs") for name in results.failed]
    values = {name: artifact.value for name, artifact in results.made.items()}
    dropped += [_nothing(name, draft_set) for name, draft_set in values.items() if not draft_set.drafts]
    work.close(
        "pairs",
        unit="tasks on videos",
        taken=list(pairs),
        kept=[name for name, draft_set in values.items() if draft_set.drafts],
        dropped=dropped,
        n_cached=results.n_cached,
    )
    drafts = _with_media(_account_drafts(work, list(values.values())), videos)
    kept, over = _within_quotas(drafts, orders)
    work.close("quotas", unit="drafts", taken=[draft.draft_id for draft in drafts], dropped=over)
    return kept


def _with_media(drafts: Sequence[Draft], videos: Sequence[VideoState]) -> tuple[Draft, ...]:
    """The drafts with the file that they are about; its path starts from the folder of the videos."""
    sources = {video.video_id: video.material.source for video in videos}
    media = {
        name: (Media(path=source.path, sha256=source.sha256 or None),) for name, source in sources.items()
    }
    return tuple(
        msgspec.structs.replace(
            draft,
            media=media[draft.video_id],
            source_id=sources[draft.video_id].source_id,
            benchmark=BENCHMARK,
        )
        for draft in drafts
    )


def _lacking(state: VideoState, task: Task) -> str:
    """Return the first missing part of the material that a task needs; empty if complete."""
    return next((part for part in task.needs if not getattr(state.material, part)), "")


def _units(
    pairs: Mapping[str, tuple[VideoState, TaskOrder]], corpus: Corpus, *, work: HerbenchSession
) -> list[FlowUnit[DraftSet]]:
    """Return one unit per task and video; a task sees only its declared needs, so its key is complete."""
    seed, answerer = work.config.seed, work.models.spec(ASKED)
    digests = {"events": digest_of(corpus.events), "a_cards": digest_of([corpus.a_cards, corpus.looks])}

    @cache  # one object for each, so that a task can index it once
    def seen_by(needs: frozenset[str]) -> Corpus:
        return replace(
            corpus,
            events=corpus.events if "events" in needs else {},
            a_cards=corpus.a_cards if "a_cards" in needs else {},
            looks=corpus.looks if "a_cards" in needs else {},
        )

    units: list[FlowUnit[DraftSet]] = []
    for name, (state, order) in pairs.items():
        task = order.task
        across = across_videos(task)
        inputs = {"source": digest_of(state.material.source)}
        for part in task.needs:
            inputs[part] = state.digests[part]
            if part in across:
                inputs[f"corpus {part}"] = digests[part]
        for part in task.uses:
            if getattr(state.material, part):
                inputs[part] = state.digests[part]
        if "tracked" in task.needs and state.material.tracked is not None:
            inputs["basis"] = digest_of(state.material.tracked.basis)
        settings = [order.rules, seed, answerer, order.templates, _DRAFT_FORM]
        units.append(
            FlowUnit(
                stage=Stage(
                    name=f"draft-{order.name}", kind=DraftSet, version=task.version, settings=settings
                ),
                name=name,
                inputs=inputs,
                start=_starter(state, order, seen_by(across), seed=seed),
            )
        )
    return units


def _starter(
    state: VideoState, order: TaskOrder, corpus: Corpus, *, seed: int
) -> Callable[[], Flow[DraftSet]]:
    task, rules = order.task, order.rules
    blank, parts = Material(source=state.material.source), {*task.needs, *task.uses}
    seen = replace(state.material, **{p: getattr(blank, p) for p in PARTS if p not in parts})
    words = f"{seed}/{task.code}/{state.video_id}".encode()
    # More where not all structures are wanted.
    wanted = set(rules.structures or task.structures)
    most = math.ceil(rules.per_video * len(task.structures) / len(wanted))
    words_of_truth = truth_words(seen, task.needs)

    def start() -> Flow[DraftSet]:
        rng = np.random.default_rng(list(hashlib.sha256(words).digest()))
        draft = yield from task.draft(seen, corpus, most=most, rng=rng)
        return DraftSet.of([_with_truth(entry, words_of_truth) for entry in draft])

    return start


def across_videos(task: Task) -> frozenset[str]:
    """Return the parts of all videos' material that a task reads; `needs` covers its own video."""
    return frozenset(task.across) & frozenset(task.needs)


def _with_truth(entry: Made, words: str) -> Made:
    """Return a draft with the basis of its answer; existing bases and drops stay."""
    if isinstance(entry, Dropped) or entry.truth:
        return entry
    return msgspec.structs.replace(entry, truth=words)


def _nothing(name: str, draft_set: DraftSet) -> Dropped:
    """Return the commonest reason why a task gave no draft for a video."""
    reasons = Counter(dropped.reason for dropped in draft_set.dropped)
    message = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
    return Dropped(what=name, stage="pairs", reason="no-draft", detail=message)


def _account_drafts(work: HerbenchSession, sets: Sequence[DraftSet]) -> tuple[Draft, ...]:
    """Close the account of the tasks; drops with equal names are numbered."""
    drafts = tuple(draft for draft_set in sets for draft in draft_set.drafts)
    counts: Counter[str] = Counter()
    dropped: list[Dropped] = []
    for entry in (gone for each in sets for gone in each.dropped):
        name = f"{entry.stage.removeprefix('draft:')}: {entry.what}"
        counts[name] += 1
        what = f"{name} #{counts[name]}" if counts[name] > 1 else name
        dropped.append(msgspec.structs.replace(entry, what=what, stage="drafts"))
    kept = [draft.draft_id for draft in drafts]
    taken = [*kept, *(element.what for element in dropped)]
    work.ledger.close("drafts", unit="drafts", taken=taken, kept=kept, dropped=dropped)
    return drafts


def _within_quotas(
    drafts: Sequence[Draft], orders: Sequence[TaskOrder]
) -> tuple[tuple[Draft, ...], list[Dropped]]:
    """Keep wanted structures, `per_video` drafts of a video, balanced answers, and `total` of all in turn."""
    rules = {order.task.code: order.rules for order in orders}
    dropped: list[Dropped] = []
    turns: dict[str, list[tuple[int, int, Draft]]] = defaultdict(list)
    seen: Counter[tuple[str, str]] = Counter()
    for place, draft in enumerate(drafts):
        mine, pair = rules[draft.task], (draft.task, draft.video_id)
        if mine.structures and draft.structure not in mine.structures:
            dropped.append(_over(draft, "structure-not-wanted"))
        elif draft.k is not None and draft.k < mine.least_k:
            dropped.append(_over(draft, "below-least-k"))
        elif seen[pair] >= mine.per_video:
            dropped.append(_over(draft, "over-per-video"))
        else:
            turns[draft.task].append((seen[pair], place, draft))
            seen[pair] += 1
    kept: list[tuple[int, Draft]] = []
    for task, mine_drafts in turns.items():
        total = rules[task].total
        in_turn = sorted(mine_drafts, key=lambda values: values[:2])
        common = _too_common([draft for _, _, draft in in_turn], share=rules[task].same_answer)
        dropped += [
            _over(values[2], "answer-too-common") for values in in_turn if values[2].draft_id in common
        ]
        in_turn = [values for values in in_turn if values[2].draft_id not in common]
        kept += [(place, draft) for _, place, draft in in_turn[:total]]
        dropped += [_over(draft, "over-total") for _, _, draft in in_turn[len(in_turn[:total]) :]]
    return tuple(draft for _, draft in sorted(kept, key=lambda values: values[0])), dropped


def _too_common(drafts: Sequence[Draft], *, share: float) -> set[str]:
    """The ids of drafts to leave out, the last first: in each structure no answer is right too often."""
    left_out: set[str] = set()
    for same in by_key((draft.structure, draft) for draft in drafts).values():
        by_answer = by_key((normal_form(d.choices[d.answer_index]), d.draft_id) for d in same)
        n_kept, most = -1, sum(map(len, by_answer.values()))
        while (now := sum(min(len(ids), most) for ids in by_answer.values())) != n_kept:
            n_kept, most = now, max(_LEAST_SAME, int(share * now))
        left_out.update(name for ids in by_answer.values() for name in ids[most:])
    return left_out


def _over(draft: Draft, reason: str) -> Dropped:
    return Dropped(what=draft.draft_id, stage="quotas", reason=reason)
