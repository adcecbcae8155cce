"""The review: who is drawn, what people may write, what follows."""

from collections import Counter

import pytest

from subjects.gated import draft, questions
from vidence.make.gates.rules import ReviewRules
from vidence.make.review.audit import Reviewed, as_page, wording_of
from vidence.make.review.decision import decide_review, plan_review, plan_table, plan_words
from vidence.make.review.sample import ReviewSample, draw_sample


def asked(**sizes: int):
    """Questions, by ``task__video``."""
    drafts = []
    for name, n in sizes.items():
        task, video = name.split("__")
        drafts += [draft(f"{name}-{i}", task=task, video_id=video) for i in range(n)]
    return questions(drafts)


def drawn_of(some, seed: int = 1, open_gates=None, **rules: object) -> ReviewSample:
    return draw_sample(some, ReviewRules(**rules), seed=seed, open_gates=open_gates or {})


def test_the_sample_is_the_wanted_share_and_spread_over_the_strata():
    some = asked(AC__v1=40, AC__v2=20, FAM__v1=40)
    drawn = drawn_of(some)
    assert drawn.strata == {"AC: v1": 40, "AC: v2": 20, "FAM: v1": 40}
    assert Counter(row.stratum for row in drawn.rows) == {"AC: v1": 6, "AC: v2": 3, "FAM: v1": 6}
    assert {row.why for row in drawn.rows} == {"sample"}
    order = [one.question_id for one in some]
    ids = [row.question.question_id for row in drawn.rows]
    assert ids == sorted(ids, key=order.index)


def test_remainders_fill_the_share_up():
    # 0.15 * 30 = 4.5, so 5; each stratum has 1 of its 1.5 at first
    drawn = drawn_of(asked(AC__v1=10, AC__v2=10, FAM__v1=10))
    assert sorted(Counter(row.stratum for row in drawn.rows).values()) == [1, 2, 2]


def test_every_stratum_of_enough_size_gives_one_and_small_ones_are_put_together():
    drawn = drawn_of(asked(AC__v1=3, AC__v2=2, AC__v3=1, FAM__v1=1, FOM__v1=100), share=0.01)
    assert drawn.strata == {"AC: v1": 3, "AC: small ones": 3, "FAM: small ones": 1, "FOM: v1": 100}
    assert Counter(row.stratum for row in drawn.rows) == dict.fromkeys(drawn.strata, 1)


def test_the_seed_decides_who_is_drawn():
    some = asked(AC__v1=50)
    ids = [{row.question.question_id for row in drawn_of(some, seed).rows} for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]


def test_what_a_program_cannot_vouch_for_is_looked_at_in_any_case_and_not_sampled():
    drafts = [draft(f"d{i}") for i in range(20)]
    drafts += [draft(f"m{i}", truth="model") for i in range(4)]
    drawn = drawn_of(questions(drafts), open_gates={"d3": ("text-only",), "m1": ("one-frame",)})
    why = {row.question.draft.draft_id: row.why for row in drawn.rows}
    assert {name for name, one in why.items() if one == "truth-by-model"} == {"m0", "m1", "m2", "m3"}
    assert [name for name, one in why.items() if one == "open-gate"] == ["d3"]
    assert drawn.strata == {"AC: v1": 19}
    assert sum(one == "sample" for one in why.values()) == 3  # 0.15 * 19, rounded up


def test_questions_about_people_whom_nobody_told_apart_are_all_looked_at():
    drafts = [draft("p", review="by-words-only"), draft("q"), draft("r")]
    drawn = draw_sample(questions(drafts), ReviewRules(share=0.01), seed=0, open_gates={"p": ["needs-all"]})
    assert [(row.why, row.note) for row in drawn.rows] == [("by-words-only", "needs-all"), ("sample", "")]


