"""The gate of blind readers on scene questions: absurd descriptions are stopped, plausible ones pass."""

import msgspec
import pytest

from conftest import IS_THOROUGH
from subjects.scene_cards import films
from subjects.scene_questions import absurdly, falsified, plausibly, scene_drafts
from vidence.errors import UnknownNameError
from vidence.make.gates.blind import hold_back
from vidence.make.gates.rules import BlindRules, GateRules

RULES = BlindRules(hold=("sva", "tso"), draws=199)


def drafts(falsify, *, seed, per_film=10, task="SVA"):
    made = falsified(films(), falsify, seed=seed)
    return scene_drafts(made, per_film=per_film, seed=seed, tasks=task)


@pytest.mark.parametrize("seed", range(3 if IS_THOROUGH else 1))
def test_absurd_descriptions_are_stopped(seed):
    some = drafts(absurdly, seed=seed)
    found = hold_back(some, BlindRules(hold=("sva", "tso"), draws=999), seed=seed)
    assert len(some) / 4 < len(found.dropped) < len(some)
    assert "above" not in found.verdicts.values()
    assert len(found.verdicts) == len(some) - len(found.dropped)
    assert {one.reason for one in found.dropped} == {"solved-by-texts"}
    assert "guessing" in found.dropped[0].detail
    held = [said for said in found.words if "loses" in said and "What to do" in said]
    assert any("false_model" in said for said in held)


def test_plausible_descriptions_pass_in_nearly_all_makings():
    n_stopped = 0
    for seed in range(8 if IS_THOROUGH else 3):
        found = hold_back(drafts(plausibly, seed=seed), RULES, seed=seed)
        n_stopped += bool(found.dropped)
    assert n_stopped <= 1
    assert set(found.verdicts.values()) == {"chance"}


def test_only_named_tasks_are_held_back_and_all_are_tested():
    some = drafts(absurdly, seed=0)
    found = hold_back(some, msgspec.structs.replace(RULES, hold=("tso",), draws=999), seed=0)
    assert found.dropped == ()
    assert "above" in {one.verdict for one in found.findings}
    assert any("hold does not name its task" in said for said in found.words)


def test_too_few_are_released_with_a_mark_or_held():
    some = [one for one in drafts(plausibly, seed=0, per_film=1)[:4]]
    kept = hold_back(some, RULES, seed=0)
    assert (kept.dropped, set(kept.verdicts.values())) == ((), {"untold"})
    assert any("too few questions or sources" in said for said in kept.words)
    held = hold_back(some, msgspec.structs.replace(RULES, untold="hold"), seed=0)
    assert {one.reason for one in held.dropped} == {"untold"}


def test_videos_of_one_source_are_one_source():
    some = drafts(plausibly, seed=0)
    found = hold_back(some, RULES, sources=dict.fromkeys(films(), "film"), seed=0)
    assert {one.verdict for one in found.findings} == {"untold"}


def test_an_unknown_task_is_refused():
    with pytest.raises(UnknownNameError, match="nothing"):
        GateRules(blind=BlindRules(hold=("nothing",))).check_hold(("sva", "tso"))
    GateRules(blind=BlindRules(hold=("sva", "all"))).check_hold(("sva", "tso"))


def test_what_is_held_back_is_the_makers_unless_the_configuration_says():
    tasks = {"hand-state": "Hand State"}
    assert BlindRules().in_maker(("all",), tasks).hold == ("all",)
    assert BlindRules(hold=()).in_maker(("all",), tasks).hold == ()
    assert BlindRules(hold=("hand-state",)).in_maker(("all",), tasks).hold == ("hand state",)
