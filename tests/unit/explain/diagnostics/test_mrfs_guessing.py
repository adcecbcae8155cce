"""What luck makes of the demands of simulated models that guess with a known probability."""

import random

import pytest

from conftest import IS_THOROUGH
from subjects import evidenced
from subjects.simulated import told
from vidence.contracts import Examined
from vidence.explain.diagnostics.mrfs import MrfsFinding, Settings, search_of
from vidence.explain.diagnostics.mrfs_guessing import Lines, QuestionLuck, lines_of, wrong_pairs
from vidence.records import Estimate, Item, Media
from vidence.statistics.guessing import stickiness

X = 16


def item(number, n_choices=5, *, per_video=5):
    media, choices = (Media(path=f"v{number // per_video}.mp4"),), tuple("abcdefgh"[:n_choices])
    return Item(item_id=f"q{number}", media=media, question="?", answer="A", choices=choices)


def answers(need, *, rho, rng, n_choices=5):
    """Letters with 0 to 16 frames: guesses below the need, right from there on."""
    letters = {}
    for k in range(X + 1):
        if 0 < need <= k:
            letters[k] = "A"
        elif k < 2 or rng.random() >= rho:
            letters[k] = rng.choice("ABCDEFGH"[:n_choices])
        else:
            letters[k] = letters[k - 1]
    return letters


def searched(letters, mode):
    """What the search over these answers finds, with the letters that it saw."""
    seen = []

    def right(k):
        seen.append(k)
        return letters[k] == "A"

    if letters[0] == "A":
        return MrfsFinding(category="text-only", mrfs=0, right={0: True}, letters={0: "A"}, n_delivered=X)
    found = search_of(Settings(mode=mode), X)(right)
    asked = sorted({0, *(range(1, X + 1) if mode == "exhaustive" else seen)})
    return MrfsFinding(
        category="undefined" if found is None else "visual-required",
        mrfs=found,
        right={k: letters[k] == "A" for k in asked},
        letters={k: letters[k] for k in asked},
        n_delivered=X,
    )


def asked(n, needs, *, known, rho, mode):
    rng = random.Random(5)
    found = []
    for i in range(n):
        need = rng.choice(needs) if rng.random() < known else 99
        found.append(Examined(item=item(i), finding=searched(answers(need, rho=rho, rng=rng), mode)))
    return found


def tables(found, mode, **options):
    return told(evidenced.diagnostic("mrfs", {"mode": mode, **options}), found)


def number(value):
    return value.value if isinstance(value, Estimate) else float(value)


@pytest.mark.parametrize("mode", ["nested-bisect", "exhaustive", "official"])
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_a_guesser_lies_on_the_line_of_guessers(mode, rho):
    sheet = tables(asked(4000 if IS_THOROUGH else 2000, [1], known=0.0, rho=rho, mode=mode), mode)["guessing"]
    is_measured = any(row.key == "guesser" for row in sheet.rows)
    assert is_measured or rho == 0
    line, measured = (
        sheet.value("guesser" if is_measured else "guesser-independent", "mean"),
        sheet.value("measured", "mean"),
    )
    assert measured.low - 0.2 < number(line) < measured.high + 0.2
    assert number(sheet.value("measured", "found")) == pytest.approx(0.2, abs=0.03)


# Simulated with the searches of the product: 5 choices, x = 16 (the guesser; one frame at .359 and .763).
@pytest.mark.parametrize(
    ("mode", "rho", "expected"),
    [
        ("nested-bisect", 0.0, (13.1, 6.3, 1.9)),
        ("nested-bisect", 0.5, (12.2, 6.0, 1.9)),
        ("nested-bisect", 0.8, (10.2, 5.1, 1.7)),
        ("nested-bisect", 0.95, (4.8, 2.9, 1.3)),
        ("exhaustive", 0.0, (4.9, 2.7, 1.3)),
        ("exhaustive", 0.5, (7.2, 3.6, 1.5)),
        ("exhaustive", 0.8, (8.2, 4.1, 1.5)),
        ("exhaustive", 0.95, (4.5, 2.8, 1.3)),
        ("official", 0.0, (13.1, 6.3, 1.9)),
    ],
)
def test_the_lines_are_those_of_simulated_readers(mode, rho, expected):
    some = [QuestionLuck(item=item(0), is_found=True, mrfs=3, n_frames=X, letters={})]
    settings = Settings(mode=mode)
    lines = lines_of(some, rho=rho, least=1, n_orders=1, search=lambda n: search_of(settings, n))
    got = lines.mean, lines.of_one_frame(0.359), lines.of_one_frame(0.763)
    assert got == pytest.approx(expected, abs=0.21)
    assert lines.of_one_frame(0.0) == lines.of_one_frame(lines.chance) == pytest.approx(lines.mean)
    assert lines.of_one_frame(1.0) == 1


