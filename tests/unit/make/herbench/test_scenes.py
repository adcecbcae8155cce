"""The scene step where no model is asked: cards of files, false ones by rules, and why there are none."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from servers import weights_standin
from subjects.herbench_session import session, state
from subjects.kitchens import material
from vidence import catalog
from vidence.errors import DataError, UsageError
from vidence.make.herbench.config import HerbenchConfig, SceneStep, SourceRule
from vidence.make.herbench.scenes import write_all_scenes
from vidence.make.makers.herbench import create
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.seeing.shooting import Shot
from videos import pans

SHOTS = tuple(
    Shot(shot_id=f"shot-{i:04}", first_frame=10 * i, last_frame=10 * i + 9, start_s=float(i), end_s=i + 1.0)
    for i in (1, 2)
)
TEXTS = (
    "A woman in a red coat walks past two cars on the left of a wide street.",
    "A man with a black dog stands behind a table in a small kitchen.",
)
BY_RULES = SceneStep(false_model="rules")


def filmed(**rule):
    return state(replace(material(()), shots=SHOTS), **rule)


def write(folder, texts=TEXTS):
    rows = [{"shot_id": shot.shot_id, "text": text} for shot, text in zip(SHOTS, texts, strict=True)]
    (folder / "scenes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_cards_of_a_file_are_falsified_by_rules(tmp_path):
    write(tmp_path)
    work, one = session(tmp_path, scenes=BY_RULES), filmed(scene_cards="scenes.jsonl")
    write_all_scenes(work, [one], needs=("scene_cards",))
    cards = one.material.scene_cards
    assert [card.text for card in cards if card.is_faithful] == list(TEXTS)
    false = [card for card in cards if not card.is_faithful]
    assert false
    assert not {card.text for card in false} & set(TEXTS)
    (account,) = [stage for stage in work.ledger.stages if stage.stage == "false-scenes"]
    assert (account.n_in, account.n_out) == (2, len(false))
    again = filmed(scene_cards="scenes.jsonl")
    write_all_scenes(session(tmp_path, scenes=BY_RULES), [again], needs=("scene_cards",))
    assert again.material.scene_cards == cards  # drawn from the seed and the name


def test_false_cards_of_people_stay_as_they_are(tmp_path):
    changes = [
        {"kind": "modification", "before": a, "after": b} for a, b in (("red", "blue"), ("two", "six"))
    ]
    false = TEXTS[0].replace("red", "blue").replace("two", "six")
    write(tmp_path)
    with (tmp_path / "scenes.jsonl").open("a") as file:
        file.write(json.dumps({"shot_id": "shot-0001", "text": false, "changes": changes}) + "\n")
    work, one = session(tmp_path, scenes=BY_RULES), filmed(scene_cards="scenes.jsonl")
    write_all_scenes(work, [one], needs=("scene_cards",))
    assert {card.text for card in one.material.scene_cards} == {*TEXTS, false}
    assert not [stage for stage in work.ledger.stages if stage.stage == "false-scenes"]


def test_cards_of_a_file_stay_as_they_are_without_scenes(tmp_path):
    write(tmp_path)
    one = filmed(scene_cards="scenes.jsonl")
    write_all_scenes(session(tmp_path), [one], needs=("scene_cards",))
    assert [card.is_faithful for card in one.material.scene_cards] == [True, True]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (None, "the configuration has no [scenes]"),
        (BY_RULES, "[scenes] names no model, and the source has no file of scene cards"),
    ],
)
def test_a_video_without_cards_says_why(tmp_path, step, said):
    one = filmed()
    write_all_scenes(session(tmp_path, scenes=step), [one], needs=("scene_cards",))
    assert one.absent == {"scene_cards": said}


def test_a_video_without_its_file_and_a_sheet_that_nobody_filled_in_have_no_cards(tmp_path):
    """One film of a folder is one shot and has no sheet; the sheet of another one is still empty."""
    one = filmed(scene_cards="{video_id}.csv")
    work = session(tmp_path, scenes=SceneStep(false=False, false_model="rules"))
    write_all_scenes(work, [one], needs=("scene_cards",))
    assert one.absent == {"scene_cards": "[scenes] names no model, and the source has no file of scene cards"}
    (tmp_path / "scenes.csv").write_text("shot_id,start_s,text,false\nshot-0001,1.0,,\nshot-0002,2.0,,\n")
    one = filmed(scene_cards="scenes.csv")
    write_all_scenes(work, [one], needs=("scene_cards",))
    assert one.material.scene_cards == ()
    assert one.absent == {"scene_cards": "scenes.csv is not filled in"}


def test_a_wrong_file_names_the_video(tmp_path):
    (tmp_path / "scenes.jsonl").write_text('{"shot_id": "shot-0009", "text": "A street."}\n')
    one = filmed(scene_cards="scenes.jsonl")
    with pytest.raises(DataError, match=f"the cards of the video {one.video_id}: "):
        write_all_scenes(session(tmp_path), [one], needs=("scene_cards",))


def test_a_step_that_names_nobody_is_refused():
    with pytest.raises(UsageError, match=r"has no writer of false descriptions; .* or set false = false"):
        SceneStep()
    assert not SceneStep(false=False).model
    with pytest.raises(UsageError, match="has no writer of descriptions; give model, or scene_cards"):
        HerbenchConfig(name="n", sources=(SourceRule(path="v.mp4"),), scenes=SceneStep(false=False))
    with pytest.raises(UsageError, match="another name"):
        HerbenchConfig(
            name="n", sources=(SourceRule(path="v.mp4"),), scenes=BY_RULES, models={"rules": "scripted:x"}
        )
    files = SourceRule(path="v.mp4", scene_cards="scenes.csv")
    assert HerbenchConfig(name="n", sources=(files,), scenes=SceneStep(false=False)).scenes is not None


BATCHED = """
name = "shots"
videos = "videos"
[[sources]]
path = "*.mp4"
[shots]
[models]
writer = "standin:{weights}?batch_size=8&takes_s=0.05"
[scenes]
model = "writer"
false = false
[tasks.tso]
"""


def test_forty_shots_are_described_in_batches_by_a_model_in_this_process(tmp_path, monkeypatch):
    """What came of each batch stands under its own time in the file of the model's process."""
    monkeypatch.syspath_prepend(weights_standin.install(tmp_path / "plugin"))
    catalog.forget()
    weights = tmp_path / "weights"
    for folder in (weights, tmp_path / "videos"):
        folder.mkdir()
    rng = np.random.default_rng(0)
    places = [np.kron(rng.integers(0, 255, (16, 24, 3)), np.ones((8, 8, 1))) for _ in range(40)]
    pans.write(tmp_path / "videos" / "v.mp4", (place.astype(np.uint8) for place in places for _ in range(10)))
    (tmp_path / "config.toml").write_text(BATCHED.format(weights=weights))
    context = BuildContext(cache_root=tmp_path / "cache", memory=tmp_path / "replies.sqlite")
    overrides = MakeOverrides(until="scenes")
    create().make(tmp_path / "config.toml", overrides=overrides, context=context)
    (asked,) = weights.iterdir()
    # Each is asked twice: a rule writes no sentence.
    assert list(Counter(asked.read_text().splitlines()).values()) == [8] * 10
