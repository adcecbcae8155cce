"""What a threshold shows, asks and finds."""

import csv
import json
import math

import msgspec
import numpy as np
import pytest

from vidence.ask.benchmarks.table import create as table
from vidence.ask.models.pointlight_references import read_references
from vidence.errors import UsageError
from vidence.make.lights.ablation_config import Motions
from vidence.make.lights.threshold import (
    Thresholds,
    answers,
    at_levels,
    precision,
    staircase,
    statements,
    write_files,
)
from vidence.make.lights.threshold_clips import (
    ABSENT,
    LEFT,
    PRESENT,
    RIGHT,
    ThresholdStimuli,
    easiest,
    write_observer,
    write_stimuli,
)
from vidence.make.lights.threshold_config import (
    Method,
    Observer,
    ThresholdConfig,
    Varied,
    curve_of,
    levels_of,
    read_threshold,
)
from vidence.media.video import open_video
from vidence.records import Answered, Failed, Item, Prompt, Score, Trial

TINY = ThresholdConfig(
    motions=Motions(n_each=1, duration_s=0.4),
    stimulus={"fps": 10},
    vary=Varied(levels=(0, 5, 10)),
    method=Method(n_boot=50, n_trials=12),
)


def changed(**changes: object) -> ThresholdConfig:
    return msgspec.structs.replace(TINY, **changes)


def stimuli_of(config, tmp_path):
    stimuli = ThresholdStimuli(config, beside=tmp_path)
    assert write_stimuli(stimuli, tmp_path / "stimuli", on_clip=lambda _: None) == ()
    return stimuli, table().load(tmp_path / "stimuli" / "questions.jsonl", split="all").items


# --------------------------------------------------------------------------- configuration


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[vary]\nlevels = [1, 2]\n", "3 or more that ascend"),
        ("[vary]\nlevels = [3, 2, 1]\n", "3 or more that ascend"),
        ('[vary]\nsetting = "noize"\n', "say whether more of noize makes the task harder"),
        ('[vary]\nsetting = "view"\nlevels = [0, 45, 90]\n', "say whether more of yaw_deg"),
        ('[vary]\nsetting = "dots"\nlevels = [2, 8, 14]\n', "14 dots are wanted"),
        ('task = "detect"\n[stimulus]\ntarget = "absent"\n', "target is what the task 'detect' asks about"),
        ('task = "direction"\n[stimulus]\nis_mirrored = true\n', "is_mirrored is what the task"),
        ("[ask]\nmodels = []\n", "name a model"),
        ("[method]\nproportion = 0.3\n", "expected more than guessing gets"),
        ('[method]\nshape = "weibull"\nscale = "linear"\n', "a weibull is one of the logarithm"),
        ('[[observers]]\nname = "a b"\nlocation = 1\nwidth = 1\n', "'a b' is no name"),
        ("[method]\nn_trails = 3\n", "n_trials"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, text, message):
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_threshold(path)


def test_the_threshold_lies_half_way_from_guessing_to_one():
    assert ThresholdConfig().proportion == pytest.approx(2 / 3)
    assert changed(task="detect").proportion == 0.75
    assert changed(method=Method(proportion=0.8)).proportion == 0.8


def test_more_noise_is_harder_and_more_contrast_easier():
    assert curve_of(TINY).is_falling
    contrast = changed(vary=Varied(setting="contrast", levels=(0.1, 0.5, 1.0)))
    assert not curve_of(contrast).is_falling
    assert [easiest(one).level for one in (TINY, contrast)] == ["0", "1"]
    assert [c.level for c in levels_of(TINY)] == ["0", "5", "10"]
    turned = Varied(setting="yaw_deg", levels=(0, 30, 60), is_harder=False)
    assert [c.level for c in levels_of(changed(vary=turned))] == ["0", "30", "60"]


# --------------------------------------------------------------------------- clips and questions


def test_every_motion_is_asked_at_every_level_with_the_same_choices(tmp_path):
    stimuli, items = stimuli_of(TINY, tmp_path)
    assert stimuli.n_questions == 8
    assert len(items) == 8 * 3
    walk = [item for item in items if item.tags["label"] == "walk"]
    assert [item.item_id for item in walk] == [f"walk-01/shown/{n}" for n in (0, 5, 10)]
    assert len({item.choices for item in walk}) == 1
    assert {item.source_id for item in walk} == {"walk-01"}
    assert all(item.choices[ord(item.answer) - ord("A")] == "walk" for item in walk)
    assert (tmp_path / "stimuli" / walk[0].media[0].path).exists()
    again = ThresholdStimuli(TINY, beside=tmp_path)
    shown = []
    assert write_stimuli(again, tmp_path / "stimuli", on_clip=shown.append) == ()
    assert shown == []
    other = ThresholdStimuli(changed(seed=1), beside=tmp_path)
    with pytest.raises(UsageError, match="made from other settings"):
        write_stimuli(other, tmp_path / "stimuli", on_clip=shown.append)


