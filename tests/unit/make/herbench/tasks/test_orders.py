"""FAM, FOM and ASII on logs small enough to check by hand."""

import re
from itertools import combinations, pairwise

import msgspec
import numpy as np
import pytest

from subjects.kitchens import event, events, material
from subjects.log_tasks import ask, drafts, reasons, right
from vidence import catalog
from vidence.errors import UsageError
from vidence.make.herbench.tasks import guessing
from vidence.make.herbench.tasks.events import event_context
from vidence.make.herbench.tasks.guessing import LEAST_VIDEOS
from vidence.make.herbench.tasks.orders import perturbed, rotate, swap_mid, wrong_order, wrong_orders
from vidence.make.pipeline.material import Corpus, Event
from vidence.make.sources.event_index import EventIndex

HERE = [("wash", "carrot"), ("cut", "carrot"), ("open", "kettle"), ("stir", "rice"), ("fold", "apron")]
ELSEWHERE = events([*HERE, ("peel", "carrot"), ("fill", "kettle")] * 3, video_id="w")


def narrated(verb: str, noun: str, narration: str) -> Event:
    return msgspec.structs.replace(event(90, verb, noun), narration=narration)


def test_a_false_action_has_an_object_of_the_video_and_a_verb_of_the_corpus() -> None:
    made = drafts(ask("fam", events(HERE), ELSEWHERE), "absent")
    assert {right(draft) for draft in made} == {"peel carrot", "fill kettle"}
    for draft in made:
        assert draft.question == "Which of these actions does NOT occur in the video?"
        assert len(draft.evidence) == draft.k == 4
        shown = {span.note for span in draft.evidence}
        assert shown == set(draft.choices) - {right(draft)}
        assert draft.facts[f"does not occur: {right(draft)}"].startswith("0 times here, 3 times elsewhere")


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        (event(90, "peel", "carrot"), "it occurs"),
        (event(90, "skin", "carrot"), "a near synonym occurs with the object"),
        (event(90, "peel", "lemon", others=("carrot",)), "it is a further noun of such an event"),
        (event(90, "peel", "carrot top"), "something that shares a word"),
        (narrated("hold", "knife", "hold knife for peeling carrots"), "the narration says it"),
        (
            msgspec.structs.replace(narrated("peel", "carrot", "pare carrot"), verb="pare"),
            "it has the class of peeling",
        ),
    ],
)
def test_an_action_that_the_log_may_mean_is_never_called_absent(extra: Event, why: str) -> None:
    made = drafts(ask("fam", [*events(HERE), extra], ELSEWHERE))
    false = {right(draft) for draft in made if draft.structure == "absent"}
    assert false == {"fill kettle"}, why


@pytest.mark.parametrize(("verb", "is_asked"), [("shake", True), ("pour", False), ("tip", False)])
def test_what_is_filled_is_not_called_absent_where_something_is_poured(verb, is_asked):
    """Who pours juice has filled something; the log does not say what."""
    here = events([*HERE, ("wash", "blender"), (verb, "juice")])
    elsewhere = events(
        [*HERE * 3, *[("fill", "blender")] * 3, *[("wash", "blender")] * 3, *[(verb, "juice")] * 3],
        video_id="w",
    )
    asked = drafts(ask("fam", here, elsewhere), "absent")
    assert ("fill blender" in {right(draft) for draft in asked}) == is_asked


@pytest.mark.parametrize(("n_others", "is_asked"), [(LEAST_VIDEOS - 2, False), (LEAST_VIDEOS - 1, True)])
def test_a_false_action_has_a_verb_of_the_video_and_any_object_where_sets_are_matched(n_others, is_asked):
    logs = {f"w{i}": events([*HERE, ("open", "fridge"), ("peel", "lemon")]) for i in range(n_others)}
    corpus = Corpus(events={"v": events(HERE), **logs})
    pool = catalog.create("task", "fam").pool(event_context("v", corpus.events["v"], corpus))
    assert [thing.text for thing in pool.absent] == ["open fridge"] * is_asked
    assert all(thing.weight == 0.1 for thing in pool.absent)


def test_an_action_must_be_common_elsewhere_to_be_asked() -> None:
    elsewhere = events([*HERE * 3, ("peel", "carrot"), ("peel", "carrot")], video_id="w")
    assert drafts(ask("fam", events(HERE), elsewhere)) == []
    made = drafts(ask("fam", events(HERE), elsewhere, least="2"), "absent")
    assert {right(draft) for draft in made} == {"peel carrot"}


