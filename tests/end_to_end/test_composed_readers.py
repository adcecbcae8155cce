"""Composed questions about rendered films, answered by readers that see the pixels and nothing else.

A reader finds the cards in the frames by their codes, and goes through the program of a question by itself.
One that ignores nothing has to be right always. One that ignores a condition takes any card that is left: it
is right as often as the proof says (`guess`), and where its value is offered, `option_of` names that
condition. One that lacks a skill ignores every condition that takes it.
"""

import json
from collections import Counter
from pathlib import Path

import av
import pytest

from conftest import IS_THOROUGH
from subjects.composed_reader import Reader, Thing
from subjects.phantom_scenes import cards_of
from vidence.ask.phantom.code import read
from vidence.ask.phantom.scene import colour_of
from vidence.ask.phantom.world import WorldSpec, render
from vidence.make.makers.compose import create
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.sources.scene_writing import write_scenes

CONFIG = """
name = "cards"
scenes = "cards.jsonl"

[quota]
per_video = {n}
conditions = [2, 5]
facts = 0
tries = 400
"""
N_FILMS, N_EACH = (5, 12) if IS_THOROUGH else (2, 6)
SHORT, LONG = 0.5, 1.2
"""Of a sixteenth of the film; what is seen for less is short or long."""


def watched(path: Path) -> tuple[Thing, ...]:
    """The cards of a film, from its frames."""
    seen: dict[int, tuple[int, float, float]] = {}
    with av.open(str(path)) as film:
        for frame in film.decode(video=0):
            code = read(frame.to_ndarray(format="rgb24"))
            end_s = float(frame.time)
            if code is not None:
                first_s = seen[code.piece][1] if code.piece in seen else end_s
                seen[code.piece] = code.value, first_s, end_s
    cards = []
    for piece, (number, first_s, last_s) in seen.items():
        share = (last_s - first_s) / (end_s / 16)
        stays = "short" if share < SHORT else "long" if share < LONG else "lasting"
        told = {"colour": colour_of(piece), "number": number, "stays": stays}
        cards.append(Thing("card", ((first_s, last_s),), told))
    return tuple(cards)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """For each question its program, key and proof, and the cards that are seen in its film."""
    folder = tmp_path_factory.mktemp("cards")
    size = (320, 240)
    spec = WorldSpec(name="cards", n_videos=N_FILMS, items_per_video=1, min_s=24, max_s=30, sizes=(size,))
    world = render(folder / "world", spec, seed=5)
    write_scenes(cards_of(world), folder / "cards.jsonl")
    (folder / "config.toml").write_text(CONFIG.format(n=N_EACH))
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite", is_trusted=True)
    create().make(folder / "config.toml", overrides=MakeOverrides(out=folder / "made"), context=context)
    cards = {Path(one.path).stem: watched(folder / "world" / one.path) for one in world.videos}
    files = [
        [json.loads(line) for line in (folder / "made" / f"{name}.jsonl").read_text().splitlines()]
        for name in ("compositions", "keys", "proofs")
    ]
    return [(*one, cards[one[0]["scene"]]) for one in zip(*files, strict=True)]


def without_place(key: dict, proof: dict) -> set[str]:
    """The conditions whose values found no place among the options."""
    placed = {name for names in key["option_of"].values() for name in names}
    return {one["id"] for one in proof["conditions"]} - placed


def test_who_ignores_nothing_is_always_right(asked):
    assert len(asked) >= 2 * N_EACH // 3 * N_FILMS
    for program, _, proof, cards in asked:
        assert Reader(cards).answers(program["steps"]) == [proof["answer"]["value"]]


def test_who_ignores_a_condition_is_right_as_often_as_the_proof_says(asked):
    landed, n_conditions = Counter(), 0
    for program, key, proof, cards in asked:
        right = proof["answer"]["value"]
        for condition in proof["conditions"]:
            found = Reader(cards, ignored=frozenset([condition["id"]])).answers(program["steps"])
            n_conditions += 1
            share = found.count(right) / len(found) if found else 0.0
            assert share == pytest.approx(condition["without"].get("guess", 0.0), abs=1e-6)
            for value in found:
                if value != right:
                    named = key["option_of"].get(str(value))
                    landed["not offered" if named is None else condition["id"] in named] += 1
            if condition["id"] not in without_place(key, proof):
                assert {str(one) for one in found} & set(key["option_of"]), (program, condition["id"])
    assert n_conditions >= 3 * N_EACH // 2 * N_FILMS
    assert landed[False] == 0
    assert landed[True] > landed["not offered"] / 4


@pytest.mark.parametrize("skill", ["semantic", "temporal"])
def test_who_lacks_a_skill_is_caught_by_the_questions_that_need_it_and_by_no_other(asked, skill):
    caught, passed = 0, 0
    for program, _, proof, cards in asked:
        lacked = frozenset(one["id"] for one in proof["conditions"] if one["skill"] == skill)
        values = set(Reader(cards, ignored=lacked).answers(program["steps"]))
        if lacked:
            assert values != {proof["answer"]["value"]}
            caught += 1
        else:
            assert values == {proof["answer"]["value"]}
            passed += 1
    assert caught >= N_EACH // 6 * N_FILMS
    assert passed >= 1 or skill == "temporal"
