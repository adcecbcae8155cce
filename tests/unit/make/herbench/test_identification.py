"""The identification step: a model that looks, and whom it is shown."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from subjects.herbench_session import state
from subjects.planted_people import street
from subjects.streets import plan_street, write_street
from subjects.tracks import track
from vidence.ask.phantom.scene import LOOKS, look_of
from vidence.engine import engine
from vidence.make.herbench.identification import most_alike, portrait_frames
from vidence.make.makers import herbench
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.records import ImagePart, Reply

CONFIG = """
name = "street"
seed = 7
videos = "videos"
[[sources]]
path = "north.mp4"
detections = "videos/{video_id}.txt"
[tracking]
tracker = "deepsort"
[tracking.refine.filter]
least_area_px = 1000.0
[models]
writer = "scripted:writer"
[cards]
model = "writer"
identify = "writer"
[cards.crops]
gap_s = 0.25
[tasks.aglt]
[tasks.mpdr]
"""

SIZE = {"width_px": 640, "height_px": 480}


class Looker:
    """Writes the words of the coat that it sees; says whom words fit by the coats."""

    looks, by_item, max_in_flight, identity = True, False, None, "looker"
    n_tried = 0

    async def reply(self, request) -> Reply:
        prompt = request.prompt
        images = [part for part in prompt.parts if isinstance(part, ImagePart)]
        seen = [np.asarray(Image.open(io.BytesIO(request.images[p.digest])).convert("RGB")) for p in images]
        if "card_path" in prompt.template:
            return Reply(
                text="They cross the frame on a straight line. No stop is made on the way. All is calm."
            )
        if "card_identify" not in prompt.template:
            return Reply(text=look_of(seen).words)
        self.n_tried += 1
        people: list[list[np.ndarray]] = []
        for part in prompt.parts[:-1]:
            if isinstance(part, ImagePart):
                people[-1].append(seen.pop(0))
            else:
                people.append([])
        words = prompt.parts[-1].text
        fits = [str(n) for n, some in enumerate(people, 1) if look_of(some).words in words]
        return Reply(text=f"FITS: {', '.join(fits) or 'none'}")

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("identified")
    write_street(plan_street("north", looks=[0, 2, 4, 6, 8], rng=np.random.default_rng(7)), made / "videos")
    (made / "config.toml").write_text(CONFIG)
    return made


def make(folder, model, monkeypatch, name):
    monkeypatch.setattr(engine, "create", lambda kind, spec: model)
    context = BuildContext(cache_root=folder / "cache", memory=folder / f"{name}.sqlite")
    out = folder / name
    built = herbench.create().make(folder / "config.toml", overrides=MakeOverrides(out=out), context=context)
    drafts = [json.loads(line) for line in (out / "drafts.jsonl").read_text().splitlines()]
    return {one.stage: one for one in built.account.stages}, drafts


def test_who_looks_at_everybody_finds_the_one_whom_a_description_fits(folder, monkeypatch):
    model = Looker()
    stages, drafts = make(folder, model, monkeypatch, "looks")
    n = stages["cards"].n_out // 2
    assert (stages["identified"].n_in, stages["identified"].n_out) == (n, n)
    assert model.n_tried == 2 * n
    assert drafts
    assert {draft["facts"]["identified"] for draft in drafts} == {"by looker"}
    words = {look.words.casefold() for look in LOOKS}
    named = {line for draft in drafts for line in draft["question"].casefold().splitlines()}
    assert any(line in words for line in named)


def test_the_most_alike_are_shown_and_those_whose_colours_nobody_knows():
    material = street(1, n_people=5).material
    looks = {
        "t0": np.array([1.0, 0.0], np.float32),
        "t1": np.array([0.0, 1.0], np.float32),
        "t2": np.array([0.8, 0.6], np.float32),
        "t3": np.array([0.6, 0.8], np.float32),
    }
    one = state(replace(material, tracked=replace(material.tracked, looks=looks)))
    crop = Crop(track_id="", frame_index=0, digest="", width_px=1, height_px=1)
    one.portraits = {f"t{i}": (crop,) for i in range(5)} | {"t9": ()}
    assert most_alike("t0", one, most=3) == ("t0", "t4", "t2")
    assert most_alike("t0", one, most=9) == ("t0", "t4", "t2", "t3", "t1")


def boxes(n, *, size=(40, 80), left=100.0):
    return [(left, 100.0, left + size[0], 100.0 + size[1]) for _ in range(n)]


def test_one_frame_of_each_part_and_the_largest_box_there():
    some = boxes(10)
    some[2] = (100.0, 100.0, 160.0, 220.0)
    some[7] = (100.0, 100.0, 160.0, 220.0)
    assert portrait_frames(track("1", some, first=5), n=2, **SIZE) == (7, 12)


def test_a_track_of_one_box_and_one_outside_the_frame():
    assert portrait_frames(track("1", boxes(1), first=3), n=2, **SIZE) == (3,)
    assert portrait_frames(track("1", boxes(4, left=2000.0)), n=2, **SIZE) == ()


def test_a_detected_box_comes_before_one_that_was_filled_in():
    detected = [False, True, False, False]
    some = boxes(4)
    some[0] = (100.0, 100.0, 160.0, 220.0)
    assert portrait_frames(track("1", some, detected=detected), n=1, **SIZE) == (1,)


def test_where_somebody_stands_in_front_another_moment_is_taken():
    here = track("1", boxes(3))
    front = track("2", [(90.0, 90.0, 150.0, 190.0)] * 2, frames=[0, 1])
    assert portrait_frames(here, n=1, others=[front], **SIZE) == (2,)
    assert np.array_equal(portrait_frames(here, n=1, **SIZE), (0,))
