"""Review and release: what may go out that not reviewed at, and when nothing does."""

from pathlib import Path

import pytest

from subjects.gated import draft, questions
from subjects.herbench_session import session
from subjects.reviewed import decide
from vidence.errors import UsageError
from vidence.make.gates.gate_sequence import Gated
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.rules import ReviewRules
from vidence.make.herbench.config import HerbenchRelease
from vidence.make.herbench.release import RESULT_FILE, Reviewing, release, review
from vidence.make.herbench.session import HerbenchSession
from vidence.make.pipeline.session import MakeOverrides

DRAFTS = (draft("sure"), draft("doubtful", truth="model"), draft("open"))
GATED = Gated(left=DRAFTS, verdicts=(GateVerdict(item_id="open", gate="text-only", decision="open"),))
ASKED = questions(DRAFTS)
OUT = HerbenchRelease(version="1.0.0", unreviewed=True, without_licence=("OURS", "v1"))


def ids(reviewing):
    return [one.draft.draft_id for one in reviewing.questions]


def test_without_review_and_release_everything_stays(tmp_path):
    found = review(session(tmp_path), ASKED, [], gated=GATED)
    assert (ids(found), found.is_pending) == (["sure", "doubtful", "open"], False)


def test_what_a_person_must_confirm_is_not_released_unreviewed(tmp_path):
    work = session(tmp_path, release=OUT)
    found = review(work, ASKED, [], gated=GATED)
    assert ids(found) == ["sure"]
    (account,) = [one for one in work.ledger.stages if one.stage == "review"]
    assert account.dropped == {"not-confirmed-by-a-person": 2}
    assert work.ledger.notes == ["the configuration has no [review]; no person looks at the questions"]


def test_questions_wait_until_people_have_decided(tmp_path):
    work = session(tmp_path, review=ReviewRules(share=1.0, least_stratum=1))
    found = review(work, ASKED, [], gated=GATED)
    assert (found.is_pending, len(found.questions)) == (True, 3)
    assert [path.name for path in work.files] == ["sheet.html"]
    assert all(path.is_file() for path in work.files)
    assert "3 questions wait for people" in work.sentences[0]
    assert not (tmp_path / "out" / "review" / RESULT_FILE).exists()
    page = work.files[0]
    before = page.stat().st_mtime_ns
    review(work_again(tmp_path), ASKED, [], gated=GATED)
    assert page.stat().st_mtime_ns == before  # made from the same, so it is left


def work_again(folder):
    return session(folder, review=ReviewRules(share=1.0, least_stratum=1))


@pytest.mark.parametrize(
    ("overrides", "pending", "said"),
    [
        (MakeOverrides(limit=1), False, "narrowed with --only or --limit"),
        (MakeOverrides(only=("ac",)), False, "narrowed with --only or --limit"),
        (MakeOverrides(), True, "while questions wait for people"),
    ],
)
def test_nothing_is_released_too_early(tmp_path, overrides, pending, said):
    work = session(tmp_path, overrides=overrides, release=HerbenchRelease(version="1.0.0"))
    release(work, Reviewing(questions=ASKED, is_pending=pending), gated=GATED)
    assert said in work.sentences[-1]
    assert not (tmp_path / "out" / "release").exists()


def test_a_release_that_nobody_reviewed_must_say_so(tmp_path):
    work = session(tmp_path, release=HerbenchRelease(version="1.0.0"))
    with pytest.raises(UsageError, match=r"\[release\] without \[review\]"):
        release(work, Reviewing(questions=ASKED), gated=GATED)


def test_without_release_in_the_configuration_nothing_happens(tmp_path):
    work = session(tmp_path)
    assert release(work, Reviewing(questions=ASKED), gated=GATED) == ASKED
    assert (work.files, work.sentences) == ([], [])


def test_a_release_is_written_once_and_stays(tmp_path):
    folder = tmp_path / "out" / "release" / "set-1.0.0"
    for _ in range(2):
        work = session(tmp_path, release=OUT)
        release(work, Reviewing(questions=ASKED[:1]), gated=GATED)
        assert work.sentences[-1] == f"Release {folder}: 1 questions."
    assert work.files[-1].parent == folder
    assert work.files[-1].is_file()


MANY = questions([draft(f"{task}-{i}", task=task) for task in ("AC", "FAM") for i in range(20)])
NONE_OPEN = Gated(left=tuple(one.draft for one in MANY))


def reviewed(folder: Path, **config: object) -> tuple[HerbenchSession, Reviewing]:
    """A session in which `MANY` were reviewed."""
    work = session(folder, **config)
    return work, review(work, MANY, [], gated=NONE_OPEN)


def test_before_anybody_looks_it_is_said_what_can_be_released(tmp_path):
    work, _ = reviewed(tmp_path, review=ReviewRules())
    assert "6 of 40 questions are reviewed" in work.sentences[1]
    assert "each_task = 9 in [review] draws 12 more" in work.sentences[1]
    assert [table.name for table in work.tables] == ["review"]


def test_what_is_decided_goes_on_and_what_waits_is_said(tmp_path):
    rules = ReviewRules(each_task=9)
    reviewed(tmp_path, review=rules)
    decide(tmp_path / "review", tasks=("AC",))
    work, found = reviewed(tmp_path, review=rules, release=OUT)
    assert {one.draft.task for one in found.questions} == {"AC"}
    assert len(found.questions) == 20
    assert "9 questions wait for people" in work.sentences[1]
    assert found.is_pending  # and nothing is released
    decide(tmp_path / "review", tasks=("FAM",), by="cid")
    work, whole = reviewed(tmp_path, review=rules)
    assert len(whole.questions) == 40
    assert work.sentences == ["Review: 40 of 40 questions stay (AC released, FAM released)."]


def test_a_task_that_is_held_back_says_what_would_release_it(tmp_path):
    rules = ReviewRules()
    reviewed(tmp_path, review=rules)
    decide(tmp_path / "review")
    work, found = reviewed(tmp_path, review=rules)
    assert len(found.questions) == 6
    assert work.sentences[1] == (
        "AC: 17 held back, 0 of 3 looked at were rejected; each_task = 9 in [review] and 6 more reviews "
        "without a rejection would release them, and this command goes on."
    )
    # the sample grows, and nothing of what was said is lost
    wider = ReviewRules(each_task=9)
    work, again = reviewed(tmp_path, review=wider)
    assert "12 questions wait for people" in work.sentences[1]
    assert len(again.questions) == 6


def test_a_task_of_which_too_many_are_rejected_is_looked_at_whole(tmp_path):
    rules = ReviewRules(each_task=9)
    reviewed(tmp_path, review=rules)
    decide(tmp_path / "review", tasks=("AC",), reject=4)
    decide(tmp_path / "review", tasks=("FAM",), reject=4, by="cid")
    work, _ = reviewed(tmp_path, review=rules)
    assert "AC: 11 held back, 4 of 9 looked at were rejected; looking at all of them" in work.sentences[1]
