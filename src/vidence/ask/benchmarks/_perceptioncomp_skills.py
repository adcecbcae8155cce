"""Which perceptual skills a PerceptionComp question takes, from the labels beside the released results.

The labels are a language model's, one list for each step of a question; people did not check them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.ask.benchmarks import question_files
from vidence.ask.benchmarks._decode import decoded
from vidence.ask.benchmarks._names import KnownNames
from vidence.ask.benchmarks.checks import Fault, listed
from vidence.records import Item

_TAG = "skill:"
_FILE = "step_ability_results.json"
_PLACES = (_FILE, f"evaluate/results/archive/step_analysis/{_FILE}")
_SKILLS = KnownNames(
    {
        "semantic": ("Semantic understanding",),
        "spatial": ("Spatial understanding",),
        "temporal": ("Temporal understanding",),
        "correspondence": (),
        "visual-knowledge": ("Visual knowledge",),
        "world-modeling": ("World modeling", "World modelling"),
    }
)


class _Step(msgspec.Struct, frozen=True):
    abilities: tuple[str, ...] = ()


class _Row(msgspec.Struct, frozen=True):
    """The labels of one question as they were released."""

    key: str
    video_id: str
    step_abilities: tuple[_Step, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Skills:
    """The skills of each question by key and video; `source` names the file, empty where there is none."""

    by_question: Mapping[tuple[str, str], frozenset[str]]
    source: str = ""
    trouble: tuple[str, ...] = ()

    def tags(self, key: str, video_id: str) -> dict[str, str]:
        """A tag ``skill:NAME`` with the value ``yes`` for each skill of a question; others have no tag."""
        skills = self.by_question.get((key, video_id), frozenset())
        return {f"{_TAG}{skill}": "yes" for skill in sorted(skills)}

    def notes(self, items: Sequence[Item]) -> tuple[str, ...]:
        """How many of the questions have skills, where these come from, and what is odd in the file."""
        if not self.source:
            return ()
        n_labelled = sum(any(tag.startswith(_TAG) for tag in item.tags) for item in items)
        origin = f"skills of {n_labelled} of {len(items)} question(s) come from {self.source}"
        return (f"{origin}; they were labelled by a language model", *self.trouble)


def read(folders: Iterable[Path]) -> Skills:
    """The labels in the first of these folders, or of a clone there, that has them; none is no error.

    Some questions are in the file twice, once without labels: all labels of a question count.

    Raises:
        DataError: the file is there and is not a JSON list.
    """
    places = [folder / place for folder in folders for place in _PLACES]
    path = next((p for place in places for p in (place, Path(f"{place}.gz")) if p.is_file()), None)
    if path is None:
        return Skills(by_question={})
    file = question_files.read(path)
    decoder = msgspec.json.Decoder(_Row)
    found: dict[tuple[str, str], frozenset[str]] = {}
    bad: list[str] = []
    unknown: dict[str, None] = {}
    for line, text in question_files.elements(file):
        row = decoded(text, decoder)
        if isinstance(row, Fault):
            bad.append(line)
            continue
        names = {name: _SKILLS.find(name) for step in row.step_abilities for name in step.abilities}
        unknown.update(dict.fromkeys(name for name, skill in names.items() if skill is None))
        place = (row.key, row.video_id)
        found[place] = found.get(place, frozenset()) | {skill for skill in names.values() if skill}
    trouble = []
    if bad:
        trouble.append(f"{len(bad)} entries of {path.name} cannot be read; they begin on line {listed(bad)}")
    if unknown:
        trouble.append(f"{path.name} names skills that are not known and not used: {listed(list(unknown))}")
    source = f"{path.name} (SHA-256 {file.content_hash[:12]})"
    return Skills(by_question=found, source=source, trouble=tuple(trouble))
