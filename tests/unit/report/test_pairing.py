"""Which runs may be compared, and what is said of those that may not."""

import msgspec
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.records import Answered, Unreadable
from vidence.report.pairing import own_answer, own_item, pair
from vidence.report.side_by_side import run_names


def refusal(*runs, **options):
    with pytest.raises(UsageError) as caught:
        pair(runs, **options)
    return str(caught.value)


def test_marks_stand_question_by_question_whatever_the_order(runs):
    right = [runs.marked(item, Answered(answer=item.answer)) for item in runs.items[:6]]
    first = runs.load("a", items=runs.items[:6], trials=runs.trials[:6])
    second = runs.load("b", items=runs.items[5::-1], trials=right[::-1], model="scripted:best")
    found = pair([first, second])
    assert found.names == ("scripted:test", "scripted:best")
    assert [item.item_id for item in found.items] == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert found.values.tolist() == [[1, 1], [0, 1], [0, 1], [1, 1], [0, 1], [0, 1]]
    assert found.clusters == ("v1.mp4", "v1.mp4", "v1.mp4", "v2.mp4", "v2.mp4", "v3.mp4")
    assert found.n_videos == 3
    assert found.groups("task") == ("order", "order", "count", "count", "count", "count")
    assert found.groups("level") is None  # q6 has none
    assert found.part([0, 3]).values.tolist() == [[1, 1], [1, 1]]


def test_one_run_alone_or_twice_or_empty_is_refused(runs, tmp_path):
    first = runs.load("a")
    assert "expected two run folders or more" in refusal(first)
    (tmp_path / "again").symlink_to(tmp_path / "a")
    from vidence.report.results import load_run

    assert "named twice" in refusal(first, load_run(tmp_path / "again"))
    assert "has no trials yet; `vidence resume" in refusal(first, runs.load("b", trials=[]))


def test_other_data_is_refused_with_what_differs(runs):
    first = runs.load("a", facts={"benchmark_revision": "2025-01"})
    said = refusal(first, runs.load("b", benchmark="mmvu", facts={"benchmark_revision": "2025-01"}))
    assert "benchmark: scripted:test (table): table; scripted:test (mmvu): mmvu" in said
    said = refusal(first, runs.load("c", facts={"benchmark_revision": "2025-02"}))
    assert "revision: scripted:test (a): 2025-01; scripted:test (c): 2025-02" in said
    other = runs.load("d", facts={"benchmark_revision": "2025-01", "content_hash": "f" * 64})
    assert "content hash: scripted:test (a): 000000000000; scripted:test (d): ffffffffffff" in refusal(
        first, other
    )
    # Parts of one revision may be compared where they overlap.
    assert pair([first, other], shared=True).values.shape == (6, 2)


def test_another_hash_without_a_revision_is_refused_even_if_shared(runs):
    first, second = runs.load("a"), runs.load("b", facts={"content_hash": "f" * 64})
    assert "content hash" in refusal(first, second, shared=True)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"answer": "B"}, "answer"),
        ({"question": "Another?"}, "question"),
        ({"choices": ("red", "green", "blue", "white")}, "choices"),
        ({"media": ()}, "media"),
    ],
)
def test_another_question_under_the_same_id_is_refused_and_named(runs, change, what):
    items = (msgspec.structs.replace(runs.items[0], **change), *runs.items[1:])
    said = refusal(runs.load("a"), runs.load("b", items=items), shared=True)
    assert f"another {what} under the same id: 1 (q1)" in said


def test_different_questions_are_refused_with_their_names_and_number(runs):
    first, second = runs.load("a"), runs.load("b", trials=runs.trials[:2], facts={"n_planned": 7})
    said = refusal(first, second)
    assert "2 questions are in all runs" in said
    assert "scripted:test (a): 5 of its 7 not in all (q3, q4, q5, q6, q7)" in said
    assert "(b) is not complete; `vidence resume" in said
    assert "--shared" in said
    apart = runs.load("c", trials=runs.trials[3:])
    assert "share no question that is scored" in refusal(second, apart, shared=True)
    many = [runs.asked(name, [1] * n, facts={"n_planned": n}) for name, n in (("d", 9), ("e", 2))]
    assert "(q2, q3, q4, q5, q6, and 2 more)" in refusal(*many)
    found = pair([first, second], shared=True)
    assert [item.item_id for item in found.items] == ["q1", "q2"]
    assert found.notes == (
        "Only the 2 questions that scripted:test (a) and scripted:test (b) share are compared, of 7: "
        "this need not hold for the others.",
    )