def test_questions_count_as_often_as_luck_finds_a_number():
    some = [
        QuestionLuck(item=item(i, n), is_found=True, mrfs=1, n_frames=x, letters={})
        for i, (n, x) in enumerate([(2, 16), (5, 16), (5, 1), (5, 0)])
    ]
    settings = Settings(mode="exhaustive")
    lines = lines_of(some, rho=0.0, least=1, n_orders=1, search=lambda n: search_of(settings, n))
    two, five = (1 - 0.5**16) / 0.5, (1 - 0.8**16) / 0.2
    assert lines.chance == pytest.approx((0.5 + 0.2 + 0.2) / 3)
    assert lines.mean == pytest.approx((0.5 * two + 0.2 * five + 0.2 * 1) / 0.9)
    assert lines_of(some[3:], rho=0.0, least=1, n_orders=1, search=lambda n: search_of(settings, n)) is None


def test_orders_make_luck_rarer():
    some = [QuestionLuck(item=item(0), is_found=True, mrfs=3, n_frames=X, letters={})]
    settings = Settings(mode="exhaustive", orders=2)
    lines = lines_of(some, rho=0.0, least=1, n_orders=2, search=lambda n: search_of(settings, n))
    assert lines.chance == pytest.approx(1 / 25)
    assert lines.mean == pytest.approx((1 - 0.96**16) / 0.04)


@pytest.mark.parametrize(
    ("mode", "n"), [("exhaustive", 1200), ("nested-bisect", 4000 if IS_THOROUGH else 1500)]
)
def test_one_frame_and_luck_are_not_told_apart_from_one_frame(mode, n):
    sheet = tables(asked(n, [1], known=0.2, rho=0.5, mode=mode), mode)["guessing"]
    assert "Not distinguishable from one-frame demand: the intervals overlap." in sheet.note
    assert "A guess is kept with probability 0." in sheet.note
    assert "One stickiness holds for all questions." in sheet.note


def test_a_real_demand_is_told_from_one_frame():
    said = tables(asked(1200, [8], known=0.7, rho=0.0, mode="exhaustive"), "exhaustive")
    assert (
        "More than a model that needs one frame and is right as often: the intervals do not overlap."
        in said["guessing"].note
    )


def test_few_pairs_give_lines_of_independent_guesses():
    said = tables(asked(20, [1], known=0.7, rho=0.8, mode="nested-bisect"), "nested-bisect")["guessing"]
    assert {row.key for row in said.rows} == {"measured", "guesser-independent", "one-frame-independent"}
    assert "could not be measured" in said.note


def test_open_questions_are_left_out_and_counted():
    found = asked(60, [1], known=0.5, rho=0.5, mode="exhaustive")
    text = Item(item_id="t", question="?", answer="x", answer_kind="text")
    right = {k: k > 3 for k in range(X + 1)}
    open_one = MrfsFinding(category="visual-required", mrfs=4, right=right, n_delivered=X)
    said = tables([*found, Examined(item=text, finding=open_one)], "exhaustive")
    assert "1 questions without choices are left out." in said["guessing"].note
    alone = tables([Examined(item=text, finding=open_one)], "exhaustive")
    assert "guessing" not in alone


def test_pairs_are_of_wrong_letters_with_frames():
    letters = {0: "B", 1: "B", 2: "B", 4: "C", 5: "", 6: "C", 7: "A", 8: "C", 9: "C"}
    one = QuestionLuck(item=item(0), is_found=True, mrfs=4, n_frames=X, letters=letters)
    (near, far) = wrong_pairs([one])
    assert (near.distance, near.n_same, near.n) == (1, 2, 2)
    assert (far.distance, far.n_same, far.n) == (2, 0, 1)
    two = QuestionLuck(item=item(0, 2), is_found=True, mrfs=1, n_frames=2, letters={1: "B", 2: "B"})
    assert wrong_pairs([two]) == ()


@pytest.mark.parametrize("mode", ["exhaustive", "nested-bisect", "official"])
def test_every_search_measures_how_guesses_stick(mode):
    found = asked(6000 if IS_THOROUGH else 2000, [1], known=0.0, rho=0.8, mode=mode)
    some = [
        QuestionLuck(item=e.item, is_found=True, mrfs=None, n_frames=X, letters=e.finding.letters)
        for e in found
        if isinstance(e.finding, MrfsFinding)
    ]
    measured = stickiness(wrong_pairs(some))
    assert measured.rho == pytest.approx(0.8, abs=0.04 if IS_THOROUGH else 0.08)
    assert measured.low < 0.8 < measured.high


def test_the_line_of_one_frame_is_never_below_it():
    lines = Lines(chance=0.2, mean=5.0, least=1)
    values = [lines.of_one_frame(a / 10) for a in range(11)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == 1.0
