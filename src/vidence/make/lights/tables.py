"""The tables for `vidence run actpld`, with wrong choices fixed for all models."""

import base64
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePath

import jinja2
import msgspec
import numpy as np
import tomli_w
from numpy.typing import NDArray
from PIL import Image

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
from vidence.ask.selection.actpld import Settings as Window
from vidence.ask.selection.actpld import create as window
from vidence.catalog import check_name
from vidence.engine.panel import PanelFile
from vidence.errors import DataError, UsageError
from vidence.make.lights.clips import ClipMade
from vidence.make.lights.trials import Trial
from vidence.make.pipeline.material import Dropped
from vidence.media.clip import Clip
from vidence.media.video import open_video
from vidence.media.whole import write_whole
from vidence.pointlight.drawing import evenly
from vidence.pointlight.figures import is_walker
from vidence.records import Item, Record
from vidence.statistics.near_duplicates import gather
from vidence.tables.export import csv_text
from vidence.tables.rendering import style_sheet

N_SHOWN = 8


def write_sheets(
    clips: Mapping[str, ClipMade], trials: Mapping[str, Trial], folder: Path
) -> tuple[Path, ...]:
    """Write ``sheet-single.html`` and ``sheet-social.html``, a page for each set that has clips.

    Each clip is there with its label, eight frames from its beginning to its end, and the eight that
    ``vidence run actpld`` shows to a model at first. The frames come from the films themselves.

    Args:
        clips: the clips, by their ids.
        trials: what they show.
        folder: that of the benchmark.

    Returns:
        The pages.

    Raises:
        DataError: a frame of a film is damaged.
    """
    files = []
    for name in ("single", "social"):
        rows = [
            {
                "clip": clip,
                "trial": trials[clip_id],
                "duration_s": f"{clip.n_frames / clip.fps:.2f}",
                **_strips(folder / clip.path, clip.n_frames),
            }
            for clip_id, clip in clips.items()
            if trials[clip_id].set == name
        ]
        if rows:
            path = folder / f"sheet-{name}.html"
            page = template("pld_sheet.html")
            write_whole(path, page.render(set=name, rows=rows, n_shown=N_SHOWN, css=style_sheet()).encode())
            files.append(path)
    return tuple(files)


def window_of(n_frames: int) -> list[int]:
    """The frames of a clip that a model sees first (see `vidence.ask.selection.actpld`)."""
    numbers = np.arange(n_frames)
    clip = Clip(times_s=numbers.astype(float), media_indices=0 * numbers, frame_indices=numbers, fps=1.0)
    item = Item(item_id="", question="", answer="A")
    return [int(n) for n in window(Window()).select(clip, item, n_frames=N_SHOWN)]


def _strips(path: Path, n_frames: int) -> dict[str, str]:
    """Frames of the whole clip and of what a model sees, as pictures for a page."""
    whole, middle = evenly(n_frames, N_SHOWN), window_of(n_frames)
    frames = open_video(path).frames([*whole, *middle])
    pictures = [entry for entry in frames if isinstance(entry, np.ndarray)]
    if len(pictures) < len(frames):
        raise DataError(f"{path}: a frame is damaged; delete the film to have it made again")
    return {"whole": _picture(pictures[: len(whole)]), "middle": _picture(pictures[len(whole) :])}


