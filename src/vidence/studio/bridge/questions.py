"""The drawn questions of a made set: as wordings of a project, and verdicts as those of its review."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import DataError
from vidence.explain.errors.packet import read_jsonl
from vidence.make.gates.gate_sequence import VERDICTS_FILE
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.rules import ReviewRules
from vidence.make.herbench.release import DRAWN_FILE
from vidence.make.pipeline.output import ITEMS_FILE
from vidence.make.review.decision import REVIEW, TaskPlan, clean_needed, most_rejectable
from vidence.make.review.files import read_items, read_reviews
from vidence.make.review.recording import Filled, Recorder, refuse_all, write
from vidence.make.review.revisions import Event
from vidence.records import Estimate, Item
from vidence.statistics.intervals import proportion

_SAMPLE: Final = "sample"
_NEEDED: Final = ("question_id", "why", "evidence", "tags")


@dataclass(frozen=True, kw_only=True)
class DrawnQuestion:
    """One question that people look at: its name in a review, and its wording there."""

    name: str
    content: Mapping[str, object]

    @property
    def question_id(self) -> str:
        """Its name in the set."""
        return str(self.content["question_id"])

    @property
    def task(self) -> str:
        """Its task."""
        tags = self.content["tags"]
        return str(tags["task"]) if isinstance(tags, dict) else ""

    @property
    def why(self) -> str:
        """Why people look at it."""
        return str(self.content["why"])


class TaskProgress(TaskPlan):
    """Review progress of one task, and how many further questions its sample can release.

    Of the sample `n_seen` are decided and `n_rejected` were rejected: `rejected` is their share, None before
    the first.
    """

    n_seen: int
    n_rejected: int
    rejected: Estimate | None

    @property
    def words(self) -> str:
        """What would become of the rest, as it stands."""
        if self.n_rest == 0:
            return "all reviewed"
        if self.most_rejected < 0:
            return f"the rest is held back anyway; {self.needed} clean reviews would release it"
        if self.n_rejected > self.most_rejected:
            return "the rest is held back"
        left = self.n_sample - self.n_seen
        if left:
            return f"{left} to go; the rest is released with up to {self.most_rejected} rejected"
        return "the rest is released"


def drawn_of(folder: Path) -> tuple[DrawnQuestion, ...]:
    """The questions of a made set that people look at, in the order of its sheet.

    Args:
        folder: that of the set.

    Raises:
        DataError: there are none, or they are not as they were written.
    """
    path = folder / REVIEW / DRAWN_FILE
    if not path.is_file():
        raise DataError(f"{path} is not there; `vidence make` writes it where the configuration has [review]")
    questions = tuple(DrawnQuestion(name=name, content=item) for name, item in read_items(path).items())
    for question in questions:
        if lacks := [name for name in _NEEDED if name not in question.content]:
            raise DataError(f"{path}: {question.name} has no {lacks[0]}; make the set again")
    return questions


def items_of(folder: Path) -> dict[str, Item]:
    """The questions of a made set by their names; empty if its file of items is not there.

    Raises:
        DataError: a line is no item.
    """
    path = folder / ITEMS_FILE
    return {line.item_id: line for line in read_jsonl(path, Item)} if path.is_file() else {}


def verdicts_of(folder: Path) -> dict[str, list[GateVerdict]]:
    """Return the gate verdicts by draft; empty if no gate ran.

    Raises:
        DataError: a line is no verdict.
    """
    verdicts: dict[str, list[GateVerdict]] = defaultdict(list)
    path = folder / VERDICTS_FILE
    for line in read_jsonl(path, GateVerdict) if path.is_file() else ():
        verdicts[line.item_id].append(line)
    return verdicts


def wordings(folder: Path, drawn: Sequence[DrawnQuestion]) -> dict[str, dict[str, object]]:
    """Return each drawn question with its media, spans and gate verdicts.

    Raises:
        DataError: a file of the set has faults.
    """
    items, verdicts = items_of(folder), verdicts_of(folder)
    wordings = {}
    for question in drawn:
        item = items.get(question.question_id)
        gates = verdicts.get(item.tags.get("draft", ""), []) if item is not None else []
        more: dict[str, object] = {
            "media": [] if item is None else _media(folder, item),
            "gates": [gate_words(verdict) for verdict in gates],
        }
        if item is not None:
            more["evidence"] = [msgspec.to_builtins(span) for span in item.evidence]
        wordings[question.name] = {**question.content, **more}
    return wordings


def _media(folder: Path, item: Item) -> list[object]:
    media = [msgspec.to_builtins(medium) for medium in item.media]
    return [
        {**medium, "path": str(folder / medium["path"])} if medium.get("path") else medium for medium in media
    ]


def gate_words(verdict: GateVerdict) -> str:
    """Format a gate's verdict on a question, with its votes and the frames tried."""
    tried = sorted({vote.frame_index for vote in verdict.votes if vote.frame_index >= 0})
    frames = f"; frames tried: {', '.join(map(str, tried))}" if tried else ""
    why = f" ({verdict.why})" if verdict.why else ""
    votes = f"{verdict.n_right} of {len(verdict.votes)} votes right"
    return f"{verdict.gate}: {verdict.decision}{why}; {votes}{frames}"


