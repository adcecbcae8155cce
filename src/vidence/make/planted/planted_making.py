"""Questions made of planted material: drawn streets and planted logs, and what was planted beside them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from vidence.ask.phantom.looks import LOOKS
from vidence.errors import DataError
from vidence.make.gates.model_gates import ask_blind
from vidence.make.gates.rules import TextOnlyRules
from vidence.make.herbench.report import PAGE_FILE
from vidence.make.makers import herbench
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.models import AskLimits, Models
from vidence.make.pipeline.output import DRAFTS_FILE
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.planted import kitchen_claims, street_claims
from vidence.make.planted.kitchen import Kitchen, log_of, plan_kitchen
from vidence.make.planted.street import Street, plan_street, write_street
from vidence.media.whole import write_whole
from vidence.records import Record

STREETS: Final = ("north-street", "south-street")
KITCHENS: Final = ("kitchen-1", "kitchen-2", "kitchen-3")
PLAN_FILE, CONFIG_FILE = "planted.json", "config.toml"
_N_PASSERS = 8
# Every so manieth question is made to give its answer away, by a right choice longer than all others.
LEAK_EVERY: Final = 4
_LEAK = ", as can be seen there from the beginning to the end without any doubt whatever"

CONFIG: Final = """# Drawn streets, one with boxes found elsewhere, one with given tracks, and a planted log.
name = "planted"
seed = 7
videos = "videos"

[[sources]]
path = "north-street.mp4"
collection = "OWN"
licence = "CC0-1.0"
detections = "videos/{video_id}.txt"

[[sources]]
path = "south-street.mp4"
collection = "OWN"
licence = "CC0-1.0"
tracks = "mot:videos/{video_id}-ids.txt"

[[logs]]
format = "plain"
path = "log.csv"
media = "{video_id}.mp4"         # these videos are not there, and not needed
licence = "CC0-1.0"

[tracking]
tracker = "deepsort"

[tracking.refine.filter]
least_area_px = 1000.0           # the figures are small

[models]
writer = "phantom:writer"
longest = "baseline:longest"
median = "baseline:median"
first = "baseline:constant"

[cards]
model = "writer"

[cards.crops]
gap_s = 0.25                     # figures pass quickly
least_px = 96
frame_px = 320

[gates.text_only]
models = ["longest", "median", "first"]
at_least = 2
permutations = 1

[tasks.rlpc]
per_video = 8

[tasks.mpdr]
per_video = 8

[tasks.megl]
per_video = 8

[tasks.ac]
per_video = 4
options = { alone = true }      # three kitchens are too few for counts to share

[tasks.asii]
per_video = 4

