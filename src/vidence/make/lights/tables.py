"""The tables that `vidence run actpld` reads, with the wrong choices fixed for every model."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import msgspec

from vidence.ask.benchmarks.actpld import (
    ALL_CLIP_COLUMNS,
    LABEL_COLUMNS,
    MORE_LABEL_COLUMNS,
    TARGETS,
    ClipRow,
    LabelRow,
    Labels,
    Target,
    choices_for,
)
from vidence.ask.files import FieldError
from vidence.errors import DataError
from vidence.make.lights.clips import ClipMade
from vidence.make.lights.trials import Trial
from vidence.make.pipeline.material import Dropped
from vidence.pointlight.figures import is_walker
from vidence.statistics.near_duplicates import gather
from vidence.tables.export import csv_text


@dataclass(frozen=True, kw_only=True)
class ClipChoices:
    """What a clip is asked with: the three choices of one target in their fixed order, which is right."""

    clip_id: str
    target: Target
    choices: tuple[LabelRow, ...]
    right: int


def labels_table(trials: Sequence[Trial]) -> tuple[bytes, tuple[str, ...]]:
    """``labels.csv`` from the map: every label and intention with its semantic group.

    Returns:
        The table, and notes: names that the map puts into several groups are put where most rows have them.
    """
    groups: dict[tuple[Target, str], Counter[str]] = {}
    for trial in trials:
        for target in TARGETS:
            name = trial.label if target == "label" else trial.intention
            groups.setdefault((target, name), Counter())[trial.group] += 1
    notes = tuple(
        f"the {target} {name!r} stands in the groups {', '.join(sorted(counts))}; {_most(counts)} is taken"
        for (target, name), counts in sorted(groups.items())
        if len(counts) > 1
    )
    rows = [
        {"target": target, "name": name, "group": _most(counts)}
        for (target, name), counts in sorted(
            groups.items(), key=lambda kv: (TARGETS.index(kv[0][0]), kv[0][1])
        )
    ]
    return table((*LABEL_COLUMNS, *MORE_LABEL_COLUMNS), rows), notes


def _most(counts: Counter[str]) -> str:
    """The most frequent one, the first by name among equals."""
    return min(counts, key=lambda name: (-counts[name], name))


def fixed_choices(
    clips: Mapping[str, ClipMade], trials: Mapping[str, Trial], labels: Labels
) -> tuple[dict[str, tuple[ClipChoices, ...]], tuple[Dropped, ...]]:
    """Return every clip's choices for both targets, and the clips without choices.

    Source: ActPLD, section 2.5: two distractors from other semantic groups, the same for all models.
    Departs: as `vidence.ask.benchmarks.actpld` says; the draw follows from the id of the clip and the names,
    and for a clip with a condition from its motion, so that all conditions have the same distractors.
    """
    fixed_choices: dict[str, tuple[ClipChoices, ...]] = {}
    dropped: list[Dropped] = []
    for clip_id, trial in ((clip_id, trials[clip_id]) for clip_id in clips):
        row = ClipRow(
            clip_id=clip_id,
            path=clips[clip_id].path,
            set=trial.set,
            label=trial.label,
            intention=trial.intention,
        )
        values: dict[Target, tuple[LabelRow, ...]] = {}
        faults: list[str] = []
        for target in TARGETS:
            try:
                if trial.condition:
                    drawn = choices_for(msgspec.structs.replace(row, clip_id=trial.motion), target, labels)
                    wrong = tuple(c.name for c in drawn if c.name != row.name(target))
                    row = msgspec.structs.replace(row, **{f"{target}_distractors": wrong})
                values[target] = choices_for(row, target, labels)
            except FieldError as error:
                faults.append(str(error))
        if faults:
            dropped.append(
                Dropped(what=clip_id, stage="choices", reason="no-distractors", detail="; ".join(faults))
            )
            continue
        fixed_choices[clip_id] = tuple(
            ClipChoices(
                clip_id=clip_id,
                target=target,
                choices=choices,
                right=[c.name for c in choices].index(row.name(target)),
            )
            for target, choices in values.items()
        )
    return fixed_choices, tuple(dropped)


def clips_table(
    clips: Mapping[str, ClipMade],
    trials: Mapping[str, Trial],
    choices: Mapping[str, Sequence[ClipChoices]],
    *,
    licence: str,
) -> bytes:
    """``clips.csv`` with the wrong choices written out."""
    rows = []
    sources = sources_of(
        {clip_id: trials[clip_id] for clip_id in choices}, {c: clips[c].sources for c in choices}
    )
    for clip_id, chosen in choices.items():
        clip, trial = clips[clip_id], trials[clip_id]
        row = msgspec.structs.asdict(trial) | msgspec.structs.asdict(clip)
        row |= {"kind": "video", "source": " + ".join(clip.sources), "licence": licence}
        row["source_id"], row["subject"] = sources[clip_id], "+".join(trial.subjects)
        for choice in chosen:
            wrong = (c.name for n, c in enumerate(choice.choices) if n != choice.right)
            row[f"{choice.target}_distractors"] = "|".join(wrong)
        rows.append(row)
    return table(ALL_CLIP_COLUMNS, rows)


def sources_of(trials: Mapping[str, Trial], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the `source_id` of every clip: the performer of it and of all connected clips.

    Clips are of one source that share a subject, a partner, a take or a recording, directly or through
    others: one half of a trial of two goes with the pair, and everything else that either of them did. Where
    the map names no subject, the recordings stand for them. A walker has no source, except that all
    conditions of one motion are of one source.

    Args:
        trials: what the clips show.
        names: their files or walkers, as they are called in tables.

    >>> pair = Trial(clip_id="a", label="", set="social", intention="", group="", subjects=("1", "2"))
    >>> half = Trial(clip_id="b", label="", set="single", intention="", group="", subjects=("2",))
    >>> sources_of({"a": pair, "b": half}, {"a": ["01_01.c3d", "02_01.c3d"], "b": ["02_07.c3d"]})
    {'a': 'subject 1+2', 'b': 'subject 1+2'}
    """
    ids, first, ties = list(trials), dict[tuple[str, str], int](), []
    for i, clip_id in enumerate(ids):
        for mark in _marks(trials[clip_id]):
            if (other := first.setdefault(mark, i)) != i:
                ties.append((other, i))
    groups = list(gather(ties))
    sources = {i for group in groups for i in group}
    groups += [(i,) for i in range(len(ids)) if i not in sources]
    values: dict[str, str] = {}
    for group in groups:
        clips = [ids[i] for i in group]
        named = _named(clips, trials, names)
        if named and named in values.values():  # files of one name in several folders
            named = "+".join(sorted({file for c in clips for file in trials[c].files}))
        values.update(dict.fromkeys(clips, named))
    return {clip_id: values[clip_id] for clip_id in ids}