def test_a_motion_without_wrong_choices_is_left_out(tmp_path):
    rows = ["clip_id,label,set,intention,group,files"]
    rows += [f"{n}-1,{n},single,i,{g},walker:{n}" for n, g in (("walk", "a"), ("run", "a"), ("bow", "b"))]
    (tmp_path / "map.csv").write_text("\n".join(rows))
    stimuli = ThresholdStimuli(changed(motions=Motions(table="map.csv", duration_s=0.4)), beside=tmp_path)
    troubles = write_stimuli(stimuli, tmp_path / "stimuli", on_clip=lambda _: None)
    assert [line.split(" is left out: ")[0] for line in troubles] == ["walk-1", "run-1"]
    assert "labels.csv has 1 of other groups than 'a'; expected 2" in troubles[0]
    items = table().load(tmp_path / "stimuli" / "questions.jsonl", split="all").items
    assert {item.tags["label"] for item in items} == {"bow"}


def test_frames_are_the_middle_of_the_same_clips(tmp_path):
    config = changed(vary=Varied(setting="frames", levels=(1, 2, 4)))
    _, items = stimuli_of(config, tmp_path)
    paths = [tmp_path / "stimuli" / i.media[0].path for i in items if i.tags["label"] == "walk"]
    assert [open_video(path, kind="video").n_frames for path in paths] == [1, 2, 4]


def test_detection_shows_as_many_dots_with_and_without_a_person(tmp_path):
    stimuli, items = stimuli_of(changed(task="detect"), tmp_path)
    assert {item.choices for item in items} == {(PRESENT, ABSENT)}
    assert [i.answer for i in items if i.tags["label"] == "walk"] == ["A"] * 3 + ["B"] * 3
    references, _ = read_references(tmp_path / "stimuli" / "references")
    assert len(references) == 16
    assert {one for r in references for one in r.says} == {PRESENT.casefold(), ABSENT.casefold()}
    # Nobody is told by a clip of the same motion.
    assert len({r.sources for r in references}) == 8
    assert len(set(stimuli.sources)) == 8


def test_a_walker_faces_the_side_that_is_right(tmp_path):
    config = changed(
        task="direction",
        motions=Motions(n_each=1, duration_s=1.0, yaw_spread_deg=0.0),
        stimulus={"fps": 10, "framing": "fixed"},
    )
    stimuli, _ = stimuli_of(config, tmp_path)
    walk = next(clip for clip in stimuli.clips if clip.label == "walk")
    level = levels_of(config)[0]
    for way in stimuli.ways(walk):
        made = stimuli.stimulus(walk, way, level)
        moved_px = np.nanmean(made.centres_px[-1, :, 0] - made.centres_px[0, :, 0])
        assert (moved_px > 5) == (way.answer == RIGHT)
        assert (moved_px < -5) == (way.answer == LEFT)


def test_who_faces_the_viewer_has_no_direction(tmp_path):
    config = changed(task="direction", stimulus={"yaw_deg": 0})
    with pytest.raises(UsageError, match="faces no side"):
        ThresholdStimuli(config, beside=tmp_path)


# --------------------------------------------------------------------------- what is found


def questions(config: ThresholdConfig, n_each: int) -> dict[str, Item]:
    made = {}
    for level in config.vary.levels:
        for number in range(n_each):
            name = f"{number}/{level}"
            made[name] = Item(
                item_id=name,
                question="?",
                choices=("a", "b"),
                answer="AB"[number % 2],
                source=str(number),
                tags={"level": str(level)},
            )
    return made


def tried(item: Item, *, is_right: bool, is_failed: bool = False) -> Trial:
    outcome = Failed(stage="model", error="E", message="m") if is_failed else Answered(answer="A")
    return Trial(
        item_id=item.item_id,
        prompt=Prompt(parts=()),
        score=Score(outcome=outcome, value=float(is_right), scorer="s", scorer_version=1),
    )


PLANTED = ThresholdConfig(
    task="detect",
    vary=Varied(levels=tuple(range(0, 85, 5))),
    method=Method(kind="staircase", n_trials=80, n_boot=50),
    observers=(Observer(name="planted", location=40, width=40, lapse=0.02),),
)


def followed(config, items, is_right_at):
    turns, asked = staircase(config, "who", items, rng=np.random.default_rng(0)), []
    try:
        wanted = next(turns)
        while True:
            asked.append(wanted)
            wanted = turns.send(is_right_at(items[wanted]))
    except StopIteration as end:
        return end.value, asked


