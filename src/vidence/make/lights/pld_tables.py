"""The two tables that `vidence run actpld` reads, with the wrong choices fixed for every model."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vidence.ask.benchmarks.actpld import (
    CLIP_COLUMNS,
    LABEL_COLUMNS,
    MORE_CLIP_COLUMNS,
    MORE_LABEL_COLUMNS,
    TARGETS,
    ClipRow,
    LabelRow,
    Labels,
    Target,
    choices_for,
)
from vidence.ask.benchmarks.checks import Fault
from vidence.ask.benchmarks.question_files import QuestionFile
from vidence.errors import DataError
from vidence.make.lights.pld_clips import ClipMade
from vidence.make.lights.pld_map import Trial
from vidence.make.pipeline.material import Dropped


@dataclass(frozen=True, kw_only=True)
class Choice:
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
        f"the {target} {name!r} stands in the groups {', '.join(sorted(found))}; {_most(found)} is taken"
        for (target, name), found in sorted(groups.items())
        if len(found) > 1
    )
    rows = [
        {"target": target, "name": name, "group": _most(found)}
        for (target, name), found in sorted(
            groups.items(), key=lambda kv: (TARGETS.index(kv[0][0]), kv[0][1])
        )
    ]
    return table((*LABEL_COLUMNS, *MORE_LABEL_COLUMNS), rows), notes


def _most(found: Counter[str]) -> str:
    """The most frequent one, the first by name among equals."""
    return min(found, key=lambda name: (-found[name], name))


def read_labels(content: bytes, path: Path) -> Labels:
    """The labels of a table.

    Raises:
        DataError: a bad line.
    """
    return Labels(QuestionFile(path=path, content=content))


def fixed_choices(
    clips: Mapping[str, ClipMade], trials: Mapping[str, Trial], labels: Labels
) -> tuple[dict[str, tuple[Choice, ...]], tuple[Dropped, ...]]:
    """The choices of every clip for both targets, and the clips for which there are none.

    Source: ActPLD, section 2.5: two distractors from other semantic groups, the same for all models.
    Departs: as `vidence.ask.benchmarks.actpld` says; the draw follows from the id of the clip and the names.
    """
    made: dict[str, tuple[Choice, ...]] = {}
    dropped: list[Dropped] = []
    for clip_id in clips:
        row = clip_row(clips[clip_id], trials[clip_id])
        found = {target: choices_for(row, target, labels) for target in TARGETS}
        faults = [f"{f.field}: {f.reason}" for f in found.values() if isinstance(f, Fault)]
        if faults:
            dropped.append(
                Dropped(what=clip_id, stage="choices", reason="no-distractors", detail="; ".join(faults))
            )
            continue
        made[clip_id] = tuple(
            Choice(
                clip_id=clip_id,
                target=target,
                choices=choices,
                right=[c.name for c in choices].index(row.names[target]),
            )
            for target, choices in found.items()
            if not isinstance(choices, Fault)
        )
    return made, tuple(dropped)


def clip_row(clip: ClipMade, trial: Trial, *, source: str = "", licence: str = "") -> ClipRow:
    """A clip as the benchmark reads it."""
    return ClipRow(
        clip_id=clip.clip_id,
        path=clip.path,
        kind="video",
        set_name=trial.set,
        names={"label": trial.label, "intention": trial.intention},
        distractors={target: () for target in TARGETS},
        source=source or " + ".join(clip.sources),
        licence=licence,
        sha256=clip.sha256,
    )


def clips_table(
    clips: Mapping[str, ClipMade],
    trials: Mapping[str, Trial],
    choices: Mapping[str, Sequence[Choice]],
    *,
    licence: str,
) -> bytes:
    """``clips.csv`` with the wrong choices written out."""
    rows = []
    for clip_id, chosen in choices.items():
        row = clip_row(clips[clip_id], trials[clip_id], licence=licence)
        wrong = {
            choice.target: "|".join(c.name for n, c in enumerate(choice.choices) if n != choice.right)
            for choice in chosen
        }
        rows.append(
            {
                "clip_id": clip_id,
                "path": row.path,
                "kind": row.kind,
                "set": row.set_name,
                "label": row.names["label"],
                "intention": row.names["intention"],
                "label_distractors": wrong["label"],
                "intention_distractors": wrong["intention"],
                "source": row.source,
                "licence": licence,
                "sha256": row.sha256,
            }
        )
    return table((*CLIP_COLUMNS, *MORE_CLIP_COLUMNS), rows)


def table(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> bytes:
    """A table in CSV, UTF-8; cells that a row does not have are empty.

    Raises:
        DataError: a name with ``|``, which parts names in a cell of several.
    """
    for row in rows:
        name = str(row.get("name", ""))
        if "|" in name:
            raise DataError(f"{name!r} has a |, which parts names in a cell; write it otherwise")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