@pytest.mark.parametrize("why", ["paper-count", "by-words-only"])
def test_counts_that_hang_on_a_detector_are_all_looked_at(why):
    drafts = [draft(f"d{i}", truth="given tracks") for i in range(10)]
    drafts += [draft(f"c{i}", truth="detected tracks", review=why) for i in range(4)]
    drawn = drawn_of(questions(drafts))
    assert [row.question.draft.draft_id for row in drawn.rows if row.why == why] == ["c0", "c1", "c2", "c3"]
    assert drawn.strata == {"AC: v1 (given tracks)": 10}
    told = map(wording_of, drawn.rows)
    assert {one["rests on"] for one in told if one["why"] == why} == {"detected tracks"}


def test_each_task_gives_so_many_and_whoever_was_drawn_stays():
    some = asked(AC__v1=30, AC__v2=10, FAM__v1=5, FOM__v1=80)
    before = {row.question.question_id for row in drawn_of(some).rows}
    drawn = drawn_of(some, each_task=9)
    counts = Counter(row.question.draft.task for row in drawn.rows)
    assert counts == {"AC": 9, "FAM": 5, "FOM": 12}
    assert before <= {row.question.question_id for row in drawn.rows}


def test_the_plan_says_before_anybody_looks_what_can_be_released():
    some, rules = asked(AC__v1=20, FAM__v1=20), ReviewRules()
    plans = plan_review(some, draw_sample(some, rules, seed=1, open_gates={}), rules)
    # 0 of 3: Wilson's upper end is 56 %; 0 of 9 is 29.9 %, the first below 30 %
    assert [(one.n_sample, one.n_rest, one.most_rejected, one.needed) for one in plans] == [
        (3, 17, -1, 9)
    ] * 2
    words = plan_words(plans, rules)
    assert words.startswith("6 of 40 questions are reviewed; if all are accepted, 0 unreviewed ones")
    assert "34 of AC, FAM are held back in any case" in words
    assert "each_task = 9 in [review] draws 12 more" in words
    (first, _) = plan_table(plans).rows
    assert first.values == (20, 3, 0, 17, None, 9)


def test_the_plan_of_a_sample_of_enough_size_says_how_many_may_be_rejected():
    some, rules = asked(AC__v1=100), ReviewRules()
    (plan,) = plan_review(some, draw_sample(some, rules, seed=1, open_gates={}), rules)
    assert (plan.n_sample, plan.most_rejected) == (15, 1)  # 1 of 15: 29.8 %; 2 of 15: 37.9 %
    assert plan_words([plan], rules).endswith("85 unreviewed ones are released with them.")
    (whole,) = plan_review(some, drawn_of(some, share=1.0), ReviewRules(share=1.0))
    assert (whole.n_rest, plan_table([whole]).rows[0].values) == (0, (100, 100, 0, 0, None, None))


def test_what_waits_holds_back_its_own_task_and_no_other():
    some = asked(AC__v1=100, FAM__v1=100)
    drawn = drawn_of(some)
    said = [
        Reviewed(item_id=row.question.question_id, is_accepted=True)
        for row in drawn.rows
        if row.question.draft.task == "AC"
    ]
    result, kept, dropped = decide_review(some, drawn, said=said, rules=ReviewRules())
    lines = {line.task: line for line in result.tasks}
    assert (lines["AC"].rest, lines["AC"].n_waiting) == ("released", 0)
    assert (lines["FAM"].rest, lines["FAM"].n_waiting, lines["FAM"].weighted) == ("waiting", 15, None)
    assert {one.draft.task for one in kept} == {"AC"}
    assert Counter(one.reason for one in dropped) == {"waits-for-a-person": 15, "task-held-back": 85}


def test_no_spreadsheet_takes_a_check_for_a_number():
    """Of twelve digits and letters a to f one in a hundred reads like 4811828e6756."""
    checks = {row.check for row in drawn_of(asked(AC__v1=300), share=1.0).rows}
    assert len(checks) == 300
    assert all(check.isalpha() and len(check) == 12 for check in checks)


def test_the_page_shows_what_is_asked_and_loads_nothing():
    drawn = drawn_of(asked(AC__v1=20))
    page = as_page(drawn.rows, {}, title="<b>set</b>", n_frames=3)
    assert "&lt;b&gt;set" in page
    for row in drawn.rows:
        assert f'id="{row.question.question_id}"' in page
    assert page.count("(right)") == 3
    assert page.count("No frames: the video is not here") == 3
    assert "http" not in page.replace("http-equiv", "")


