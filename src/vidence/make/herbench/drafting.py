"""Every task on every video: drafts, kept by what they were made from, and why there are no more."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import msgspec
import numpy as np

from vidence.catalog import Spec, create
from vidence.contracts import Flow
from vidence.engine.jobs import Jobs
from vidence.errors import UsageError
from vidence.make.herbench.config import TaskRules
from vidence.make.pipeline.accounts import Books
from vidence.make.pipeline.making import Sieve, sift
from vidence.make.pipeline.material import Corpus, Draft, Dropped, Made, Material, Task
from vidence.make.pipeline.progress import MakeListener, StageBegan, StageEnded
from vidence.make.pipeline.stages import FlowUnit, JsonForm, Kept, Shelf, Stage, digest_of
from vidence.records import Failed, Record

ASKED = "tasks"  # the name of the model that tasks ask
PARTS = ("tracked", "chosen", "a_cards", "b_cards", "shots", "scene_cards", "events", "crops")


class MadeAll(Record, kw_only=True):
    """What a task made of one video."""

    drafts: tuple[Draft, ...]
    dropped: tuple[Dropped, ...]

    @classmethod
    def of(cls, made: Sequence[Made]) -> Self:
        """The same told apart."""
        return cls(
            drafts=tuple(one for one in made if isinstance(one, Draft)),
            dropped=tuple(one for one in made if isinstance(one, Dropped)),
        )


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A video with all that is known about it; `digests` are those of the parts of its material.

    `absent` says for each part that is not there why it is not.
    """

    material: Material
    digests: Mapping[str, str]
    absent: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Ordered:
    """A task with how much of it is wanted; `templates` is the digest of the user's own templates."""

    name: str
    task: Task
    rules: TaskRules
    templates: str = ""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What drafting works with. `answerer` is the spec of the model that tasks ask, where there is one."""

    shelf: Shelf
    jobs: Jobs
    books: Books
    on_event: MakeListener
    answerer: str = ""


def open_tasks(rules: Mapping[str, TaskRules], wanted: Sequence[str], *, root: Path) -> tuple[Ordered, ...]:
    """The tasks of these names, in their order; a folder of templates in their options starts from `root`.

    Raises:
        UnknownNameError: no such task.
        UsageError: an option or a structure that a task does not have.
    """
    opened: list[Ordered] = []
    for name in wanted:
        one = rules.get(name, TaskRules())
        options, templates = _with_templates(one.options, root)
        task: Task = create("task", Spec(name=name, options=options))
        unknown = [structure for structure in one.structures if structure not in task.structures]
        if unknown:
            raise UsageError(
                f"the task {name!r} has no structure {unknown[0]!r}; it has {', '.join(task.structures)}"
            )
        opened.append(Ordered(name=name, task=task, rules=one, templates=templates))
    return tuple(opened)


def _with_templates(options: Mapping[str, str], root: Path) -> tuple[dict[str, str], str]:
    """The options with a whole path to templates, and the digest of the texts there."""
    if "prompts" not in options:
        return dict(options), ""
    folder = root / options["prompts"]
    try:
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the templates in {folder} cannot be read: {error}") from error
    return {**options, "prompts": str(folder)}, digest_of(texts)


def lacking(ready: Ready, task: Task) -> str:
    """The first part of the material that a task needs and that is not there; empty where all is."""
    return next((part for part in task.needs if not getattr(ready.material, part)), "")


def draft_all(
    videos: Sequence[Ready],
    corpus: Corpus,
    ordered: Sequence[Ordered],
    *,
    seed: int,
    tools: Tools,
) -> tuple[Draft, ...]:
    """The drafts of all tasks on all videos, in the order of tasks and videos, within their quotas.

    Three accounts are closed: ``pairs`` (a task on a video either gave a draft or did not, and why),
    ``drafts`` (what the tasks tried), and ``quotas``.

    Raises:
        AccountError: a task gave two drafts one id.
        VidenceError: a model answers nobody any more; every unit so far is kept.
    """
    tools.on_event(StageBegan(stage="pairs", n_units=len(videos) * len(ordered)))
    pairs = [(ready, one) for one in ordered for ready in videos]
    missing = [_pair_dropped(ready, one, part) for ready, one in pairs if (part := lacking(ready, one.task))]
    todo = [(ready, one) for ready, one in pairs if not lacking(ready, one.task)]
    results, failed = _run(todo, corpus, seed=seed, tools=tools)
    dropped = [*missing, *failed]
    found = {name: results[name].value for pair in todo if (name := pair_name(*pair)) in results}
    dropped += [_nothing(name, made) for name, made in found.items() if not made.drafts]
    account = tools.books.close(
        "pairs",
        unit="tasks on videos",
        taken=[pair_name(*pair) for pair in pairs],
        kept=[name for name, made in found.items() if made.drafts],
        dropped=dropped,
    )
    n_kept = sum(kept.was_kept for kept in results.values())
    tools.on_event(StageEnded(account=account, n_kept=n_kept))
    drafts = _account_drafts(list(found.values()), books=tools.books)
    return sift("quotas", drafts, _quotas(ordered), books=tools.books, on_event=tools.on_event)


def pair_name(ready: Ready, one: Ordered) -> str:
    """The name of a task on a video, for accounts."""
    return f"{ready.material.source.video_id}: {one.task.code}"


def _run(
    todo: Sequence[tuple[Ready, Ordered]], corpus: Corpus, *, seed: int, tools: Tools
) -> tuple[dict[str, Kept[MadeAll]], list[Dropped]]:
    """The results of all pairs by their names, and those whose model or pictures failed."""
    form: JsonForm[MadeAll] = JsonForm(MadeAll)
    found: dict[str, Kept[MadeAll]] = {}
    flows: dict[str, Flow[Kept[MadeAll]]] = {}
    digests = {"events": digest_of(corpus.events), "a_cards": digest_of([corpus.a_cards, corpus.looks])}
    views = _views(corpus)  # of each one object, so that a task can index it once
    for one in {this.name: this for _, this in todo}.values():
        stage = Stage(
            name=f"draft-{one.name}",
            version=one.task.version,
            settings=[one.rules, seed, tools.answerer, one.templates],
        )
        units = [
            FlowUnit(
                name=pair_name(ready, one),
                inputs=_inputs(ready, one.task, digests),
                start=_starter(
                    ready, one, views["events" in one.task.needs, "a_cards" in one.task.needs], seed=seed
                ),
            )
            for ready, this in todo
            if this.name == one.name
        ]
        kept, started = tools.shelf.split(stage, units, form)
        found |= kept
        flows |= started
    made = tools.jobs.run(flows, model=ASKED if ASKED in tools.jobs.names else "")
    failed: list[Dropped] = []
    for name, result in made.items():
        if isinstance(result, Failed):
            reason = f"{result.stage}-failed"
            failed.append(Dropped(what=name, stage="pairs", reason=reason, detail=result.message))
        else:
            found[name] = result
    return found, failed


def _inputs(ready: Ready, task: Task, corpus: Mapping[str, str]) -> dict[str, str]:
    """The digests of what a task is shown."""
    inputs = {"source": digest_of(ready.material.source)}
    for part in task.needs:
        inputs[part] = ready.digests[part]
        if part in corpus:
            inputs[f"corpus {part}"] = corpus[part]
    return inputs


def _views(corpus: Corpus) -> dict[tuple[bool, bool], Corpus]:
    """The corpus as tasks see it that need its events or not, its cards or not."""
    return {
        (events, cards): Corpus(
            events=corpus.events if events else {},
            a_cards=corpus.a_cards if cards else {},
            looks=corpus.looks if cards else {},
        )
        for events in (False, True)
        for cards in (False, True)
    }


def _starter(ready: Ready, one: Ordered, corpus: Corpus, *, seed: int) -> Callable[[], Flow[MadeAll]]:
    """A task on a video; it is shown what it says it needs and nothing else, so that its key tells all."""
    task, needs = one.task, set(one.task.needs)
    blank = Material(source=ready.material.source)
    seen = replace(ready.material, **{p: getattr(blank, p) for p in PARTS if p not in needs})
    words = f"{seed}/{task.code}/{seen.source.video_id}".encode()

    def start() -> Flow[MadeAll]:
        rng = np.random.default_rng(list(hashlib.sha256(words).digest()))
        made = yield from task.draft(seen, corpus, most=_most(one), rng=rng)
        return MadeAll.of(made)

    return start


def _most(one: Ordered) -> int:
    """How many drafts to ask a task for: more where not all of its structures are wanted."""
    wanted = one.rules.structures or one.task.structures
    return math.ceil(one.rules.per_video * len(one.task.structures) / len(set(wanted)))


def _pair_dropped(ready: Ready, one: Ordered, part: str) -> Dropped:
    return Dropped(
        what=pair_name(ready, one),
        stage="pairs",
        reason=f"no-{part.replace('_', '-')}",
        detail=ready.absent.get(part, ""),
    )


def _nothing(name: str, found: MadeAll) -> Dropped:
    """Why a task made nothing of a video: the reason that it gave most often."""
    reasons = Counter(one.reason for one in found.dropped)
    said = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
    return Dropped(what=name, stage="pairs", reason="no-draft", detail=said)


def _account_drafts(made: Sequence[MadeAll], *, books: Books) -> tuple[Draft, ...]:
    """Close the account of what the tasks tried; what came to nothing is told apart by a number."""
    drafts = [draft for one in made for draft in one.drafts]
    counts: Counter[str] = Counter()
    dropped: list[Dropped] = []
    for one in (gone for each in made for gone in each.dropped):
        name = f"{one.stage.removeprefix('draft:')}: {one.what}"
        counts[name] += 1
        what = f"{name} #{counts[name]}" if counts[name] > 1 else name
        dropped.append(msgspec.structs.replace(one, what=what, stage="drafts"))
    books.close(
        "drafts",
        unit="drafts",
        taken=[*(draft.draft_id for draft in drafts), *(one.what for one in dropped)],
        kept=[draft.draft_id for draft in drafts],
        dropped=dropped,
    )
    return tuple(drafts)


def _quotas(ordered: Sequence[Ordered]) -> Sieve:
    """Keep wanted structures, `per_video` drafts of a video, and `total` of all, from the videos in turn."""
    rules = {one.task.code: one.rules for one in ordered}

    def sieve(drafts: Sequence[Draft]) -> tuple[Sequence[Draft], Sequence[Dropped]]:
        dropped: list[Dropped] = []
        turns: dict[str, list[tuple[int, int, Draft]]] = defaultdict(list)
        seen: Counter[tuple[str, str]] = Counter()
        for place, draft in enumerate(drafts):
            mine, pair = rules[draft.task], (draft.task, draft.video_id)
            if mine.structures and draft.structure not in mine.structures:
                dropped.append(_over(draft, "structure-not-wanted"))
            elif seen[pair] >= mine.per_video:
                dropped.append(_over(draft, "over-per-video"))
            else:
                turns[draft.task].append((seen[pair], place, draft))
                seen[pair] += 1
        kept: list[tuple[int, Draft]] = []
        for task, mine_drafts in turns.items():
            total = rules[task].total
            in_turn = sorted(mine_drafts, key=lambda one: one[:2])
            kept += [(place, draft) for _, place, draft in in_turn[:total]]
            dropped += [_over(draft, "over-total") for _, _, draft in in_turn[len(in_turn[:total]) :]]
        return [draft for _, draft in sorted(kept, key=lambda one: one[0])], dropped

    return sieve


def _over(draft: Draft, reason: str) -> Dropped:
    return Dropped(what=draft.draft_id, stage="quotas", reason=reason)
