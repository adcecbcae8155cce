"""Which descriptions of shots are used, and what is asked about them."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.planted_people import trailer
from vidence.catalog import Spec, create
from vidence.errors import UsageError
from vidence.make.pipeline.material import Change, Corpus, Draft, Dropped, Material, SceneCard, VideoSource
from vidence.seeing.shooting import Shot

TWO = (Change(kind="modification", before="red", after="blue"), Change(kind="addition", after="a dog"))
TEXTS = (
    "A nun reads in a cellar",
    "two boxers hug under neon light",
    "Snow falls on a harbour.",
    "a child paints a fence",
    "An empty desert road at noon",
)


def film(texts: tuple[str, ...] = TEXTS, *, more: tuple[SceneCard, ...] = ()) -> Material:
    """Shots of four seconds, one after the other, each with a true description."""
    shots = tuple(
        Shot(shot_id=f"s{i}", first_frame=40 * i, last_frame=40 * i + 39, start_s=4.0 * i, end_s=4.0 * i + 4)
        for i in range(len(texts))
    )
    cards = tuple(SceneCard(card_id=f"c{i}", shot_id=f"s{i}", text=text) for i, text in enumerate(texts))
    source = VideoSource(
        video_id="v", path="v.mp4", n_frames=400, fps=10.0, duration_s=40.0, width_px=640, height_px=360
    )
    return Material(source=source, shots=shots, scene_cards=(*cards, *more))


def false(i: int, text: str, changes: tuple[Change, ...] = TWO) -> SceneCard:
    return SceneCard(card_id=f"f{i}", shot_id=f"s{i}", text=text, changes=changes)


def made(name: str, what: Material, *, most: int = 20, **options: str) -> list[Draft | Dropped]:
    flow = create("task", Spec(name=name, options=options)).draft(
        what, Corpus(), most=most, rng=np.random.default_rng(0)
    )
    with pytest.raises(StopIteration) as stopped:
        next(flow)
    return list(stopped.value.value)


def drafts(found: list[Draft | Dropped], structure: str = "") -> list[Draft]:
    return [d for d in found if isinstance(d, Draft) and structure in ("", d.structure)]


def reasons(found: list[Draft | Dropped]) -> dict[str, str]:
    return {d.what: d.reason for d in found if isinstance(d, Dropped)}


def test_without_false_descriptions_there_is_nothing_to_abstain_from() -> None:
    found = drafts(made("tso", film()))
    assert {d.structure for d in found} == {"order", "first", "last", "between"}
    assert not any("At least two" in text for d in found for text in d.choices)
    assert all(len(d.evidence) == (4 if d.structure == "order" else 5) for d in found)


def test_descriptions_are_shown_as_sentences() -> None:
    (draft,) = drafts(made("tso", film()), "first")
    shown = [line[3:] for line in draft.question.splitlines()[1:6]]
    assert sorted(shown) == sorted(f"{t[0].upper()}{t[1:].rstrip('.')}." for t in TEXTS)


def test_evidence_are_the_shots_in_order_each_with_its_middle() -> None:
    (draft,) = drafts(made("tso", film()), "last")
    assert [(e.start_s, e.end_s, e.frames) for e in draft.evidence] == [
        (0.0, 4.0, (19,)), (4.0, 8.0, (59,)), (8.0, 12.0, (99,)), (12.0, 16.0, (139,)), (16.0, 20.0, (179,))
    ]  # fmt: skip


def test_frames_that_the_writer_saw_are_the_evidence() -> None:
    what = film()
    seen = tuple(
        SceneCard(card_id=c.card_id, shot_id=c.shot_id, text=c.text, frames=(2 + 40 * i, 30 + 40 * i, 999))
        for i, c in enumerate(what.scene_cards)
    )
    (draft,) = drafts(made("tso", replace(what, scene_cards=seen)), "last")
    assert [e.frames for e in draft.evidence] == [(30,), (70,), (110,), (150,), (190,)]


def test_two_shots_with_one_description_are_not_used() -> None:
    found = made("tso", film((*TEXTS, "A nun reads in the cellar!")))
    assert reasons(found)["v: scene card c0"] == "fits-another-shot"
    assert reasons(found)["v: scene card c5"] == "fits-another-shot"
    assert not any("nun" in d.question for d in drafts(found))


def test_a_false_description_that_fits_another_shot_is_not_used() -> None:
    found = made(
        "sva", film(more=(false(0, "Snow falls on a harbour"), false(1, "Two boxers box in a park")))
    )
    assert reasons(found)["v: scene card f0"] == "fits-another-shot"


@pytest.mark.parametrize("n", [0, 1, 6])
def test_false_descriptions_have_two_to_five_changes(n: int) -> None:
    changes = tuple(Change(kind="addition", after=f"thing {i}") for i in range(n))
    what = film(more=(false(0, "A monk reads in an attic", changes), false(1, "Two boxers box in a park")))
    found = reasons(made("sva", what))
    if n:
        assert found["v: scene card f0"] == "number-of-changes"
    else:  # without changes it is a second true description of its shot, which is not needed
        assert "v: scene card f0" not in found


def test_a_false_description_that_says_the_same_is_not_used() -> None:
    found = made(
        "sva", film(more=(false(0, "a nun reads, in a cellar."), false(1, "Two boxers box in a park")))
    )
    assert reasons(found)["v: scene card f0"] == "false-card-says-the-same"


def test_cards_of_no_shot_empty_cards_and_flashes() -> None:
    flash = Shot(shot_id="s9", first_frame=200, last_frame=202, start_s=20.0, end_s=20.3)
    what = film(
        more=(
            SceneCard(card_id="x", shot_id="nowhere", text="A ghost"),
            SceneCard(card_id="y", shot_id="s9", text="A flash of light"),
            SceneCard(card_id="z", shot_id="s1", text=" ..."),
        )
    )
    found = reasons(made("tso", replace(what, shots=(*what.shots, flash))))
    assert found["v: scene card x"] == "no-such-shot"
    assert found["v: scene card y"] == "shot-too-short"
    assert found["v: scene card z"] == "empty-card"


def test_too_few_shots_are_accounted_for() -> None:
    found = made("tso", film(TEXTS[:3]))
    assert not drafts(found)
    assert set(reasons(found).values()) == {"too-few-scene-cards"}


def test_sva_needs_false_descriptions() -> None:
    assert reasons(made("sva", film())) == {"v": "no-false-scene-cards"}


def _true_numbers(draft: Draft) -> list[int]:
    """The numbers of the true descriptions, in the order of their shots."""
    true = [name for name, said in draft.facts.items() if said.endswith("true")]
    return sorted((int(name.split()[1]) for name in true), key=lambda n: draft.facts[f"description {n}"])


def test_sva_may_have_three_descriptions_where_five_options_are_left() -> None:
    """Every second order and set has three; whatever is asked has five options, and the right one is true."""
    what = film(more=tuple(false(i, f"Nothing but a blue dog in place {i}") for i in range(4)))
    found = drafts(made("sva", what, most=60, fewest="3"))
    n_listed: dict[str, set[int]] = {}
    for draft in found:
        n = sum(name.startswith("description ") for name in draft.facts)
        n_listed.setdefault(draft.structure, set()).add(n)
        true, right = _true_numbers(draft), draft.choices[draft.answer_index]
        assert len({*draft.choices}) == 5
        if draft.structure == "which":
            words = {0: "None of them", n: {3: "All three of them", 4: "All four of them"}[n]}
            said = [word for word in right.replace(",", " ").split() if word.isdecimal()]
            assert right == words[len(true)] if len(true) in words else said == [str(i) for i in sorted(true)]
        if draft.structure == "order" and len(true) >= 2:
            assert [int(word) for word in right.replace(",", " ").split() if word.isdecimal()] == true
    assert n_listed == {"first": {4}, "last": {4}, "how-many": {4}, "order": {3, 4}, "which": {3, 4}}
    usual = drafts(made("sva", what, most=60))
    assert {sum(name.startswith("description ") for name in d.facts) for d in usual} == {4}
    with pytest.raises(UsageError, match="fewest"):
        made("sva", what, fewest="2")


def test_false_descriptions_can_be_left_out_of_tso() -> None:
    found = drafts(made("tso", trailer(1), mixed="false"))
    assert found
    assert not any("false" in fact for d in found for fact in d.facts.values())


def test_an_option_that_cannot_be_read() -> None:
    with pytest.raises(UsageError, match="alike='much' cannot be read"):
        create("task", Spec(name="sva", options={"alike": "much"}))
