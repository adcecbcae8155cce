"""People who have a track and no card: they are counted, and nobody is asked about whom they look like."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.planted_people import strangers, street
from vidence.catalog import Spec, create
from vidence.make.pipeline.material import Card, Corpus, Draft, Dropped, Material
from vidence.seeing.tracks import TrackedVideo

N_DIMS = 40


def own_looks(tracked: TrackedVideo) -> dict[str, np.ndarray]:
    """Looks of length 1, of everybody, as unlike as can be."""
    every = (*tracked.tracks, *tracked.others)
    return {one.track_id: np.eye(N_DIMS, dtype=np.float32)[i] for i, one in enumerate(every)}


def seen(*, n_others: int = 3, twins: dict[str, str] | None = None, hidden: tuple[str, ...] = ()) -> Material:
    """A street; `twins` says who looks like whom, `hidden` who was left out by refining."""
    what = street(3, n_others=n_others).material
    tracked = what.tracked
    looks = own_looks(tracked)
    for name, other in (twins or {}).items():
        looks[name] = looks[other]
    tracks = tuple(one for one in tracked.tracks if one.track_id not in hidden)
    others = tuple(one for one in tracked.tracks if one.track_id in hidden)
    return replace(what, tracked=replace(tracked, tracks=tracks, others=others, looks=looks))


def made(name: str, what: Material, corpus: Corpus | None = None, **options: str) -> list[Draft | Dropped]:
    task = create("task", Spec(name=name, options=options))
    flow = task.draft(what, corpus or strangers(1), most=200, rng=np.random.default_rng(0))
    with pytest.raises(StopIteration) as stopped:
        next(flow)
    return list(stopped.value.value)


def drafts(found: list[Draft | Dropped]) -> list[Draft]:
    return [one for one in found if isinstance(one, Draft)]


def about(draft: Draft) -> str:
    return " ".join(draft.facts.values())


@pytest.mark.parametrize("name", ["mpdr", "aglt", "megl"])
def test_every_draft_says_how_many_were_not_described(name):
    for n in (0, 3):
        found = drafts(made(name, seen(n_others=n)))
        assert found
        assert {one.facts["people without a card"] for one in found} == {str(n)}
    left_out = drafts(made(name, seen(hidden=("t8", "t9"))))
    assert {one.facts["people without a card"] for one in left_out} == {"3"}


@pytest.mark.parametrize("name", ["mpdr", "aglt", "megl"])
@pytest.mark.parametrize("hidden", [(), ("t9",)])
def test_nobody_is_asked_about_whom_somebody_without_a_card_looks_like(name, hidden):
    free = drafts(made(name, seen(hidden=hidden)))
    assert any("track t1," in about(one) for one in free)
    found = made(name, seen(twins={"t9": "t1"}, hidden=hidden))
    assert drafts(found)
    assert not any("track t1," in about(one) for one in drafts(found))
    (why,) = [one for one in found if isinstance(one, Dropped) and one.reason == "may-be-another"]
    assert why.what == "street: track t1"
    assert "the track t9" in why.detail
    any_look = drafts(made(name, seen(twins={"t9": "t1"}, hidden=hidden), same_look="0"))
    assert [one.question for one in any_look] == [one.question for one in free]


def test_two_with_cards_are_told_apart_by_what_is_said():
    found = made("aglt", seen(twins={"t2": "t1"}))
    assert any("track t1," in about(one) for one in drafts(found))


def test_who_was_there_for_a_moment_counts_for_nothing():
    what = seen(twins={"t9": "t1"}, hidden=("t9",))
    (other,) = what.tracked.others
    short = replace(
        other,
        frame_indices=other.frame_indices[:5],
        boxes_px=other.boxes_px[:5],
        confidences=other.confidences[:5],
        is_detected=other.is_detected[:5],
    )
    found = drafts(made("aglt", replace(what, tracked=replace(what.tracked, others=(short,)))))
    assert any("track t1," in about(one) for one in found)
    assert {one.facts["people without a card"] for one in found} == {"2"}


def test_a_stranger_whom_somebody_here_looks_like_is_not_called_absent():
    what = seen()
    look = tuple(float(value) for value in what.tracked.looks["t9"])
    other = tuple(float(value) for value in np.eye(N_DIMS)[-1])
    cards = tuple(
        Card(track_id=name, kind="A", text=text)
        for name, text in (("s1", "A miner with a lantern."), ("s2", "A monk under a kite."))
    )
    corpus = Corpus(a_cards={"w": cards}, looks={"w": {"s1": look, "s2": other}})
    which = [one for one in drafts(made("megl", what, corpus)) if one.structure == "which"]
    assert any("A monk under a kite." in one.question for one in which)
    assert not any("A miner with a lantern." in one.question for one in which)
    free = drafts(made("megl", what, Corpus(a_cards={"w": cards})))
    assert any("A miner with a lantern." in one.question for one in free)
