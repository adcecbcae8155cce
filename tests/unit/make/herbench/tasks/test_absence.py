"""The three structures of what never occurs, on a pool made by hand."""

import re
from collections import Counter

import numpy as np
import pytest

from subjects.kitchens import event, events, material
from vidence.make.herbench.tasks import absence
from vidence.make.herbench.tasks.absence import AbsenceTask, Absent, Pool, Present, TaskWording, facts, spans
from vidence.make.herbench.tasks.guessing import LEAST_VIDEOS
from vidence.make.pipeline.material import Corpus, Draft

WORDS = TaskWording(
    things="fruits", absent="Which is missing?", which_of_four="Which occur?", all_occur="Where do all?"
)
NAMES = ("apple", "pear", "plum", "fig", "kiwi", "lime", "date", "grape", "melon", "peach", "mango")


def present(i: int, *times: tuple[float, float], n_elsewhere: int = 3) -> Present:
    spans_ = times or ((4.0 * i, 4.0 * i + 2),)
    occurrences = tuple(event(i, "wash", NAMES[i], start_s=a, end_s=b) for a, b in spans_)
    return Present(text=NAMES[i], key=NAMES[i], occurrences=occurrences, n_elsewhere=n_elsewhere)


def missing(name: str, n_elsewhere: int = 3) -> Absent:
    return Absent(text=name, key=name, n_elsewhere=n_elsewhere)


class Fruits(AbsenceTask):
    """Asks about a pool that a test gives."""

    code, title, version = "FRUIT", "Fruits", 1

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self.given = pool

    def pool(self, context) -> Pool:
        return self.given


def ask(n_present: int, absents: int, *, most: int = 60):
    pool = Pool(
        present=[present(i) for i in range(n_present)],
        absent=[missing(f"foil{i}") for i in range(absents)],
        words=WORDS,
        counts={name: 1 for name in NAMES[:n_present]},
    )
    here = events([("wash", "carrot")])
    flow = Fruits(pool).draft(
        material(here), Corpus(events={"v": here}), most=most, rng=np.random.default_rng(0)
    )
    with pytest.raises(StopIteration) as stop:
        next(flow)
    made = stop.value.value
    drafts = [one for one in made if isinstance(one, Draft)]
    return drafts, Counter(one.reason for one in made if not isinstance(one, Draft))


def test_the_one_that_does_not_occur_is_right_among_four_that_do():
    drafts, _ = ask(4, 2)
    missing = [one for one in drafts if one.structure == "absent"]
    assert {one.choices[one.answer_index] for one in missing} == {"foil0", "foil1"}
    for one in missing:
        assert set(one.choices) == {*NAMES[:4], one.choices[one.answer_index]}
        assert len(one.evidence) == 4


def test_the_numbers_that_are_right_are_those_of_what_occurs():
    drafts, _ = ask(4, 9)
    asked = [one for one in drafts if one.structure == "which-of-four"]
    assert len(asked) >= 9
    for one in asked:
        listed = dict(re.findall(r"^(\d)\. (\w+)$", one.question, re.MULTILINE))
        true = [number for number, name in listed.items() if name in NAMES]
        said = re.findall(r"\d", one.choices[one.answer_index])
        assert said == true
        assert len(true) in (3, 4)


def test_everything_of_the_right_group_occurs_and_one_of_each_other_does_not():
    drafts, _ = ask(11, 4)
    asked = [one for one in drafts if one.structure == "all-occur"]
    assert asked
    for one in asked:
        groups = [choice.split("; ") for choice in one.choices]
        n_absent = [sum(name.startswith("foil") for name in group) for group in groups]
        assert n_absent == [int(i != one.answer_index) for i in range(5)]
        assert {len(group) for group in groups} == {3}


class Markets(Fruits):
    """Fruits of which some are on nearly every market and some on few; what is not there is absent."""

    def __init__(self, n_markets: int) -> None:
        rng = np.random.default_rng(3)
        names = [f"{kind} {i}" for kind in ("green", "red", "blue") for i in range(10)]
        shares = dict(zip(names, np.linspace(0.1, 0.7, len(names)).tolist(), strict=True))
        self.there = {
            f"m{i}": [name for name in names if rng.random() < shares[name]] for i in range(n_markets)
        }
        self.n_markets = Counter(name for some in self.there.values() for name in some)

    def pool(self, context) -> Pool:
        here = self.there[context.video_id]
        return Pool(
            present=[
                Present(
                    text=name,
                    key=name,
                    n_elsewhere=self.n_markets[name],
                    occurrences=(event(i, "wash", name, start_s=4.0 * i, end_s=4.0 * i + 2),),
                )
                for i, name in enumerate(here)
            ],
            absent=[missing(name, self.n_markets[name]) for name in self.n_markets if name not in here],
            words=WORDS,
            counts={name: 1 for name in here},
        )