def test_what_logs_are_silent_about_is_asked_only_on_demand() -> None:
    elsewhere = events([*HERE, ("take", "carrot")] * 3, video_id="w")
    assert reasons(ask("fam", events(HERE), elsewhere)) == {"too-few-actions": 3}
    made = drafts(ask("fam", events(HERE), elsewhere, implied="true"), "absent")
    assert {right(draft) for draft in made} == {"take carrot"}


def test_a_false_object_goes_with_a_verb_of_the_video() -> None:
    elsewhere = events([*HERE, ("stir", "noodle"), ("squeeze", "cork")] * 3, video_id="w")
    made = drafts(ask("fom", events(HERE), elsewhere), "absent")
    assert {right(draft) for draft in made} == {"noodle"}
    assert "does the camera wearer NOT interact with" in made[0].question
    assert "mostly with 'stir'" in made[0].facts["does not occur: noodle"]
    assert (
        "does the cook NOT interact"
        in drafts(ask("fom", events(HERE), elsewhere, who="the cook"), "absent")[0].question
    )


@pytest.mark.parametrize(
    "extra",
    [
        event(90, "wash", "noodle"),
        event(90, "wash", "lemon", others=("noodle",)),
        event(90, "wash", "noodle box"),
    ],
)
def test_an_object_that_the_log_names_anywhere_is_never_called_absent(extra: Event) -> None:
    elsewhere = events([*HERE, ("stir", "noodle")] * 3, video_id="w")
    assert drafts(ask("fom", [*events(HERE), extra], elsewhere), "absent") == []


def test_looking_at_a_thing_is_not_handling_it() -> None:
    here = [*events(HERE[1:]), event(90, "look at", "scale")]
    elsewhere = events([*HERE, ("look at", "scale"), ("stir", "noodle")] * 3, video_id="w")
    for draft in drafts(ask("fom", here, elsewhere)):
        assert "scale" not in " ".join((draft.question, *draft.choices))


def test_things_that_look_alike_are_not_told_apart() -> None:
    elsewhere = events([*HERE, ("wash", "mug")] * 3, video_id="w")
    assert drafts(ask("fom", [*events(HERE), event(90, "wash", "glass")], elsewhere), "absent") == []
    assert {right(d) for d in drafts(ask("fom", events(HERE), elsewhere), "absent")} == {"mug"}


def test_swaps_and_rotations_by_hand() -> None:
    assert swap_mid((0, 1, 2, 3, 4), 0, 2) == (2, 1, 0, 3, 4)
    assert rotate((0, 1, 2, 3, 4), 1) == (1, 2, 3, 4, 0)
    assert len(perturbed((0, 1, 2, 3, 4))) == 6 + 4
    for first, second in ((1, 2), (3, 2), (0, 0)):
        with pytest.raises(UsageError, match="neighbours"):
            swap_mid((0, 1, 2, 3, 4), first, second)
    for by in (0, 5, -1):
        with pytest.raises(UsageError, match="expected 1 to 4"):
            rotate((0, 1, 2, 3, 4), by)


def test_wrong_orders_are_refused_where_the_log_has_them(rng: np.random.Generator) -> None:
    """All ten direct ones but two are there: the two are taken, and orders of two steps."""
    allowed = {(1, 2, 3, 4, 0), (2, 1, 0, 3, 4), (3, 1, 0, 2, 4), (2, 3, 0, 4, 1)}
    found = wrong_orders(5, is_wrong=lambda order: order in allowed, rng=rng)
    assert {one.order for one in found} <= allowed
    assert {one.order: one.how for one in found}[(1, 2, 3, 4, 0)] == "rotate 1"
    assert wrong_order(5, is_wrong=lambda order: False, rng=rng) is None
    only = wrong_order(5, is_wrong=lambda order: order == (4, 1, 2, 3, 0), rng=rng)
    assert only is not None
    assert only.how == "swap_mid 1 5"


def test_the_right_order_is_no_more_like_the_others_than_they_are(rng: np.random.Generator) -> None:
    """By places, by pairs the other way round, and by neighbours; ties are shared."""
    n_right = np.zeros(3)
    for _ in range(600):
        orders = [
            (0, 1, 2, 3, 4),
            *(step.order for step in wrong_orders(5, is_wrong=lambda _: True, rng=rng)),
        ]
        seen = (
            [set(enumerate(order)) for order in orders],
            [set(combinations(order, 2)) for order in orders],
            [set(pairwise(order)) for order in orders],
        )
        for i, parts in enumerate(seen):
            alike = [sum(len(mine & other) for other in parts) for mine in parts]
            n_right[i] += (alike[0] == max(alike)) / alike.count(max(alike))
    assert n_right / 600 == pytest.approx(0.2, abs=0.05)


