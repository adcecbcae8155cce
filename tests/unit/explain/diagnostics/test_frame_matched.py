"""Right against wrong answers with as many frames, where it is planted which of them rest on one frame."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from vidence.explain.diagnostics.frame_matched import Beyond, Matched, _verdict, matched, matched_table
from vidence.explain.diagnostics.frame_placebo import PlaceboDeltas, placebo_tables
from vidence.explain.diagnostics.tables import Figures
from vidence.records import Estimate, Item, Media
from vidence.tables.table import Table

Mix = Mapping[str, float]
WORTH = {"none": (0.0, 0.0), "even": (1.0, 1.0), "one": (2.0, 0.0)}  # of the first frame, and of the others


def item(number: int, *, per_video: int = 5) -> Item:
    return Item(
        item_id=f"q{number}", media=(Media(path=f"v{number // per_video}"),), question="?", answer="A"
    )


def deltas(kind: str, n: int, noise: float, rng: np.random.Generator) -> tuple[tuple[float, ...], ...]:
    """What leaving out frames of the evidence, and frames apart, takes from a logit of 3 among 5 choices."""
    first, other = WORTH[kind]

    def logp(worth: float) -> float:
        logit = 3.0 - worth + noise * float(rng.standard_normal())
        return logit - float(np.log(np.exp(logit) + 4))

    full = logp(0.0)
    return tuple(full - logp(first if i == 0 else other) for i in range(n)), tuple(
        full - logp(0.0) for _ in range(n)
    )


def tables(
    right: Mix,
    wrong: Mix,
    *,
    seed: int,
    n: int = 300,
    noise: float = 0.3,
    frames: tuple[Sequence[int], Sequence[int]] = ((3,), (3,)),
) -> list[Table]:
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        is_right = bool(rng.integers(2))
        mix, sizes = (right, frames[0]) if is_right else (wrong, frames[1])
        kind = str(rng.choice(list(mix), p=list(mix.values())))
        evidence, placebo = deltas(kind, int(rng.choice(sizes)), noise, rng)
        found.append(
            PlaceboDeltas(item=item(i), is_right=is_right, evidence=evidence, placebo=placebo, alone=evidence)
        )
    groups = {"all": found} | {
        key: [one for one in found if one.is_right == (key == "right")] for key in ("right", "wrong")
    }
    return placebo_tables(groups, {}, Figures(rng=rng, level=0.95), kind="n")


def estimate(table: Table, row: str, column: str) -> Estimate:
    value = table.value(row, column)
    assert isinstance(value, Estimate)
    return value


def test_wrong_answers_that_rest_on_one_frame_are_told_from_right_ones_that_do_not() -> None:
    _, table = tables({"even": 1}, {"one": 0.5, "none": 0.5}, seed=1)
    assert estimate(table, "difference", "ratio").high < 0
    assert table.note.startswith(
        "Wrong answers rest more on one frame, among questions whose evidence does anything."
    )
    _, table = tables({"one": 1}, {"even": 1}, seed=1)
    assert table.note.startswith("Right answers rest more on one frame")


@pytest.mark.parametrize("kind", ["even", "one"])
def test_questions_whose_evidence_does_nothing_make_no_difference(kind: str) -> None:
    """Half of the wrong answers have evidence that does nothing; those with an effect are like right ones."""
    n_false = n_naive = 0
    for seed in range(20):
        plain, table = tables({kind: 1}, {kind: 0.5, "none": 0.5}, seed=seed)
        difference = estimate(table, "difference", "ratio")
        n_false += not difference.low < 0 < difference.high
        naive = estimate(table, "difference", "beyond")
        n_naive += not naive.low < 0 < naive.high
        assert plain.name == "placebo"
    assert n_false <= 4
    assert n_naive >= 15


def test_of_evidence_that_does_nothing_no_difference_is_said() -> None:
    _, table = tables({"even": 1}, {"none": 1}, seed=0)
    assert table.value("difference", "ratio") is None
    assert table.value("wrong", "ratio") is None
    assert "whether wrong ones rest more on one frame is not said" in table.note


def test_numbers_of_frames_count_alike_on_both_sides() -> None:
    plain, table = tables({"even": 1}, {"even": 1}, seed=3, n=600, frames=((2, 2, 2, 4), (2, 4, 4, 4)))
    apart = estimate(plain, "right", "beyond").value - estimate(plain, "wrong", "beyond").value
    assert apart > 0.03
    difference = estimate(table, "difference", "beyond")
    assert difference.low < 0 < difference.high
    assert abs(difference.value) < apart


def beyond(number: int, *, is_right: bool, n: int, value: float, held: float | None = 1.0) -> Beyond:
    return Beyond(item=item(number, per_video=1), is_right=is_right, n_frames=n, beyond=value, held=held)


def test_means_are_weighted_by_the_harmonic_numbers_of_each_stratum() -> None:
    some = [
        *(beyond(i, is_right=True, n=2, value=0.1) for i in range(6)),
        *(beyond(6 + i, is_right=False, n=2, value=0.2) for i in range(3)),
        beyond(10, is_right=True, n=3, value=0.5),
        *(beyond(11 + i, is_right=False, n=3, value=0.9) for i in range(4)),
        beyond(20, is_right=True, n=4, value=-9.0),  # no wrong answer with four frames
    ]
    found = matched(some, rng=np.random.default_rng(0), level=0.95)
    assert found is not None
    weights = np.array([6 * 3 / 9, 1 * 4 / 5])
    assert found.n == (7, 7)
    assert found.means[0].value == pytest.approx(np.average([0.1, 0.5], weights=weights))
    assert found.means[1].value == pytest.approx(np.average([0.2, 0.9], weights=weights))
    assert found.means[2].value == pytest.approx(found.means[0].value - found.means[1].value)
    (table,) = matched_table(some, rng=np.random.default_rng(0), level=0.95)
    assert "1 questions have a number of frames that no answer of the other kind has." in table.note
    assert [row.values[-1] for row in table.rows] == [7, 7, 14]


def test_without_a_number_of_frames_in_common_there_is_no_table() -> None:
    some = [beyond(0, is_right=True, n=2, value=0.1), beyond(1, is_right=False, n=3, value=0.1)]
    assert matched_table(some, rng=np.random.default_rng(0), level=0.95) == []
    assert matched_table([], rng=np.random.default_rng(0), level=0.95) == []


def test_few_videos_give_no_interval() -> None:
    some = [beyond(i, is_right=i % 2 == 0, n=2, value=0.1 * i, held=None) for i in range(8)]
    (table,) = matched_table(some, rng=np.random.default_rng(0), level=0.95)
    difference = estimate(table, "difference", "beyond")
    assert difference.reason == "too few videos (8)"
    assert table.note.startswith("No interval: too few videos (8).")


def test_a_placebo_that_cannot_change_places_has_no_share_with_an_effect() -> None:
    some = [
        beyond(i, is_right=i % 2 == 0, n=2, value=0.1 + 0.3 * (i % 2) + 0.01 * (i % 5), held=None)
        for i in range(40)
    ]
    (table,) = matched_table(some, rng=np.random.default_rng(0), level=0.95)
    assert list(table.keys) == ["beyond", "n"]
    assert table.note.startswith("Wrong answers rest more on one frame, against the floor of re-encoding.")


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (-0.2, -0.3, -0.1, "Wrong answers rest more on one frame"),
        (0.2, 0.1, 0.3, "Right answers rest more on one frame"),
        (0.2, 0.0, 0.3, "Not told that right and wrong answers differ"),
        (-0.2, -0.3, 0.0, "Not told that right and wrong answers differ"),
        (0.0, -0.1, 0.1, "Not told that right and wrong answers differ"),
    ],
)
def test_what_is_said_of_a_difference_and_its_interval(
    value: float, low: float, high: float, said: str
) -> None:
    one = Estimate(value=value, low=low, high=high, level=0.95, n=9, n_clusters=9, method="m")
    none = Estimate(value=0.9, low=0.8, high=1.0, level=0.95, n=9, n_clusters=9, method="m")
    anew = Matched(n=(4, 5), means=(none, none, one), held=None, ratios=(None, None, None))
    assert _verdict(anew).startswith(said)
    assert _verdict(anew).endswith("against the floor of re-encoding.")
    held = Matched(n=(4, 5), means=(none, none, none), held=(none, none, none), ratios=(none, none, one))
    assert _verdict(held).startswith(said)
    assert _verdict(held).endswith("among questions whose evidence does anything.")
    unsaid = Matched(n=(4, 5), means=(none, none, one), held=(none, none, none), ratios=(none, None, None))
    assert "is not said" in _verdict(unsaid)