def asked_on(n_markets: int) -> dict[str, list[tuple[int, list[float]]]]:
    """By structure: which choice is right, and on how many markets the fruits of each choice are."""
    task = Markets(n_markets)
    corpus = Corpus(events={name: events([("wash", "carrot")]) for name in task.there})
    asked: dict[str, list[tuple[int, list[float]]]] = {"absent": [], "all-occur": []}
    for seed, (name, here) in enumerate(task.there.items()):
        flow = task.draft(
            material(corpus.events[name], video_id=name), corpus, most=12, rng=np.random.default_rng(seed)
        )
        with pytest.raises(StopIteration) as stop:
            next(flow)
        for one in stop.value.value:
            if isinstance(one, Draft) and one.structure in asked:
                listed = [choice.split("; ") for choice in one.choices]
                is_absent = [any(fruit not in here for fruit in some) for some in listed]
                assert is_absent[one.answer_index] == (one.structure == "absent")
                assert sum(is_absent) == (1 if one.structure == "absent" else 4)
                common = [float(np.mean([task.n_markets[fruit] for fruit in some])) for some in listed]
                asked[one.structure].append((one.answer_index, common))
    return asked


@pytest.fixture(scope="module")
def on_sixty_markets():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(absence, "_LEARNT_FROM", 100)
        return asked_on(60)


@pytest.mark.parametrize("structure", ["absent", "all-occur"])
@pytest.mark.parametrize("guess", [min, max, lambda some: sorted(some)[2]])
def test_how_common_things_are_tells_nothing_where_it_can_be_learnt(on_sixty_markets, guess, structure):
    hits = [common.index(guess(common)) == right for right, common in on_sixty_markets[structure]]
    assert len(hits) > 120
    assert np.mean(hits) < 0.27


def test_what_weighs_less_is_drawn_less_often():
    absent = [missing("usual"), Absent(text="far", key="far", n_elsewhere=3, weight=0.1)]
    pool = Pool(present=[present(i) for i in range(4)], absent=absent, words=WORDS, counts={})
    drawn = absence._draw("v", pool, "absent", n=2000, rng=np.random.default_rng(0))
    assert np.mean(drawn.places[:, 0] == 1) == pytest.approx(1 / 11, abs=0.02)


def test_with_few_videos_every_set_is_kept():
    hits = [common.index(min(common)) == right for right, common in asked_on(LEAST_VIDEOS - 1)["absent"]]
    assert np.mean(hits) > 0.3


@pytest.mark.parametrize(
    ("n_present", "n_absent", "n_refused"), [(3, 9, 3), (9, 0, 3), (10, 4, 1), (11, 3, 1)]
)
def test_too_few_of_either_are_refused_by_structure(n_present, n_absent, n_refused):
    assert ask(n_present, n_absent)[1]["too-few-fruits"] == n_refused


def test_of_several_occurrences_those_that_overlap_least_and_last_longest_are_shown():
    busy = present(0, (0, 4))
    twice = present(1, (1, 9), (10, 12), (20, 23))
    shown = spans([twice, busy])
    assert [(one.start_s, one.end_s) for one in shown] == [(0, 4), (20, 23)]
    crowded = spans([busy, present(1, (1, 3), (1, 2))])  # nothing is free: the longest all the same
    assert [(one.start_s, one.end_s) for one in crowded] == [(0, 4), (1, 3)]


def test_reviewers_see_how_often_and_when():
    foil = Absent(text="foil", key="foil", n_elsewhere=7, why=", never named")
    assert facts([present(0, (1, 2), n_elsewhere=5)], [foil]) == {
        "occurs: apple": "once (1.00-2.00 s); 5 times elsewhere",
        "does not occur: foil": "0 times here, 7 times elsewhere, never named",
    }