TEN = [
    (verb, noun)
    for verb, noun in zip(
        ("open", "wash", "cut", "stir", "peel") * 2,
        ("kettle", "carrot", "lemon", "rice", "basil", "apron", "cork", "scale", "candle", "noodle"),
        strict=True,
    )
]


def test_orders_are_those_of_the_log() -> None:
    made = ask("asii", events(TEN), most=30)
    place = {" ".join(pair): i for i, pair in enumerate(TEN)}
    assert {draft.structure for draft in drafts(made)} == {"own-events", "same-events", "between"}
    for draft in drafts(made):
        listed = dict(re.findall(r"^(\d)\. (.+)$", draft.question, re.MULTILINE))
        ends = re.findall(r"'([^']+)'", draft.question)
        for choice in draft.choices:
            said = [listed.get(part, part) for part in choice.split(" -> ")]
            told = [place[text] for text in (*ends[:1], *said, *ends[1:])]
            assert (told == sorted(told)) == (choice == right(draft))
        starts = [span.start_s for span in draft.evidence]
        assert starts == sorted(starts)
        assert len(starts) == draft.k == 5


def hits_by_the_usual_order() -> list[bool]:
    """Forty videos with ten deeds in about the same order: whether the most usual of the orders is right."""
    rng = np.random.default_rng(7)
    corpus = Corpus(
        events={
            f"v{i}": events(
                [TEN[j] for j in (np.arange(10) + rng.normal(0, 3, 10)).argsort()], video_id=f"v{i}"
            )
            for i in range(40)
        }
    )
    place = {" ".join(pair): i for i, pair in enumerate(TEN)}
    task, hits = catalog.create("task", "asii"), []
    for seed, (name, log) in enumerate(corpus.events.items()):
        flow = task.draft(material(log, video_id=name), corpus, most=9, rng=np.random.default_rng(seed))
        with pytest.raises(StopIteration) as stop:
            next(flow)
        for draft in drafts(stop.value.value):
            listed = dict(re.findall(r"^(\d)\. (.+)$", draft.question, re.MULTILINE))
            orders = [[place[listed.get(text, text)] for text in c.split(" -> ")] for c in draft.choices]
            usual = [sum(a < b for a, b in combinations(order, 2)) for order in orders]
            hits.append(int(np.argmax(usual)) == draft.answer_index)
    return hits


def test_the_usual_order_of_events_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    hits = hits_by_the_usual_order()
    assert len(hits) > 200
    assert np.mean(hits) < 0.3
    monkeypatch.setattr(guessing, "LEAST_VIDEOS", 41)
    assert np.mean(hits_by_the_usual_order()) > 0.45


def test_events_that_overlap_are_never_ordered() -> None:
    together = [event(i, verb, noun, start_s=float(i), end_s=i + 30.0) for i, (verb, noun) in enumerate(TEN)]
    assert reasons(ask("asii", together)) == {"too-few-events": 3}
    assert drafts(ask("asii", events(TEN[:5]), apart_s="1.5"))
    assert drafts(ask("asii", events(TEN[:5]), apart_s="2.5")) == []


def test_the_index_counts_by_class_where_there_is_one() -> None:
    index = EventIndex({"v": events(HERE), "w": ELSEWHERE})
    pair = ("#4", "#1")
    assert index.texts_of(pair) == ("peel", "carrot")
    assert (index.elsewhere(pair, "v"), index.videos_elsewhere(pair, "v")) == (3, 1)
    assert (index.elsewhere(pair, "w"), index.videos_elsewhere(pair, "w")) == (0, 0)
    assert set(index.verbs_with("#1")) == {"#1", "#2", "#4"}


def test_plurals_are_said_as_they_are_narrated() -> None:
    dried = msgspec.structs.replace(event(0, "dry", "apron"), narration="dry the aprons")
    index = EventIndex({"v": (dried,)})
    assert index.phrase(("dry", "apron")) == "dry aprons"
    assert index.phrase(("turn on", "tap")) == "turn on tap"
    assert index.ways_to_say(event(1, "put down", "cork")) == {"put down cork", "put cork"}
