"""Hints against readers with planted behaviour: one that looks where it is told, one that reads the hint."""

import msgspec
import numpy as np
import pytest

from subjects import evidenced, hint_readers
from subjects.evidenced import estimate, reply, said_by, sheet, value
from subjects.hint_readers import VIEWS, climber, is_told, parrot, searcher, swayed
from subjects.simulated import Simulated, drive, times_shown
from vidence.contracts import SetDiagnostic, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.hints import ForeignHint, Settings, filler, foreign_hints

N = 60


def item(number, **changes):
    return msgspec.structs.replace(hint_readers.item(number), **changes)


def diagnostic(items, **options):
    one = evidenced.diagnostic("hints", options)
    assert isinstance(one, SetDiagnostic)
    return one.of_items(items)


def examined(items, reader, **options):
    one = diagnostic(items, **options)
    return evidenced.examine_all(one, items, lambda number: VIEWS, reader)


def said(items, reader, **options):
    return said_by(diagnostic(items, **options), examined(items, reader, **options))


def test_the_evidence_has_the_budget_of_the_plan():
    one = evidenced.diagnostic("hints", {})
    assert one.views(selector="aks", n_frames=16) == {
        "plan": View(selector="aks", n_frames=16),
        "evidence": View(selector="evidence", n_frames=16),
    }
    alone = evidenced.diagnostic("hints", {"controls": "words"})
    assert list(alone.views(selector="a", n_frames=1)) == ["plan"]


def test_all_conditions_are_asked_together_and_levels_are_cumulative():
    items = [item(0), item(2)]
    driven = drive(diagnostic(items).examine(Simulated(items[0], VIEWS)), lambda ask: reply(items[0], True))
    (asks,) = driven.rounds
    found = dict(zip(driven.made.marks, asks, strict=True))
    assert list(found) == [
        "L0", "L1", "L2", "L3", "words-L0", "words-L3", "foreign-L3", "filler-L3", "frames",
    ]  # fmt: skip
    for level in range(4):
        shown = [hint in found[f"L{level}"].prompt.text for hint in items[0].hints]
        assert shown == [i < level for i in range(3)]
        assert times_shown(found[f"L{level}"]) == VIEWS["plan"]
    assert times_shown(found["words-L0"]) == times_shown(found["words-L3"]) == ()
    assert is_told(items[0], found["words-L3"])
    assert is_told(items[1], found["foreign-L3"])
    assert not is_told(items[0], found["foreign-L3"])
    assert times_shown(found["frames"]) == VIEWS["evidence"]
    assert "words: hints" not in found["frames"].prompt.text
    assert driven.made.foreign == "q0002"
    one = evidenced.diagnostic("hints", {"controls": "words", "levels": "2"})
    driven = drive(one.examine(Simulated(item(0), VIEWS)), lambda ask: reply(item(0), True))
    assert list(driven.made.marks) == ["L0", "L2", "words-L0", "words-L2"]
    made = filler("One two three.\n" + " ".join(["word"] * 200))
    assert [len(line.split()) for line in made.splitlines()] == [3, 200]


def test_fewer_hints_give_those_levels_only_and_none_gives_nothing():
    items = [item(0, hints=("A cause.", "The hand.")), item(1, hints=()), item(2, evidence=())]
    found = [one.finding for one in examined(items, searcher)]
    assert list(found[0].marks) == ["L0", "L1", "L2"]
    assert found[1].marks == {}
    assert "frames" not in found[2].marks
    assert "foreign-L3" not in found[2].marks  # nobody else has three hints
    statements = said(items, searcher)
    assert "1 question without a hint left out" in sheet(statements, "hints").note
    assert "1 question with fewer than 3 counted in the levels" in sheet(statements, "hints").note
    assert "No foreign hints" in sheet(statements, "hints").note
    assert value(statements, "levels", "L2", "questions") == 2
    assert value(statements, "levels", "L3", "questions") == 1


def test_an_empty_hint_is_refused():
    one = diagnostic([item(1)])
    with pytest.raises(UsageError, match="'q0000': hint 2 is empty; expected a text"):
        drive(
            one.examine(Simulated(item(0, hints=("A.", "", "C.")), VIEWS)), lambda ask: reply(item(0), True)
        )


@pytest.mark.parametrize("levels", ["0", ""])
def test_levels_without_a_hint_are_refused(levels):
    with pytest.raises(UsageError, match=r"gives no hint; expected levels such as 0\|1\|2\|3"):
        Settings(levels=tuple(int(one) for one in levels))


