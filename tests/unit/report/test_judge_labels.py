"""Tables of labels: what is read, and what is refused with its line."""

import pytest

from vidence.errors import DataError, UsageError
from vidence.report.judge_labels import Label, majority, mean_points, read_labels, run_by_name

NAMES = {"gpt": "gpt", "openai:gpt-4o": "gpt", "qwen": "qwen"}
REPLIES = frozenset((run, item, 0) for run in ("gpt", "qwen") for item in ("q1", "q2"))
HEAD = "item_id,model,repeat,rater,correct,score,beats\n"


@pytest.fixture
def read(tmp_path):
    def make(rows, *, head=HEAD):
        path = tmp_path / "labels.csv"
        path.write_text(head + rows)
        return read_labels(path, names=NAMES, replies=REPLIES)

    return make


def test_a_row_is_a_label_of_one_rater_on_one_reply(read):
    found = read("q1,openai:gpt-4o,0,al,1,4,qwen\nq2,qwen,,bo,no,,\n")
    first, second = found.labels
    assert (first.key, first.correct, first.points, first.beats) == (("gpt", "q1", 0), 1.0, 4.0, ("qwen",))
    assert (second.key, second.correct, second.points, second.beats) == (("qwen", "q2", 0), 0.0, None, ())
    assert found.raters == ("al", "bo")


def test_repeat_score_and_beats_may_be_left_out(read):
    assert len(read("q1,gpt,al,1\n", head="item_id,model,rater,correct\n").labels) == 1


def test_labels_of_what_is_not_there_are_listed_and_refused(read):
    rows = "q1,gpt,0,al,1,,\nq9,gpt,0,al,1,,\nq1,claude,0,al,1,,\nq1,gpt,3,al,1,,\n"
    with pytest.raises(DataError, match="3 labels of replies that are not there") as error:
        read(rows)
    assert "'gpt' has no reply to 'q9'" in str(error.value)
    assert "no run is called 'claude'" in str(error.value)
    with pytest.raises(UsageError, match="no label of a reply"):
        read("")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("q1,gpt,0,al,2,,", "column 'correct': expected 1 or 0, found '2'"),
        ("q1,gpt,0,al,,,", "column 'correct': expected 1 or 0, found ''"),
        ("q1,gpt,0,al,1,5,", "column 'score': expected a number from 0 to 4, or nothing, found '5'"),
        ("q1,gpt,0,al,1,nan,", "found 'nan'"),
        ("q1,gpt,0,al,1,good,", "found 'good'"),
        ("q1,gpt,-1,al,1,,", "column 'repeat': expected a whole number from 0"),
        ("q1,gpt,0,,1,,", "column 'rater': expected a name"),
        ("q1,gpt,0,al,1,,gpt", "cannot be better than itself"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(read, row, says):
    with pytest.raises(DataError, match=r"line 2") as error:
        read(row + "\n")
    assert says in str(error.value)


def test_two_labels_of_one_rater_for_one_reply_are_refused(read):
    with pytest.raises(DataError, match=r"line 3: 'al' has labelled item 'q1' of 'gpt'.*before \(line 2\)"):
        read("q1,gpt,0,al,1,,\nq1,openai:gpt-4o,0,al,0,,\n")


def test_a_table_without_its_columns_is_refused(read):
    with pytest.raises(DataError, match="no column 'rater'"):
        read("q1,gpt,1\n", head="item_id,model,correct\n")


def label(correct, points=None):
    return Label(run="gpt", item_id="q1", repeat=0, rater="al", correct=correct, points=points)


def test_the_majority_is_none_for_a_tie_and_points_are_averaged():
    assert majority([label(1), label(1), label(0)]) == 1.0
    assert majority([label(1), label(0)]) is None
    assert majority([]) is None
    assert mean_points([label(1, 4.0), label(0, 1.0), label(0)]) == 2.5
    assert mean_points([label(1)]) is None


def test_a_word_for_two_runs_is_for_none():
    assert run_by_name(("a", "b"), [("m", "x"), ("m", "y")]) == {"a": "a", "b": "b", "x": "a", "y": "b"}