[tasks.fam]
per_video = 3
structures = ["absent", "which-of-four"]
"""


class Planted(Record):
    """Everything that was planted."""

    seed: int
    streets: tuple[Street, ...]
    kitchens: tuple[Kitchen, ...]


@dataclass(frozen=True, kw_only=True)
class PlantedCase:
    """A question beside the plan: which of its choices say what was planted."""

    draft: Draft
    true_choices: tuple[bool, ...]

    @property
    def is_right(self) -> bool:
        """Exactly the choice that the question calls right says what was planted."""
        return self.true_choices == tuple(i == self.draft.answer_index for i in range(len(self.true_choices)))


@dataclass(frozen=True, kw_only=True)
class PlantedMaking:
    """What was planted, what was made of it, and what became of drafts that give their answer away.

    `page` is that of the making.
    `leaks` has for each question that was tried whether it was made to leak, and whether the gate that asks
    without the video removed it.
    """

    page: Path
    planted: Planted
    account: Account
    held: tuple[PlantedCase, ...]
    leaks: tuple[tuple[bool, bool], ...]

    @property
    def n_different(self) -> int:
        """Questions that do not say what was planted, and planted leaks that stayed."""
        return sum(not one.is_right for one in self.held) + sum(a and not b for a, b in self.leaks)


def plan(seed: int) -> Planted:
    """What is planted for a seed."""
    rng = np.random.default_rng(seed)
    streets = [
        plan_street(name, looks=rng.permutation(len(LOOKS))[:_N_PASSERS].tolist(), rng=rng)
        for name in STREETS
    ]
    kitchens = [plan_kitchen(name, rng=rng) for name in KITCHENS]
    return Planted(seed=seed, streets=tuple(streets), kitchens=tuple(kitchens))


def make_planted(folder: Path, *, seed: int, context: BuildContext) -> PlantedMaking:
    """Draw the material into a folder, make questions of it, hold them against the plan.

    What is there from an earlier call with this seed is not drawn, made or asked again.

    Raises:
        VidenceError: it cannot be made.
    """
    planted = plan(seed)
    _draw(folder, planted)
    maker = herbench.create()
    built = maker.make(folder / CONFIG_FILE, out=folder / "made", overrides=MakeOverrides(), context=context)
    drafts = _read(built.folder / DRAFTS_FILE)
    return PlantedMaking(
        page=built.folder / PAGE_FILE,
        planted=planted,
        account=built.account,
        held=tuple(hold(drafts, planted)),
        leaks=tuple(_try_leaks(drafts, folder, context=context, seed=seed)),
    )


def _draw(folder: Path, planted: Planted) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    known, wanted = folder / PLAN_FILE, msgspec.json.encode(planted)
    is_there = known.exists() and known.read_bytes() == wanted
    if not is_there or not all((folder / "videos" / f"{name}.mp4").exists() for name in STREETS):
        for street in planted.streets:
            write_street(street, folder / "videos")
    write_whole(folder / "log.csv", log_of(planted.kitchens).encode())
    write_whole(folder / CONFIG_FILE, CONFIG.encode())
    write_whole(known, wanted)


def _read(path: Path) -> list[Draft]:
    return [msgspec.json.decode(line, type=Draft) for line in path.read_bytes().splitlines()]


def hold(drafts: Sequence[Draft], planted: Planted) -> Iterator[PlantedCase]:
    """Each question beside the plan of its video.

    Raises:
        DataError: a question about a video that was not planted, or of which nothing is known.
    """
    streets: Mapping[str, Street] = {street.name: street for street in planted.streets}
    kitchens: Mapping[str, Kitchen] = {kitchen.name: kitchen for kitchen in planted.kitchens}
    for draft in drafts:
        task, structure = draft.task, draft.structure
        if (street := streets.get(draft.video_id)) is not None:
            truth = street_claims.true_choices(
                street, draft.question, choices=draft.choices, task=task, structure=structure
            )
        elif (kitchen := kitchens.get(draft.video_id)) is not None:
            truth = kitchen_claims.true_choices(
                kitchen, draft.question, choices=draft.choices, task=task, structure=structure
            )
        else:
            raise DataError(f"{draft.draft_id} is about {draft.video_id!r}, which was not planted")
        yield PlantedCase(draft=draft, true_choices=truth)


def leaking(draft: Draft) -> Draft:
    """The same draft with a right choice that is longer than all others."""
    right = draft.choices[draft.answer_index]
    choices = tuple(right + _LEAK if choice == right else choice for choice in draft.choices)
    return msgspec.structs.replace(draft, choices=choices)


def _try_leaks(
    drafts: Sequence[Draft], folder: Path, *, context: BuildContext, seed: int
) -> Iterator[tuple[bool, bool]]:
    """Put the drafts, some made to leak, to the gate that asks who always takes the longest choice."""
    tried = [leaking(one) if i % LEAK_EVERY == 0 else one for i, one in enumerate(drafts)]
    models = Models(
        {"longest": "baseline:longest"},
        memory=context.memory,
        limits=AskLimits(seed=seed),
        pictures=PictureFolder(folder / "pictures").get,
        on_event=context.on_asking,
    )
    rules = TextOnlyRules(models=("longest",), at_least=1, permutations=1)
    with models:
        verdicts = ask_blind(tried, rules, models=models, seed=seed)
    gone = {one.draft_id for one in verdicts if one.decision == "dropped"}
    for i, draft in enumerate(tried):
        yield i % LEAK_EVERY == 0, draft.draft_id in gone