def test_foreign_hints_are_of_another_source_and_of_the_same_domain_where_there_is_one():
    items = [item(n) for n in range(8)]
    found = foreign_hints(items, Settings())
    for one in items:
        other = items[int(found[one.item_id].item_id[1:])]
        assert other.item_id != one.item_id
        assert other.tags == one.tags
        assert found[one.item_id].words == "\n".join(other.hints)
    assert found == foreign_hints(items, Settings())
    assert found != foreign_hints(items, Settings(seed=1))
    alone = [item(0), item(1)]
    assert foreign_hints(alone, Settings())["q0000"] == ForeignHint(
        item_id="q0001", words="\n".join(item(1).hints)
    )
    same_film = [item(0, source="film"), item(2, source="film")]
    assert foreign_hints(same_film, Settings()) == {}
    assert "2 foreign hints not known to be of the same domain" in sheet(said(alone, searcher), "hints").note


def test_the_gain_of_who_looks_where_it_is_told_is_recovered():
    statements = said([item(n) for n in range(N)], searcher)
    for line, planted in {
        "gain": 0.4, "less-foreign": 0.4, "less-filler": 0.4, "foreign": 0.0, "filler": 0.0,
        "video": 0.4, "words": 0.0, "frames": 0.4,
    }.items():  # fmt: skip
        assert value(statements, "hints", line, "difference") == pytest.approx(planted), line
        assert value(statements, "hints", line, "questions") == N
    found = estimate(statements, "hints", "less-foreign", "difference")
    assert found.low > 0.2
    assert value(statements, "hints", "less-foreign", "p_holm") < 0.001
    assert [row.key for row in sheet(statements, "hints").rows][:2] == ["less-foreign", "less-filler"]
    levels = {name: value(statements, "levels", name, "accuracy") for name in ("L0", "L1", "L2", "L3")}
    assert levels == pytest.approx({"L0": 0.3, "L1": 0.3, "L2": 0.3, "L3": 0.7})
    assert value(statements, "levels", "L3", "gain") == pytest.approx(0.4)
    assert "give answers away" not in sheet(statements, "hints").note
    chart = statements["hints:curve"]
    assert [one.label for one in chart.series] == [
        "with the video", "words alone", "hints of another question", "words that say nothing",
    ]  # fmt: skip
    assert [round(point.y.value, 3) for point in chart.series[0].points] == [0.3, 0.3, 0.3, 0.7]


def test_the_gain_of_each_level_is_recovered():
    statements = said([item(n) for n in range(N)], climber)
    gains = [value(statements, "levels", f"L{level}", "gain") for level in (1, 2, 3)]
    assert gains == pytest.approx([0.1, 0.2, 0.4])
    assert value(statements, "hints", "words", "difference") == 0.0


def test_a_hint_that_leaks_is_caught_by_the_words_alone():
    statements = said([item(n) for n in range(N)], parrot)
    assert value(statements, "hints", "gain", "difference") == pytest.approx(0.7)
    assert value(statements, "hints", "words", "difference") == pytest.approx(1.0)
    assert value(statements, "hints", "video", "difference") == pytest.approx(-0.3)
    assert "they give answers away" in sheet(statements, "hints").note


def test_a_placebo_takes_away_what_it_gains_itself():
    statements = said([item(n) for n in range(N)], swayed)
    assert value(statements, "hints", "gain", "difference") == pytest.approx(0.3)
    assert value(statements, "hints", "foreign", "difference") == pytest.approx(0.3)
    assert value(statements, "hints", "less-foreign", "difference") == pytest.approx(0.0)
    assert value(statements, "hints", "less-filler", "difference") == pytest.approx(0.0)


def test_gains_of_guessers_lie_in_their_intervals():
    rng = np.random.default_rng(3)
    drawn = {(i, told): rng.random() < (0.6 if told else 0.35) for i in range(400) for told in (True, False)}

    def guesser(asked, ask):
        return bool(drawn[int(asked.item_id[1:]), is_told(asked, ask)])

    found = estimate(said([item(n) for n in range(400)], guesser), "hints", "less-foreign", "difference")
    assert found.low <= 0.25 <= found.high


def test_how_often_a_question_is_asked_at_most():
    # Four levels, the words alone with and without hints, foreign hints, filler, and the evidence.
    one = evidenced.diagnostic("hints", {})
    assert one.most_asks(item(0), n_frames=8) == 9
    assert one.most_asks(item(0, evidence=()), n_frames=8) == 8
    assert one.most_asks(item(0, hints=("A cause.", "The hand.")), n_frames=8) == 3
    assert one.most_asks(item(0, hints=()), n_frames=8) == 0
    assert evidenced.diagnostic("hints", {"controls": "words"}).most_asks(item(0), n_frames=8) == 6
    two = evidenced.diagnostic("hints", {"controls": "foreign", "levels": "2"})
    assert two.most_asks(item(0, hints=("A cause.", "The hand.")), n_frames=8) == 3
    assert two.most_asks(item(0, hints=("A cause.",)), n_frames=8) == 1
