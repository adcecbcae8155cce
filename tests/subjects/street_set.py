"""A small set for boards: a drawn street with a detector's boxes, and a scene with a false card."""

import json
from pathlib import Path

import msgspec
import numpy as np

from subjects.streets import plan_street, write_street
from vidence.ask.phantom.scene import LOOKS
from vidence.make.herbench.opened_set import OpenedSet
from vidence.make.makers import herbench
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.session import BuildContext, Built, MakeOverrides

CONFIG = """name = "street"
seed = 7
videos = "videos"

[[sources]]
path = "north.mp4"
detections = "videos/{video_id}.txt"

[tracking]
tracker = "deepsort"

[tracking.refine.filter]
least_area_px = 1000.0

[tracking.pick]
n_tracks = 4

[shots]

[cards]
model = "people"

[cards.crops]
gap_s = 0.25

[scenes]
false_model = "rules"

[people]

[tasks.rlpc]
options = { count = "paper" }

[tasks.sva]
"""
SCENE = {
    "shot_id": "shot-0001",
    "text": "A man in a red coat walks along a grey street past two others.",
    "false": "A woman in a red coat walks along a grey street past six others.",
    "writer": "P09",
}


class StreetSet:
    """A set in a folder; a copy of the folder is one, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config.toml"
        self.people = folder / "people"
        self.made = folder / "made" / "street"

    def draw(self, *, has_twins: bool = False) -> "StreetSet":
        """Write everything that it is made of; twins are two people of the same look."""
        folder = self.folder
        looks = [0, 2, 4, 6, 8, 1, 3, 5]
        assert max(looks) < len(LOOKS)
        street = plan_street("north", looks=looks, rng=np.random.default_rng(7))
        if has_twins:
            *others, last = street.passers
            twin = msgspec.structs.replace(last, look=others[0].look)
            street = msgspec.structs.replace(street, passers=(*others, twin))
        write_street(street, folder / "videos")
        self.config.write_text(CONFIG)
        scenes = self.people / "scenes" / "north.jsonl"
        scenes.parent.mkdir(parents=True)
        scenes.write_text(json.dumps(SCENE) + "\n")
        return self

    def make(self, *, until: str = "") -> Built:
        """Make its questions, or what stands before a stage; what is kept from before is not made again."""
        context = BuildContext(
            cache_root=self.folder / "cache", memory=self.folder / "replies.sqlite", on_event=lambda _: None
        )
        return herbench.create().make(self.config, overrides=MakeOverrides(until=until), context=context)

    def opened(self) -> OpenedSet:
        """What the last making kept."""
        return OpenedSet.open(self.made)

    def drafts(self) -> list[Draft]:
        """The questions before the gates."""
        lines = (self.made / "drafts.jsonl").read_bytes().splitlines()
        return [msgspec.json.decode(line, type=Draft) for line in lines]
