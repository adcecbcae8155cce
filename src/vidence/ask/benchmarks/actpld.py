"""ActPLD: what action, and what intention, do moving points of light show?

Nothing was released. The folder format is ours: ``clips.csv`` and ``labels.csv``, and the clips as
videos or folders of frames (docs/benchmarks/actpld.md).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import msgspec

from vidence.ask.benchmarks import question_files
from vidence.ask.benchmarks._gather import Gathering
from vidence.ask.benchmarks.actpld_choices import choices_for, eligible
from vidence.ask.benchmarks.actpld_folder import SETS, TARGETS, ClipRow, LabelRow, Labels, Target, clip_rows
from vidence.ask.benchmarks.checks import Fault, checked
from vidence.contracts import AskingRules, Benchmark, Loaded, PaperColumn
from vidence.records import Item, Media, Provenance, Sampling

CLIPS, LABELS = "clips.csv", "labels.csv"
_EXPECTED = f"{CLIPS}, or a folder that holds it, with {LABELS} beside it (docs/benchmarks/actpld.md)"
_TASKS = ("3afc", "description")
_ACTION = "Which action do the moving points of light show?"
_INTENTION = "Which intention is behind the action that the moving points of light show?"
_QUESTIONS: Mapping[tuple[str, Target], str] = MappingProxyType(
    {
        ("3afc", "label"): _ACTION,
        ("3afc", "intention"): _INTENTION,
        ("description", "label"): f"{_ACTION} Describe what is done.",
        ("description", "intention"): f"{_INTENTION} Describe what it is meant to achieve.",
    }
)
# What each split asks.
_SPLITS: Mapping[str, tuple[tuple[str, Target], ...]] = MappingProxyType(
    {
        "3afc": (("3afc", "label"), ("3afc", "intention")),
        "label": (("3afc", "label"),),
        "intention": (("3afc", "intention"),),
        "description": (("description", "label"), ("description", "intention")),
        "all": tuple((task, target) for task in _TASKS for target in TARGETS),
    }
)

_PAPER = AskingRules(
    selector="actpld",
    n_frames=8,
    style="cot",
    prompts="actpld",
    layout="images",
    size="long:128",
    jpeg_quality=95,
    parser="robust",
    text_parser="description-match",
    headline="answered",
    judge="description-match",
    shuffle_choices=True,
    strategy="retry?tries=3",
    sampling=Sampling(temperature=0.0, max_tokens=1024),
)


_PAPER_TABLES = {
    "One actor and social interactions": tuple(
        PaperColumn(
            title=f"{title}, {target}",
            group=set_name,
            average="answered",
            where={"set": (set_name,), "task": (task,), "target": (target,)},
        )
        for set_name in SETS
        for task, title in (("3afc", "3AFC"), ("description", "description"))
        for target in TARGETS
    ),
}


class Actpld:
    """The clips of a folder, two questions with three choices each, and two free descriptions."""

    name = "actpld"
    version = 1
    citation = (
        "Evaluating Point-Light Biological Motion in Multimodal Large Language Models (ActPLD). "
        "Under review, 2025."
    )
    licence = "nothing was released; each clip of a folder may state a licence of its own"
    terms = (
        "Nothing was released: the clips are your own. Motion from the CMU database may be used freely, but "
        "not resold as data; for the interactions of Manera et al. (2010) ask their authors."
    )
    splits: tuple[str, ...] = tuple(_SPLITS)
    protocols: Mapping[str, AskingRules] = MappingProxyType(
        {
            "paper": _PAPER,
            "montage": msgspec.structs.replace(_PAPER, layout="montage:4x2"),
            "thought-log": msgspec.structs.replace(_PAPER, parser="description-match"),
            "stride-4": msgspec.structs.replace(_PAPER, selector="actpld:4"),
        }
    )
    paper_tables: Mapping[str, tuple[PaperColumn, ...]] = MappingProxyType(_PAPER_TABLES)

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read ``clips.csv``, or find it in the folder `data`; ``labels.csv`` lies beside it.

        Raises:
            DataError: no such files, nothing usable in them, a bad line in ``labels.csv``, or with
                `strict` a bad clip.
            UsageError: a split that does not exist.
        """
        question_files.check_split(self.name, split, self.splits)
        file = question_files.read(question_files.locate(data, (CLIPS,), what=_EXPECTED))
        label_file = question_files.read(question_files.locate(file.path.parent, (LABELS,), what=_EXPECTED))
        labels = Labels(label_file)
        gathering = Gathering(file, strict=strict)
        line_of: dict[str, str] = {}
        for line, clip in clip_rows(file):
            if isinstance(clip, Fault):
                gathering.add(line, clip)
                continue
            first = line_of.setdefault(clip.clip_id, line)
            for found in (
                _checked_items(clip, labels, split=split) if first == line else (_used(clip, first),)
            ):
                gathering.add(line, found)
        loaded = gathering.loaded(media_root=file.path.parent)
        both = f"{file.content_hash} {label_file.content_hash}"
        return replace(loaded, content_hash=hashlib.sha256(both.encode()).hexdigest())


def create() -> Benchmark:
    """The benchmark ``actpld``."""
    return Actpld()


def _used(clip: ClipRow, first: str) -> Fault:
    return Fault("clip_id", f"{clip.clip_id!r} was used on line {first} before; expected an id of its own")


def _checked_items(clip: ClipRow, labels: Labels, *, split: str) -> list[Item | Fault]:
    """The questions of a split about a clip; the first thing wrong with it, whatever the split."""
    made = {what: _item(clip, labels, task=what[0], target=what[1]) for what in _SPLITS["all"]}
    faults = [found for found in made.values() if isinstance(found, Fault)]
    return [*faults[:1]] if faults else [made[what] for what in _SPLITS[split]]


def _item(clip: ClipRow, labels: Labels, *, task: str, target: Target) -> Item | Fault:
    shown = choices_for(clip, target, labels)
    if isinstance(shown, Fault):
        return shown
    known = labels.of[target]
    truth = known[clip.names[target]]
    is_choice = task == "3afc"
    item = Item(
        item_id=f"{clip.clip_id}/{target}" if is_choice else f"{clip.clip_id}/{target}/description",
        benchmark=Actpld.name,
        media=(Media(path=clip.path, kind=clip.kind, sha256=clip.sha256 or None),),
        question=_QUESTIONS[task, target],
        choices=tuple(row.words.text for row in shown) if is_choice else (),
        answer=chr(ord("A") + shown.index(truth)) if is_choice else truth.words.text,
        answer_kind="choice" if is_choice else "text",
        tags={
            "set": clip.set_name,
            "task": task,
            "target": target,
            "cell": f"{clip.set_name}/{task}/{target}",
            "group": truth.group,
            "label": clip.names["label"],
            "intention": clip.names["intention"],
        },
        knowledge=_words(shown if is_choice else (truth, *eligible(known.values(), truth))),
        provenance=Provenance(source=clip.source, licence=clip.licence),
    )
    return checked(item)


def _words(labels: tuple[LabelRow, ...]) -> tuple[str, ...]:
    """What the scorer of descriptions must know of the labels that compete, as JSON."""
    return tuple(msgspec.json.encode(label.words).decode() for label in labels)
