"""Points of light of the built-in figure: clips clean and disturbed, pictures and scores for a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from PIL import Image

from vidence.make.cards.report_pictures import Labelled, compose
from vidence.make.herbench.report_tables import number_column, plain_table, text_column
from vidence.make.makers import actpld
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.media.cache import write_whole
from vidence.pointlight.drawing import frames
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import StimulusSpec, View
from vidence.pointlight.stimulus import make_stimulus
from vidence.report.results import Run
from vidence.report.sections import Picture, Section
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import Cell, Table

# What the figure does: label, what for, semantic group, and the setting that its variants differ in.
_ACTS: Final = (
    ("walk", "to get to a place", "going", "speed_m_s", (1.0, 1.2, 1.4, 1.6)),
    ("run", "to be there quickly", "going", "speed_m_s", (2.6, 3.0, 3.4, 3.8)),
    ("jump", "to reach something high", "leaping", "jump_m", (0.2, 0.27, 0.34, 0.41)),
    ("squat", "to train the legs", "bending", "rate_hz", (0.4, 0.5, 0.6, 0.7)),
    ("bow", "to show respect", "bending", "rate_hz", (0.4, 0.5, 0.6, 0.7)),
    ("wave", "to be seen by somebody", "signing", "rate_hz", (1.2, 1.5, 1.8, 2.1)),
    ("jumping-jack", "to warm up", "leaping", "rate_hz", (0.7, 0.85, 1.0, 1.15)),
    ("stand", "to wait", "resting", "height_m", (1.6, 1.68, 1.76, 1.84)),
)
_HEIGHTS_M: Final = (1.62, 1.7, 1.78, 1.86)
FPS, N_FRAMES, _SIDE_PX, _YAW_DEG = 12.0, 12, 128, 35.0
# Each version of the same clips, and what of the picture is disturbed.
VERSIONS: Final[Mapping[str, str]] = {
    "clean": "",
    "scrambled": 'scramble = "places"',
    "noisy": 'n_noise = 20\nnoise = "scrambled"',
}
_VARIANTS: Final[Mapping[str, StimulusSpec]] = {
    "upright": StimulusSpec(),
    "upside down": StimulusSpec(is_inverted=True),
    "scrambled places": StimulusSpec(scramble="places", seed=2),
    "scrambled phases": StimulusSpec(scramble="phases", seed=2),
    "20 noise dots": StimulusSpec(n_noise=20, seed=2),
    "dots live 3 frames": StimulusSpec(life_frames=3, seed=2),
}
_N_SHOWN: Final = 6
_THUMB_PX: Final = 112


def make_lights(folder: Path, *, context: BuildContext) -> dict[str, Path]:
    """Make the clips of every version; where each benchmark is, in ActPLD's format.

    Raises:
        VidenceError: they cannot be made.
    """
    write_whole(folder / "map.csv", _map().encode())
    made = {}
    for version, setting in VERSIONS.items():
        config = folder / f"{version}.toml"
        write_whole(config, _config(version, setting).encode())
        built = actpld.create().make(config, out=folder / version, overrides=MakeOverrides(), context=context)
        made[version] = built.folder
    return made


def _map() -> str:
    lines = ["clip_id,label,set,intention,group,file"]
    for label, intention, group, setting, values in _ACTS:
        for i, (value, height_m) in enumerate(zip(values, _HEIGHTS_M, strict=True)):
            given = {"duration_s": 4.0, "height_m": height_m, setting: value}
            options = "&".join(f"{name}={number:g}" for name, number in given.items())
            source = f"walker:{label}?{options}"
            lines.append(f"{label}-{i},{label},single,{intention},{group},{source}")
    return "\n".join(lines) + "\n"


def _config(version: str, setting: str) -> str:
    return f"""name = "lights-{version}"
map = "map.csv"
confidence = []

[clips.stimulus]
width_px = {_SIDE_PX}
height_px = {_SIDE_PX}
dot_radius_px = 2.0
fps = {FPS}
n_frames = {N_FRAMES}
framing = "follow"
view = {{ yaw_deg = {_YAW_DEG} }}
{setting}
"""


def lights_section(runs: Mapping[tuple[str, str], Run], *, rng: np.random.Generator) -> Section:
    """The figure in its actions, the ways to disturb it, and who can name the actions.

    Args:
        runs: the runs by the model and the version of the clips.
        rng: for the intervals.
    """
    n = len(next(iter(runs.values())).rows)
    return Section(
        title="Points of light",
        paragraphs=(
            f"A figure that needs no data does {len(_ACTS)} things in four ways each: other speeds, heights, "
            "rates. The maker of ActPLD made of it three benchmarks of the same clips: clean, with every dot "
            "moved to a place of its own, and among noise dots that move like those of the figure. The "
            f"{n} questions of each have three choices from different semantic groups.",
            "The nearest neighbour knows the clean clips, but never the one that is asked about, and "
            "compares where the dots are and how they move. Scrambling leaves each dot's own movement as it "
            "is, and takes away where it belongs.",
        ),
        tables=(_scores(runs, rng=rng),),
        pictures=(
            _rows(
                "The figure in its actions", {act[0]: (f"walker:{act[0]}", StimulusSpec()) for act in _ACTS}
            ),
            _rows(
                "A walk, and what can be done to it",
                {name: ("walker:walk", spec) for name, spec in _VARIANTS.items()},
            ),
        ),
    )


def _scores(runs: Mapping[tuple[str, str], Run], *, rng: np.random.Generator) -> Table:
    models = tuple(dict.fromkeys(model for model, _ in runs))
    versions = tuple(dict.fromkeys(version for _, version in runs))

    def accuracy(run: Run) -> Cell:
        right = [float(row.correct == 1.0) for row in run.rows]
        found = mean_interval(right, clusters=[row.item.video_id for row in run.rows])
        return Cell(value=found, kind="share")

    return plain_table(
        "lights",
        "Naming the action",
        (
            text_column("model", "who answers"),
            *(number_column(version) for version in versions),
            number_column("n", "questions"),
        ),
        [
            (model, *(accuracy(runs[model, v]) for v in versions), len(runs[model, versions[0]].rows))
            for model in models
        ],
        note="Right answers in per cent with 95 % intervals; a guess is right in a third. Whoever draws lots "
        "draws the same for a question in all versions.",
    )


def _rows(title: str, shown: Mapping[str, tuple[str, StimulusSpec]]) -> Picture:
    """One row of frames for each thing that is shown, its name in the first."""
    cells: list[Labelled] = []
    for name, (source, spec) in shown.items():
        for i, image in enumerate(_frames(source, spec)):
            cells.append(Labelled(image=image, label="" if i else name))
    return Picture(title=title, sheet=compose(cells, n_columns=_N_SHOWN, thumb_px=_THUMB_PX))


def _frames(source: str, spec: StimulusSpec) -> Sequence[Image.Image]:
    small = msgspec.structs.replace(
        spec,
        width_px=_THUMB_PX,
        height_px=_THUMB_PX,
        dot_radius_px=2.0,
        fps=FPS,
        n_frames=_N_SHOWN * 2,
        step=2,
        framing="follow",
        view=View(yaw_deg=_YAW_DEG),
    )
    pictures = list(frames(make_stimulus(staged([source]), small)))
    return [Image.fromarray(picture) for picture in pictures[:_N_SHOWN]]
