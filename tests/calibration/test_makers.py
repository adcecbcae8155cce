"""Questions made of drawn streets say what was planted; planted leaks are removed."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from subjects.streets import Street, plan_street, write_street
from subjects.task_claims import true_options
from vidence.ask.phantom.scene import LOOKS
from vidence.engine.jobs import Jobs
from vidence.engine.limits import AskLimits
from vidence.make.gates.model_gates import ask_blind
from vidence.make.gates.rules import TextOnlyRules
from vidence.make.makers import herbench
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.output import DRAFTS_FILE
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import BuildContext, Built, MakeOverrides

SEED, N_PASSERS, LEAK_EVERY = 7, 8, 4
LEAK = ", as can be seen there from the beginning to the end without any doubt whatever"
CONFIG = """# Drawn streets, one with boxes that have no identities, one with given tracks.
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
"""


class Making:
    """What was planted in a folder, and what was made of it."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(SEED)
        looks = {name: rng.permutation(len(LOOKS))[:N_PASSERS].tolist() for name in ("north", "south")}
        self.folder = folder
        self.streets: dict[str, Street] = {
            f"{name}-street": plan_street(f"{name}-street", looks=chosen, rng=rng)
            for name, chosen in looks.items()
        }
        for street in self.streets.values():
            write_street(street, folder / "videos")
        (folder / "config.toml").write_text(CONFIG)
        self.context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
        self.built: Built = herbench.create().make(
            folder / "config.toml", overrides=MakeOverrides(out=folder / "made"), context=self.context
        )
        lines = (self.built.folder / DRAFTS_FILE).read_bytes().splitlines()
        self.drafts = [msgspec.json.decode(line, type=Draft) for line in lines]

    def true_choices(self, draft: Draft) -> list[int]:
        """The places of the choices that say what was planted."""
        return true_options(draft, self.streets[draft.video_id].material())


@pytest.fixture(scope="module")
def making(tmp_path_factory: pytest.TempPathFactory) -> Making:
    return Making(tmp_path_factory.mktemp("planted"))


def test_exactly_the_right_choice_of_every_question_says_what_was_planted(making: Making) -> None:
    assert len(making.drafts) >= 25
    assert {draft.task for draft in making.drafts} == {"MEGL", "MPDR", "RLPC"}
    wrong = [d.question for d in making.drafts if making.true_choices(d) != [d.answer_index]]
    assert wrong == []


def test_every_planted_person_has_one_track(making: Making) -> None:
    tracks = next(stage for stage in making.built.account.stages if stage.stage == "tracks")
    assert tracks.n_out == 2 * N_PASSERS


def test_the_gate_removes_every_planted_leak_and_few_others(making: Making) -> None:
    """Every fourth question gets a right choice that is longer than all others."""
    tried = [leaking(draft) if i % LEAK_EVERY == 0 else draft for i, draft in enumerate(making.drafts)]
    rules = TextOnlyRules(models=("longest",), at_least=1, permutations=1)
    with Jobs(
        {"longest": "baseline:longest"},
        memory=making.context.memory,
        limits=AskLimits(seed=SEED),
        pictures=PictureFolder(making.folder / "pictures").get,
        on_event=making.context.on_asking,
    ) as models:
        verdicts = ask_blind(tried, rules, models=models, seed=SEED)
    removed = {verdict.item_id for verdict in verdicts if verdict.decision == "dropped"}
    is_removed = [draft.draft_id in removed for draft in tried]
    others = [gone for i, gone in enumerate(is_removed) if i % LEAK_EVERY]
    assert all(is_removed[::LEAK_EVERY])
    assert sum(others) < len(others) / 4


def leaking(draft: Draft) -> Draft:
    right = draft.choices[draft.answer_index]
    choices = tuple(right + LEAK if choice == right else choice for choice in draft.choices)
    return msgspec.structs.replace(draft, choices=choices)
