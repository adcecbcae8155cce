"""Questions made of planted material: drawn streets and planted logs, and the people as they were found."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from vidence.ask.phantom.looks import LOOKS
from vidence.make.cards.pictures import PictureFolder
from vidence.make.gates.asking import ask_blind
from vidence.make.gates.rules import TextOnlyRules
from vidence.make.herbench.report import PAGE_FILE
from vidence.make.makers import herbench
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.models import AskLimits, Models
from vidence.make.pipeline.output import DRAFTS_FILE
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.planted.kitchen import Kitchen, log_of, plan_kitchen
from vidence.make.planted.street import Street, plan_street, write_street
from vidence.media.cache import write_whole
from vidence.records import Record

STREETS: Final = ("north-street", "south-street")
KITCHENS: Final = ("kitchen-1", "kitchen-2", "kitchen-3")
PLAN_FILE, CONFIG_FILE = "planted.json", "config.toml"
_N_PASSERS = 8
# Every so manieth question is made to give its answer away, by a right choice longer than all others.
LEAK_EVERY: Final = 4
# What a question lists of people, and what it tells reviewers of each.
_LISTED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_FACT = re.compile(r"([\d.]+) s to ([\d.]+) s \([\d.]+ s\), enters: (\S+), leaves: (\S+)")
_LEAK = ", as can be seen there from the beginning to the end without any doubt whatever"

CONFIG: Final = """# Drawn streets with boxes found elsewhere, and a planted log; the core alone makes it.
name = "planted"
seed = 7
videos = "videos"

[[sources]]
path = "*.mp4"
collection = "OWN"
licence = "CC0-1.0"
detections = "videos/{video_id}.txt"

[[logs]]
format = "plain"
path = "log.csv"
media = "{video_id}.mp4"         # these videos are not there, and not needed
licence = "CC0-1.0"

[tracking]
tracker = "deepsort"

[tracking.refine.merging]
most_gap_frames = 8              # a second of these films

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
gap_frames = 2
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
class PlantedPerson:
    """Somebody of a street: when they are in view and which edges they pass, as drawn and as found.

    Times are seconds, of the first and the last frame. `found` is what questions say, None where none lists
    this person.
    """

    video_id: str
    words: str
    drawn: tuple[str, ...]
    found: tuple[str, ...] | None


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
    drafts: tuple[Draft, ...]
    people: tuple[PlantedPerson, ...]
    leaks: tuple[tuple[bool, bool], ...]

    @property
    def n_different(self) -> int:
        """People who were not found as they were drawn, and planted leaks that stayed."""
        lost = sum(one.found is not None and one.found != one.drawn for one in self.people)
        return lost + sum(a and not b for a, b in self.leaks)


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
    """Draw the material into a folder, make questions of it, find the people of the plan in them.

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
        drafts=tuple(drafts),
        people=tuple(people_in(drafts, planted)),
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


def people_in(drafts: Sequence[Draft], planted: Planted) -> Iterator[PlantedPerson]:
    """Everybody who was drawn, beside what questions that list them tell reviewers."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for draft in drafts:
        for i, text in enumerate(_LISTED.findall(draft.question), 1):
            if fact := _FACT.search(draft.facts.get(f"person {i}", "")):
                found[draft.video_id, text.rstrip(".")] = fact.groups()
    for street in planted.streets:
        for passer in street.passers:
            words = LOOKS[passer.look].words.rstrip(".")
            times = f"{street.start_s(passer):.2f}", f"{street.end_s(passer):.2f}"
            drawn = (*times, passer.enters or "stayed", passer.leaves or "stayed")
            yield PlantedPerson(
                video_id=street.name, words=words, drawn=drawn, found=found.get((street.name, words))
            )


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
