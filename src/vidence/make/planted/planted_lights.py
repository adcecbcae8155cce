"""Points of light of the built-in figure: clips clean and disturbed, pictures and scores for a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from PIL import Image

from vidence.make.herbench.report_tables import number_column, plain_table, text_column
from vidence.make.lights.ablation_clips import WALKER_ACTIONS, StimulusSet, write_condition
from vidence.make.lights.ablation_config import AblationConfig, Motions, conditions, unique
from vidence.make.pipeline.report_pictures import sheet_of
from vidence.pointlight.drawing import frames
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import StimulusSpec, View
from vidence.pointlight.stimulus import make_stimulus
from vidence.report.results import Run
from vidence.report.sections import Picture, Section
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import Cell, Table

FPS, _YAW_DEG = 12.0, 35.0
# The same clips three times: as they are, and with two things done to the picture.
SHOWN: Final = AblationConfig(
    motions=Motions(n_each=4, duration_s=1.0),
    stimulus={"fps": FPS, "yaw_deg": _YAW_DEG, "dot_radius_px": 2.0, "framing": "follow"},
    vary={"scrambling": ("places",), "noise_dots": (20,)},
)
VERSIONS: Final = {"base": "clean", "scramble-places": "scrambled", "n_noise-20": "noisy"}
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


def make_lights(folder: Path) -> dict[str, Path]:
    """Render the clips of every version, where they are not there yet; the folder of each.

    Raises:
        VidenceError: they cannot be made.
    """
    stimuli = StimulusSet(SHOWN, beside=folder)
    made = {}
    for condition in unique(conditions(SHOWN)):
        version = VERSIONS[condition.name]
        made[version] = folder / version
        write_condition(stimuli, condition, made[version], on_clip=lambda _: None)
    return made


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
            f"A figure that needs no data does {len(WALKER_ACTIONS)} things in four ways each: other bodies, "
            "paces, sides. It is shown in three benchmarks of the same clips: clean, with every dot moved to "
            "a place of its own, and among noise dots that move like those of the figure. The "
            f"{n} questions of each have three choices from different semantic groups.",
            "The nearest neighbour knows the clean clips, but never the one that is asked about, and "
            "compares where the dots are and how they move. Scrambling leaves each dot's own movement as it "
            "is, and takes away where it belongs.",
        ),
        tables=(_scores(runs, rng=rng),),
        pictures=(
            _rows(
                "The figure in its actions",
                {action: (f"walker:{action}", StimulusSpec()) for action in WALKER_ACTIONS},
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
        found = mean_interval(right, clusters=[row.item.source_id for row in run.rows])
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
    cells = [
        (image, "" if i else name)
        for name, (source, spec) in shown.items()
        for i, image in enumerate(_frames(source, spec))
    ]
    return Picture(title=title, sheet=sheet_of(cells, n_columns=_N_SHOWN, thumb_px=_THUMB_PX))


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