def _picture(pictures: Sequence[NDArray[np.uint8]]) -> str:
    """Pictures side by side with a line between, as a data URL."""
    line = np.full((pictures[0].shape[0], 1, 3), 90, np.uint8)
    parts = [part for picture in pictures for part in (picture, line)][:-1]
    out = io.BytesIO()
    Image.fromarray(np.concatenate(parts, axis=1)).quantize(32, dither=Image.Dither.NONE).save(out, "png")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def template(name: str) -> jinja2.Template:
    """A template from ``templates/``, by file name."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    text = resources.files("vidence.make").joinpath("templates", name).read_text("utf-8")
    return environment.from_string(text)


PANEL_FILE = "panel.toml"
_OURS = "# Rewritten by each `vidence make actpld`; name models under [panel] of its configuration.\n"


class PanelRules(Record, omit_defaults=True):
    """Which models the panel asks; specs as of ``--model``, paths relative to the configuration.

    `models` see eight images, `montages` one picture of 4 by 2, as the paper has it for Gemini. `judges` say
    what descriptions mean, in place of the rules. `max_cost` is as in any panel.
    """

    models: tuple[str, ...] = ("baseline:random",)
    montages: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    max_cost: float | None = None

    def __post_init__(self) -> None:
        if not (self.models or self.montages):
            raise UsageError("panel.models and panel.montages name no model; name one at least")


def panel_table(rules: PanelRules, folder: Path, *, title: str, root: Path) -> dict[str, object]:
    """The panel of the clips in a folder, as stored in its file.

    Choices are asked once; the logs of the same replies are marked as descriptions.

    Args:
        rules: who is asked.
        folder: that of the benchmark, into which the file goes.
        title: what the panel is called.
        root: the folder that paths of models are relative to.

    Raises:
        UnknownNameError: there is no such model.
        UsageError: two of the models have one name.
    """
    for spec in (*rules.models, *rules.montages):
        check_name("model", spec)
    logs: dict[str, object] = {"protocol": "thought-log"}
    if rules.judges:
        logs |= {"judge": "description-match", "judge_models": list(rules.judges)}
    models = [_model(spec, row, root=root) for spec, row in _rows(rules)]
    panel: dict[str, object] = {
        "title": title,
        **({} if rules.max_cost is None else {"max_cost": rules.max_cost}),
        "benchmarks": [
            {"benchmark": "actpld", "name": "choices", "data": "."},
            {"benchmark": "actpld", "name": "logs", "data": ".", "settings": logs},
        ],
        "models": models,
    }
    msgspec.convert(panel, PanelFile)
    return panel


def write_panel(rules: PanelRules, folder: Path, *, title: str, root: Path) -> Path:
    """Write ``panel.toml`` into the folder of the clips; all as for `panel_table`."""
    panel = panel_table(rules, folder, title=title, root=root)
    path = folder / PANEL_FILE
    write_whole(path, (_OURS + tomli_w.dumps(panel)).encode())
    return path


def _rows(rules: PanelRules) -> list[tuple[str, str]]:
    return [(spec, "frames") for spec in rules.models] + [(spec, "montage") for spec in rules.montages]


def _model(spec: str, row: str, *, root: Path) -> dict[str, object]:
    """A model of the panel, with absolute paths, since a panel may run from any folder.

    Recorded letters are those of the benchmark's own order of choices.
    """
    rows = [f"actpld/{row}"]
    name, colon, rest = spec.partition(":")
    if name == "replay" and colon:
        path, mark, options = rest.partition("?")
        file = (root / path).resolve()
        model = f"replay:{file}{mark}{options}"
        return {"model": model, "name": file.stem, "rows": rows, "settings": {"shuffle_choices": False}}
    return {"model": spec, "rows": rows}


@dataclass(frozen=True, kw_only=True)
class ClipChoices:
    """The choices of a clip: three of one target in fixed order, and which is right."""

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
    """The most frequent value; ties go to the first by name."""
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
    """``clips.csv`` with the wrong choices."""
    rows = []
    sources = sources_of({i: trials[i] for i in choices}, {c: clips[c].sources for c in choices})
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
    """The name of a source: its people, else its recordings, its motion, or the take."""
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
    """A CSV table in UTF-8; missing cells are empty, extra ones are dropped.

    Raises:
        DataError: a name with ``|``, which parts names in a cell of several.
    """
    for row in rows:
        name = str(row.get("name", ""))
        if "|" in name:
            raise DataError(f"{name!r} has a |, which parts names in a cell; write it without |")
    cells = [["" if row.get(name) is None else str(row.get(name)) for name in columns] for row in rows]
    return csv_text([columns, *cells], is_data=True).encode()
