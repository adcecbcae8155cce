"""Composed questions about rendered films, answered by readers that see the pixels and nothing else.

A reader finds the cards in the frames by their codes, and goes through the program of a question by itself.
One that ignores nothing has to be right always. One that ignores a condition takes any card that is left: it
is right as often as the proof says (`guess`), and where its value is offered, `option_of` names that
condition. One that lacks a skill ignores every condition that takes it.
"""

import dataclasses
import json
import math
from collections import Counter
from pathlib import Path

import av
import numpy as np
import pytest

from conftest import IS_THOROUGH
from subjects.composed_reader import Reader, Thing
from subjects.phantom_scenes import cards_of
from subjects.scene_sources import told
from subjects.streets import (
    FIGURE_PX,
    HEIGHT_PX,
    WIDTH_PX,
    Passer,
    Street,
    plan_street,
    write_street,
)
from vidence import catalog
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
per_video = 12
conditions = [2, 5]
facts = 0
tries = 400
"""
N_FILMS, N_STREETS = (5, 3) if IS_THOROUGH else (3, 2)
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
    (folder / "config.toml").write_text(CONFIG)
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite", is_trusted=True)
    create().make(folder / "config.toml", out=folder / "made", overrides=MakeOverrides(), context=context)
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
    assert len(asked) >= 8 * N_FILMS
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
    assert n_conditions >= 18 * N_FILMS
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
    assert caught >= 2 * N_FILMS
    assert passed >= 1 or skill == "temporal"


# --------------------------------------------------------------------------- drawn streets


def passing(street: Street) -> tuple[Reader, dict[str, Thing]]:
    """Who passes in a street as it was planned, and what happens."""
    people, events = {}, []
    for number, passer in enumerate(street.passers, start=1):
        span = passer.first_frame / street.fps, (passer.last_frame + 1) / street.fps
        told = {"enters": passer.enters or "there already", "leaves": passer.leaves or "still there"}
        people[f"p{number}"] = who = Thing("person", (span,), told)
        for kind, edge, frame in (
            ("enter", passer.enters, passer.first_frame),
            ("leave", passer.leaves, passer.last_frame),
        ):
            if edge is not None:
                at = frame / street.fps, (frame + 1) / street.fps
                events.append(Thing("event", (at,), {"kind": kind, "who": who}))
    places = {who: passer for who, passer in zip(people.values(), street.passers, strict=True)}

    def related(one: Thing, relation: str, other: Thing) -> bool:
        if relation == "nearest_to":
            others = [who for who in people.values() if who is not other]
            return one is min(others, key=lambda who: distance(places[who], places[other]))
        left, right = (one, other) if relation == "left_of" else (other, one)
        return longest_left(places[left], places[right]) >= street.fps / 2

    return Reader([*people.values(), *events], related), people


def together(one: Passer, other: Passer):
    for frame in range(max(one.first_frame, other.first_frame), min(one.last_frame, other.last_frame) + 1):
        yield one.box_px(frame), other.box_px(frame)


def distance(one: Passer, other: Passer) -> float:
    return min((math.hypot(a[0] - b[0], a[3] - b[3]) for a, b in together(one, other)), default=math.inf)


def longest_left(one: Passer, other: Passer) -> int:
    """For how many frames on end somebody is to the left of somebody by a quarter of a figure."""
    longest = run = 0
    for a, b in together(one, other):
        run = run + 1 if b[0] - a[0] > FIGURE_PX[0] / 4 else 0
        longest = max(longest, run)
    return longest


def test_questions_about_drawn_streets_are_true_of_their_plan(tmp_path):
    n, shares, guesses, shapes = 0, [], [], Counter()
    for seed in range(N_STREETS):
        street = plan_street(f"street-{seed}", looks=list(range(8)), rng=np.random.default_rng(seed))
        write_street(street, tmp_path)
        size = f"{WIDTH_PX}x{HEIGHT_PX}"
        path = tmp_path / f"{street.name}-ids.txt"
        spec = f"tracks:{path}?fps={street.fps}&identities=true&size={size}&complete=person|enter|leave"
        told_of = catalog.create("scene-source", spec)
        for program, proof in composed(told_of, tmp_path / street.name):
            reader, _ = passing(street)
            right = proof["answer"]["value"]
            assert set(reader.answers(program["steps"])) == {right}, program["question"]
            n += 1
            for condition in proof["conditions"]:
                one = dataclasses.replace(reader, ignored=frozenset([condition["id"]]))
                found = one.answers(program["steps"])
                assert set(found) != {right}, program["question"]
                shares.append(found.count(right) / len(found) if found else 0.0)
                guesses.append(condition["without"].get("guess", 0.0))
            shapes[program["steps"][-1]["value"]["op"]] += 1
    # What is too near to be told is in no proof: there `guess` is that of the other ways.
    assert abs(sum(shares) - sum(guesses)) / len(shares) < 0.02
    assert n >= 5 * N_STREETS
    assert len(shares) >= 16 * N_STREETS
    assert set(shapes) == {"attribute", "aggregate"}


def composed(source, folder: Path) -> list[tuple[dict, dict]]:
    """The programs and proofs of what is made from a source."""
    folder.mkdir()
    write_scenes(told(source), folder / "cards.jsonl")
    (folder / "config.toml").write_text(CONFIG.replace("tries = 400", "tries = 600"))
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite", is_trusted=True)
    create().make(folder / "config.toml", out=folder / "made", overrides=MakeOverrides(), context=context)
    files = [
        [json.loads(line) for line in (folder / "made" / f"{name}.jsonl").read_text().splitlines()]
        for name in ("compositions", "proofs")
    ]
    return list(zip(*files, strict=True))