def say(drawn: ReviewSample, rejected: int, **per_why: int) -> list[Reviewed]:
    """Reject the first so many of the sample."""
    said = []
    for row in drawn.rows:
        left = rejected if row.why == "sample" else per_why.get("queued", 0)
        n_before = sum(not one.is_accepted for one in said)
        said.append(Reviewed(item_id=row.question.question_id, is_accepted=n_before >= left, note="because"))
    return said


def decide(some, rejected: int, **rules: object):
    settings = ReviewRules(**rules)
    drawn = draw_sample(some, settings, seed=1, open_gates={})
    return decide_review(some, drawn, said=say(drawn, rejected), rules=settings)


def test_the_rest_goes_by_the_upper_end_of_the_interval():
    some = asked(AC__v1=200)  # a sample of 30
    # Wilson at 95 %, by hand: 4 of 30 is [0.053, 0.297], 5 of 30 is [0.073, 0.336]
    result, kept, dropped = decide(some, 4)
    line = result.tasks[0]
    assert (line.rest, line.n_rest, line.n_sample, line.n_sample_rejected) == ("released", 170, 30, 4)
    assert (line.rejected.low, line.rejected.high) == (
        pytest.approx(0.0531, abs=1e-4),
        pytest.approx(0.2968, abs=1e-4),
    )
    assert len(kept) == 196
    assert Counter(one.reason for one in dropped) == {"rejected-by-a-person": 4}
    result, kept, dropped = decide(some, 5)
    assert result.tasks[0].rest == "held-back"
    assert result.tasks[0].rejected.high == pytest.approx(0.3356, abs=1e-4)
    assert len(kept) == 25  # those that a person accepted
    assert Counter(one.reason for one in dropped) == {"rejected-by-a-person": 5, "task-held-back": 170}
    assert decide(some, 5, most_rejected=0.34)[0].tasks[0].rest == "released"


def test_a_task_is_held_back_without_the_others_and_all_is_no_decision():
    some = asked(AC__v1=200, FAM__v1=10)
    result, kept, _ = decide(some, 0)
    assert {line.task: line.rest for line in result.tasks} == {
        "AC": "released",
        "FAM": "held-back",  # 0 of 2 leaves up to 66 %
        "all": "by-task",
    }
    assert Counter(one.draft.task for one in kept) == {"AC": 200, "FAM": 2}


def test_where_all_were_looked_at_nothing_is_inferred():
    result, kept, dropped = decide(asked(AC__v1=4), 3, share=1.0)
    assert result.tasks[0].rest == "none-left"
    assert (len(kept), len(dropped)) == (1, 3)


def test_strata_are_weighted_by_their_size():
    # 1 of 1 from 3, 0 of 14 from 97: 3 % weighted, 1 in 15 as drawn
    some = asked(AC__v1=3, AC__v2=97)
    result, _, _ = decide(some, 1)
    line = result.tasks[0]
    assert line.n_sample == 15
    assert line.rejected.value == pytest.approx(1 / 15)
    assert line.weighted == pytest.approx(0.03)


def test_what_is_looked_at_in_any_case_says_nothing_about_the_rest():
    drafts = [draft(f"d{i}") for i in range(200)] + [draft(f"m{i}", truth="model") for i in range(50)]
    some, rules = questions(drafts), ReviewRules()
    drawn = draw_sample(some, rules, seed=1, open_gates={})
    said = [Reviewed(item_id=row.question.question_id, is_accepted=row.why == "sample") for row in drawn.rows]
    result, kept, dropped = decide_review(some, drawn, said=said, rules=rules)
    line = result.tasks[0]
    assert (line.n_queued, line.n_queued_rejected, line.rejected.value) == (50, 50, 0.0)
    assert line.rest == "released"
    assert (len(kept), len(dropped)) == (200, 50)