def test_questions_that_wait_for_a_judge_in_one_run_alone_are_refused(runs):
    judged = runs.marked(runs.items[6], Unreadable(reason="no answer"))
    judged = msgspec.structs.replace(
        judged, score=msgspec.structs.replace(judged.score, scorer="rule-first", value=0.0)
    )
    first, second = runs.load("a"), runs.load("b", trials=(*runs.trials[:6], judged))
    assert "scripted:test (a): 1 wait for a judge (q7)" in refusal(first, second)
    assert pair([first, second], shared=True).notes == (
        "Not compared, since they wait for a judge: 1 of the questions.",
    )
    assert len(pair([first, runs.load("c")]).items) == 6


def test_questions_with_hidden_answers_are_left_out_as_such(runs):
    items = [msgspec.structs.replace(one, answer="") if one.item_id < "q3" else one for one in runs.items]
    unscored = msgspec.structs.replace(runs.trials[0].score, value=None)
    hidden = [msgspec.structs.replace(one, score=unscored) for one in runs.trials[:2]]
    first, second = (runs.load(name, items=items, trials=(*hidden, *runs.trials[2:])) for name in "ab")
    assert pair([first, second]).notes == (
        "Not compared, since their answers are hidden: 2 of the questions.",
        "Not compared, since they wait for a judge: 1 of the questions.",
    )
    scored = msgspec.structs.replace(unscored, scorer="rule-first", value=0.0)
    judged = msgspec.structs.replace(runs.trials[6], score=scored)
    third = runs.load("c", items=items, trials=(*hidden, *runs.trials[2:6], judged))
    assert "scripted:test (a): 1 wait for a judge (q7)" in refusal(first, third)


def test_an_order_of_choices_is_undone(runs):
    item = runs.question("q", "v", "A")  # red is right
    order = (2, 0, 3, 1)
    shown = item.with_order(order)
    trial = runs.marked(shown, Answered(answer="D"), choice_order=order)
    run = runs.load("a", items=[item], trials=[trial])
    assert own_item(run.rows[0]) == item
    # D shows what stands at position 1: green, B.
    assert own_answer(run.rows[0]) == "B"
    plain = runs.load("b", items=[item], trials=[runs.marked(item, Unreadable(reason="?"))])
    assert own_answer(plain.rows[0]) is None
    outside = runs.marked(shown, Answered(answer="Z"), choice_order=order)
    assert own_answer(runs.load("c", items=[item], trials=[outside]).rows[0]) == "Z"


def test_repeats_count_as_their_mean_and_names_are_short_and_different(runs):
    item = runs.items[0]
    trials = [runs.marked(item, Answered(answer=a), repeat=n) for n, a in enumerate(["A", "B", "A", "A"])]
    repeated = runs.load("r", items=[item], trials=trials, repeats=4)
    once = runs.load("s", items=[item], trials=trials[:1])
    assert pair([repeated, once]).values.tolist() == [[0.75, 1.0]]
    models = {
        "a": "openai:Qwen2.5-VL?base_url=http://localhost:1/v1",
        "b": "replay:some/where/gpt-4o.jsonl.gz?id=key",
        "c": "transformers:models/tiny",
        "d": "scripted",
        "e": "transformers:other/tiny",
    }
    loaded = [runs.load(name, model=model) for name, model in models.items()]
    assert run_names(loaded) == ("Qwen2.5-VL", "replay:gpt-4o", "tiny (c)", "scripted", "tiny (e)")
    assert np.unique(run_names([*loaded, loaded[3]])).size == 6


def test_what_was_left_out_when_reading_is_said_once_where_it_was_the_same(runs):
    bad = {"problems": ("q.jsonl:2: answer: absent",)}
    first, second = runs.load("a", facts=bad), runs.load("b", facts=bad)
    said = [note for note in pair([first, second]).notes if "Left out" in note]
    assert len(said) == 1
    assert said[0].startswith("Left out: 1 line that could not be used, beside 7")
    (only,) = (note for note in pair([runs.load("c"), second]).notes if "Left out" in note)
    assert only.startswith("scripted:test (b): Left out")


def test_runs_are_clustered_by_source_also_where_one_of_them_does_not_name_it(runs):
    named = [msgspec.structs.replace(item, source="film") for item in runs.items[:6]]
    old = runs.load("a", items=runs.items[:6], trials=runs.trials[:6])
    new = runs.load("b", items=named, trials=runs.trials[:6])
    for found in (pair([old, new]), pair([new, old])):
        assert set(found.clusters) == {"film"}
        assert (found.noun, found.clusters.n, found.n_videos) == ("source", 1, 3)
        assert found.part([0]).noun == "source"
        assert any(note.startswith("The 3 videos are of 1 source;") for note in found.notes)