# --------------------------------------------------------------------------- what was said


def write_verdicts(folder: Path, values: Mapping[str, Event], *, at: str) -> int:
    """Write the reviewers' verdicts into the review of a made dataset; return the number of new ones.

    Args:
        folder: of the review, into which `vidence make` has put the questions.
        values: by the name of a question the act that decided it.
        at: when this is done, in UTC.

    Raises:
        UsageError: there is no review.
        DataError: it has faults, or says something else.
        StoreError: it cannot be written.
    """
    reviews = read_reviews(folder)
    at = max(at, *(event.at for event in reviews.events), "")  # another clock may be ahead of this one
    people: dict[str, Recorder] = {}
    faults: list[str] = []
    n_new = 0
    for name, event in values.items():
        if (before := reviews.deciding(name)) is not None:
            if (before.kind, before.checks, before.message) != (
                event.kind,
                event.checks,
                event.message.strip(),
            ):
                faults.append(f"{name} was decided otherwise by {before.by}: {before.kind}")
            continue
        recorder = people.setdefault(event.by, Recorder(reviews, by=event.by, role="reviewer", at=at))
        words = Filled(
            item_id=name, verdict=event.kind, checks=event.checks, note=event.message, minutes=event.minutes
        )
        fault = recorder.add("claim", name) or recorder.add(event.kind, name, said=words)
        if fault:
            faults.append(f"{name}: {fault}")
        n_new += 1
    refuse_all(faults, what=f"verdicts cannot be written into {folder}")
    write(folder, tuple(people.values()))
    return n_new


def progress(
    questions: Sequence[DrawnQuestion],
    items: Mapping[str, Item],
    values: Mapping[str, Event],
    *,
    rules: ReviewRules,
) -> tuple[TaskProgress, ...]:
    """How far each task is.

    Args:
        questions: those that were drawn.
        items: all questions of the set.
        values: by the name of a question the act that decided it.
        rules: when the rest of a task is released.
    """
    drawn = {question.question_id: question.task for question in questions}
    tasks = Counter(
        {**{item.item_id: item.tags.get("task", "") for item in items.values()}, **drawn}.values()
    )
    return tuple(
        _progress(
            task, n, [question for question in questions if question.task == task], said=values, rules=rules
        )
        for task, n in sorted(tasks.items())
    )


def _progress(
    task: str, n: int, drawn: Sequence[DrawnQuestion], *, said: Mapping[str, Event], rules: ReviewRules
) -> TaskProgress:
    sample = [question for question in drawn if question.why == _SAMPLE]
    seen = [said[question.name] for question in sample if question.name in said]
    n_rejected = sum(event.kind == "reject" for event in seen)
    n_queued = len(drawn) - len(sample)
    return TaskProgress(
        task=task,
        n=n,
        n_sample=len(sample),
        n_queued=n_queued,
        n_rest=n - len(drawn),
        n_seen=len(seen),
        n_rejected=n_rejected,
        rejected=proportion(n_rejected, len(seen), level=rules.level) if seen else None,
        most_rejected=most_rejectable(len(sample), rules),
        needed=min(clean_needed(rules), n - n_queued),
    )
