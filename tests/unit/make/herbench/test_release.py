"""Review and release: what may go out that nobody has looked at, and when nothing does."""

import pytest

from subjects.gated import draft, questions
from subjects.herbench_session import session
from vidence.errors import UsageError
from vidence.make.gates.asking import GateVerdict
from vidence.make.gates.rules import ReleaseRules, ReviewRules
from vidence.make.herbench.gates import Gated
from vidence.make.herbench.release import RESULT_FILE, SHEET_FILE, Reviewing, release, review
from vidence.make.pipeline.session import MakeOverrides

DRAFTS = (draft("sure"), draft("doubtful", truth="model"), draft("open"))
GATED = Gated(drafts=DRAFTS, verdicts=(GateVerdict(draft_id="open", gate="text-only", decision="open"),))
ASKED = questions(DRAFTS)
OUT = ReleaseRules(version="1.0.0", unreviewed=True, without_licence=("OURS", "v1"))


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


def test_questions_wait_until_the_sheet_is_filled_in(tmp_path):
    work = session(tmp_path, review=ReviewRules(share=1.0, least_stratum=1, filled="filled.csv"))
    found = review(work, ASKED, [], gated=GATED)
    assert (found.is_pending, len(found.questions)) == (True, 3)
    assert [path.name for path in found.files] == [SHEET_FILE, "sheet.html"]
    assert all(path.is_file() for path in found.files)
    assert "3 questions wait for people" in found.sentences[0]
    assert not (tmp_path / "out" / "review" / RESULT_FILE).exists()
    page = found.files[1]
    before = page.stat().st_mtime_ns
    review(work_again(tmp_path), ASKED, [], gated=GATED)
    assert page.stat().st_mtime_ns == before  # made from the same, so it is left


def work_again(folder):
    return session(folder, review=ReviewRules(share=1.0, least_stratum=1, filled="filled.csv"))


@pytest.mark.parametrize(
    ("overrides", "pending", "said"),
    [
        (MakeOverrides(limit=1), False, "narrowed with --only or --limit"),
        (MakeOverrides(only=("ac",)), False, "narrowed with --only or --limit"),
        (MakeOverrides(), True, "before people have looked at it"),
    ],
)
def test_nothing_is_released_too_early(tmp_path, overrides, pending, said):
    work = session(tmp_path, overrides=overrides, release=ReleaseRules(version="1.0.0"))
    found = release(work, Reviewing(questions=ASKED, is_pending=pending), gated=GATED, maker="herbench/1")
    assert said in found.sentences[-1]
    assert not (tmp_path / "out" / "release").exists()


def test_a_release_that_nobody_reviewed_must_say_so(tmp_path):
    work = session(tmp_path, release=ReleaseRules(version="1.0.0"))
    with pytest.raises(UsageError, match=r"\[release\] without \[review\]"):
        release(work, Reviewing(questions=ASKED), gated=GATED, maker="herbench/1")


def test_without_release_in_the_configuration_nothing_happens(tmp_path):
    found = Reviewing(questions=ASKED)
    assert release(session(tmp_path), found, gated=GATED, maker="herbench/1") is found


def test_a_release_is_written_once_and_stays(tmp_path):
    folder = tmp_path / "out" / "release" / "set-1.0.0"
    for ending in ("1 questions.", "1 questions, as it was."):
        found = release(
            session(tmp_path, release=OUT), Reviewing(questions=ASKED[:1]), gated=GATED, maker="herbench/1"
        )
        assert found.sentences[-1] == f"Release {folder}: {ending}"
    assert found.files[-1].parent == folder
    assert found.files[-1].is_file()
