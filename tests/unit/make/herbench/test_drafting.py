"""The draft step: which tasks, how many drafts of each, and what the account says of the others."""

import pytest

from subjects.gated import draft
from subjects.herbench_session import session, state
from subjects.kitchens import kitchens, material
from vidence.errors import UnknownNameError, UsageError
from vidence.make.herbench import drafting
from vidence.make.herbench.config import TaskRules
from vidence.make.herbench.drafting import draft_all, open_tasks
from vidence.make.pipeline.ledger import UnitDone, ignore

CORPUS = kitchens(3)
VIDEOS = [state(material(found, video_id=name)) for name, found in CORPUS.events.items()]


def drafted(tmp_path, *names, videos=VIDEOS, on_event=ignore, **rules):
    """The drafts of tasks under these rules, and the accounts by stage."""
    work = session(tmp_path, on_event=on_event)
    orders = open_tasks({name: TaskRules(**rules) for name in names}, names, root=tmp_path)
    with work.models:
        drafts = draft_all(work, videos, CORPUS, orders=orders)
    return drafts, {one.stage: one for one in work.ledger.stages}


def test_quotas_hold_for_each_video_and_for_all(tmp_path):
    every, accounts = drafted(tmp_path, "ac", per_video=2)
    n_all = accounts["quotas"].n_out
    drafts, accounts = drafted(tmp_path, "ac", per_video=2, total=3)
    assert n_all > 3
    assert {one.video_id for one in drafts} == {one.video_id for one in every}  # the videos in turn
    quotas = accounts["quotas"]
    assert (quotas.n_out, quotas.dropped["over-total"]) == (3, n_all - 3)
    assert quotas.n_in == sum(quotas.dropped.values()) + 3


def test_structures_that_are_not_wanted_are_left_out(tmp_path):
    drafts, accounts = drafted(tmp_path, "ac", structures=("verb",))
    assert {one.structure for one in drafts} == {"verb"}
    assert accounts["quotas"].dropped["structure-not-wanted"] > 0


def test_a_video_that_lacks_what_a_task_needs_is_accounted_for(tmp_path):
    blank = state(material((), video_id="blank"))
    blank.absent["events"] = "no log"
    drafts, accounts = drafted(tmp_path, "ac", videos=[VIDEOS[0], blank])
    assert {one.video_id for one in drafts} == {VIDEOS[0].video_id}
    pairs = accounts["pairs"]
    assert (pairs.n_in, pairs.n_out, pairs.dropped) == (2, 1, {"no-events": 1})


def test_a_second_session_makes_nothing_anew(tmp_path):
    heard: list[object] = []
    first, _ = drafted(tmp_path, "ac", "fom")
    second, _ = drafted(tmp_path, "ac", "fom", on_event=heard.append)
    assert second == first
    assert [one.was_cached for one in heard if isinstance(one, UnitDone)] == [True] * 2 * len(VIDEOS)


def test_an_unknown_structure_or_task_is_refused(tmp_path):
    with pytest.raises(UsageError, match="the task 'ac' has no structure 'verbs'; it has pair, verb"):
        open_tasks({"ac": TaskRules(structures=("verbs",))}, ("ac",), root=tmp_path)
    with pytest.raises(UnknownNameError, match="fim"):
        open_tasks({}, ("fim",), root=tmp_path)


def test_own_templates_start_from_the_folder_of_the_configuration_and_have_a_digest(tmp_path):
    rules = {"agbi": TaskRules(options={"prompts": "mine"})}
    (tmp_path / "mine").mkdir()
    file = tmp_path / "mine" / "task_agbi.txt"
    digests = []
    for text in ("About {{ topic }}: {{ notes }}", "On {{ topic }}: {{ notes }}"):
        file.write_text(text)
        (order,) = open_tasks(rules, ("agbi",), root=tmp_path)
        digests.append(order.templates)
    assert digests[0] != digests[1]
    assert open_tasks({}, ("agbi",), root=tmp_path)[0].templates == ""
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"the templates in .*mine cannot be read"):
        open_tasks(rules, ("agbi",), root=tmp_path)


@pytest.mark.parametrize(
    ("answers", "share", "kept"),
    [
        ("aaaaaaab", 0.4, "aab"),  # two at least, and less than the share of what is left
        ("aabbccdd", 0.4, "aabbccdd"),
        ("aaaaaaaabbbbbb", 0.5, "aaaaaabbbbbb"),
        ("aaaaaaab", 1.0, "aaaaaaab"),
        ("ab", 0.4, "ab"),
    ],
)
def test_no_answer_is_right_too_often_in_a_structure(answers, share, kept):
    drafts = [draft(f"{i}", choices=(right, "v", "w", "x", "y")) for i, right in enumerate(answers)]
    left_out = drafting._too_common(drafts, share=share)
    assert "".join(a for a, one in zip(answers, drafts, strict=True) if one.draft_id not in left_out) == kept


def test_questions_that_need_fewer_moments_can_be_left_out(tmp_path):
    every, _ = drafted(tmp_path, "ac", per_video=20)
    few = sum(one.k < 5 for one in every)
    assert 0 < few < len(every)
    drafts, accounts = drafted(tmp_path, "ac", per_video=20, least_k=5)
    assert min(one.k for one in drafts) >= 5
    assert accounts["quotas"].dropped["below-least-k"] >= few