def _named(clips: Sequence[str], trials: Mapping[str, Trial], names: Mapping[str, Sequence[str]]) -> str:
    """The name of a source: its people, else its recordings, else its motion, else the take."""
    people = {who for c in clips for who in (*trials[c].subjects, *trials[c].partners)}
    files = {name for c in clips for name in names[c] if not is_walker(name)}
    motions = {trials[c].motion for c in clips if trials[c].condition}
    named = "+".join(sorted(people or files or motions or {trials[c].take for c in clips}, key=_by_number))
    return f"subject {named}" if people else named


def _marks(trial: Trial) -> Iterator[tuple[str, str]]:
    """Return the keys that connect a clip with others: people, take, motion, recordings."""
    for who in (*trial.subjects, *trial.partners):
        yield "subject", who
    if trial.take:
        yield "take", trial.take
    if trial.condition:
        yield "motion", trial.motion
    for file in trial.files:
        if not is_walker(file):
            path = PurePath(file)
            yield "recording", path.with_name(path.name.split(".")[0]).as_posix()


def _by_number(name: str) -> tuple[bool, int, str]:
    return (not name.isdigit(), int(name) if name.isdigit() else 0, name)


def table(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> bytes:
    """A table in CSV, UTF-8; cells that a row does not have are empty, others are left out.

    Raises:
        DataError: a name with ``|``, which parts names in a cell of several.
    """
    for row in rows:
        name = str(row.get("name", ""))
        if "|" in name:
            raise DataError(f"{name!r} has a |, which parts names in a cell; write it otherwise")
    cells = [["" if row.get(name) is None else str(row.get(name)) for name in columns] for row in rows]
    return csv_text([columns, *cells], is_data=True).encode()