def test_a_staircase_finds_a_planted_threshold_and_asks_nothing_twice():
    items, rng = questions(PLANTED, 12), np.random.default_rng(3)
    (observer,) = PLANTED.observers

    def answer(item):
        chance = curve_of(PLANTED).right(
            np.array(float(item.tags["level"])), location=40, width=40, lapse=observer.lapse
        )
        return tried(item, is_right=bool(rng.random() < chance))

    found, asked = followed(PLANTED, items, answer)
    assert len(asked) == len(set(asked)) == 80
    assert found.threshold.low < 39.5 < found.threshold.high
    assert found.threshold.high - found.threshold.low < 40
    assert found.threshold.reason == ""
    assert found.slope.low < found.slope.value < found.slope.high < 0
    assert [step.n for step in found.steps] == list(range(1, 81))
    assert found.steps[-1].threshold == found.threshold


def test_a_staircase_ends_when_no_question_is_left_and_failures_count_nowhere():
    items = questions(PLANTED, 2)

    def answer(item):
        is_failed = item.item_id.startswith("0/")
        return tried(item, is_right=float(item.tags["level"]) < 40, is_failed=is_failed)

    found, asked = followed(PLANTED, items, answer)
    assert len(asked) == 34
    assert found.n_failed == 17
    assert sum(one.right.n for one in found.levels) == 17


def test_who_guesses_has_no_threshold_by_a_staircase():
    items = questions(PLANTED, 8)
    rng = np.random.default_rng(1)
    found, _ = followed(PLANTED, items, lambda item: tried(item, is_right=bool(rng.random() < 0.5)))
    assert math.isnan(found.threshold.value)
    assert found.threshold.reason.startswith("answers do not change with the level")


def test_yes_to_everything_is_a_criterion_and_no_d_prime():
    items = questions(PLANTED, 12).values()
    seen, n_failed = answers([(item, tried(item, is_right=item.answer == "A")) for item in items])
    assert n_failed == 0
    first = at_levels(seen, PLANTED, rng=np.random.default_rng(0))[0]
    assert first.right.value == pytest.approx(0.5)
    assert first.detected.d_prime.value == pytest.approx(0.0)
    assert first.detected.criterion.value < -1


def test_simulated_observers_follow_from_seed_and_question_alone(tmp_path):
    items = list(questions(PLANTED, 100).values())
    (observer,) = PLANTED.observers
    path = write_observer(observer, PLANTED, items, folder=tmp_path)
    with path.open(newline="") as file:
        said = {row["item_id"]: row["text"] for row in csv.DictReader(file)}
    share = {}
    for level in (0, 40, 80):
        ours = [item for item in items if item.tags["level"] == str(level)]
        share[level] = np.mean([said[item.item_id] == item.answer for item in ours])
    assert share[0] > 0.93
    assert share[40] == pytest.approx(0.74, abs=0.1)
    assert share[80] == pytest.approx(0.5, abs=0.12)
    before = path.read_bytes()
    write_observer(observer, PLANTED, items[::-1], folder=tmp_path)
    assert sorted(path.read_bytes().split()) == sorted(before.split())


def test_how_exact_it_would_be_is_said_before():
    many = [str(i) for i in range(48)]
    words = precision(ThresholdConfig(), many, rng=np.random.default_rng(0))
    assert "48 questions at each of 6 levels; noise dots, 48 sources of motions" in words
    few = precision(ThresholdConfig(), many[:6], rng=np.random.default_rng(0))

    def reach(text):
        parts = text.split()
        return float(parts[parts.index("and") + 1]) - float(parts[parts.index("between") + 1])

    assert reach(few) > reach(words)
    asked = precision(PLANTED, many, rng=np.random.default_rng(0))
    assert "80 questions, as if spread over 17 levels" in asked


def test_files_and_statements_have_every_observer(tmp_path):
    items = questions(PLANTED, 12)
    found, _ = followed(
        PLANTED,
        items,
        lambda item: tried(item, is_right=float(item.tags["level"]) < 40 or item.answer == "A"),
    )
    made = Thresholds(config=PLANTED, found=(found,), notes=("a note",))
    names = [one.name for one in statements(made)]
    assert names == ["thresholds", "right", "d_prime", "criterion", "course"]
    paths = write_files(made, tmp_path)
    assert [p.name for p in paths] == ["threshold.csv", "levels.csv", "threshold.json", "threshold.html"]
    with paths[0].open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["observer"] == "who"
    assert float(row["threshold"]) == pytest.approx(found.threshold.value)
    assert row["n"] == "80"
    whole = json.loads(paths[2].read_bytes())
    assert whole["format"] == "vidence-threshold/1"
    assert len(whole["found"][0]["steps"]) == 80
    assert "a note" in paths[3].read_text()
