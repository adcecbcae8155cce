"""The maker ``herbench`` on a log of five made-up kitchens: questions, accounts, going on, redoing."""

import json
import signal
from collections import Counter

import pytest

from subjects.making import Making, contents
from vidence.ask.benchmarks.herbench import create as herbench
from vidence.ask.benchmarks.table import create as table
from vidence.errors import DataError, UnknownNameError, UsageError
from vidence.make.pipeline.material import Draft


@pytest.fixture
def session(tmp_path) -> Making:
    return Making(tmp_path, "herbench")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Making:
    one = Making(tmp_path_factory.mktemp("made"), "herbench")
    one.make()
    return one


def drafts(session: Making) -> list[Draft]:
    import msgspec

    lines = (session.out / "drafts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Draft) for line in lines]


def test_every_stage_gives_an_account_of_what_came_in(made):
    account = made.account()
    assert account["sources"]["n_in"] == 5
    assert account["events"]["n_in"] == 130  # 5 kitchens with 26 rows each
    assert account["pairs"]["n_in"] == 20  # 5 videos, 4 tasks
    assert account["drafts"]["n_out"] == account["quotas"]["n_in"]
    found = drafts(made)
    assert account["quotas"]["n_out"] == len(found)
    assert account["quotas"]["dropped"]["over-total"] >= 1
    per_pair = Counter((draft.task, draft.video_id) for draft in found)
    assert max(per_pair.values()) == 3
    # from the videos in turn: none gives two before each of the others gave one
    fam = sorted(n for (task, _), n in per_pair.items() if task == "FAM")
    assert sum(fam) == 5
    assert fam[-1] - fam[0] <= 1
    for draft in found:
        assert len(set(draft.choices)) == 5
        assert 0 <= draft.answer_index < 5
        assert len(draft.evidence) >= draft.k >= 3
    dropped = made.lines("dropped.jsonl")
    counted = Counter((one["stage"], one["reason"]) for one in dropped)
    assert counted == {
        (name, reason): n for name, stage in account.items() for reason, n in stage.get("dropped", {}).items()
    }


def test_both_formats_are_read_back_as_the_same_questions(made):
    by_table = table().load(made.out / "items.jsonl", split="all", strict=True)
    by_herbench = herbench().load(made.out / "data", split="all", strict=True)
    assert by_table.problems == by_herbench.problems == ()
    ours = {item.item_id: item for item in by_table.items}
    theirs = {item.item_id: item for item in by_herbench.items}
    assert ours.keys() == theirs.keys()
    assert len(ours) == len(drafts(made))
    for name, item in ours.items():
        other = theirs[name]
        assert (item.question, item.choices, item.answer) == (other.question, other.choices, other.answer)
        assert item.tags["task"] == other.tags["task"]
        assert item.tags["family"] == other.tags["family"]
        assert other.tags["source"] == "OWN"
        assert len(item.evidence) == len(other.evidence)
        for span, stamped in zip(item.evidence, other.evidence, strict=True):
            assert stamped.start_s <= span.start_s + 1e-6
            assert stamped.end_s >= span.end_s - 1e-6
            assert abs(stamped.start_s - span.start_s) <= 0.1 + 1e-6
            assert abs(stamped.end_s - span.end_s) <= 0.1 + 1e-6
    noted = [note for note in by_herbench.notes if "not there" not in note and "configurations" not in note]
    assert noted == []


def test_the_released_row_has_the_fields_of_herbench(made):
    rows = json.loads((made.out / "data" / "tasks" / "action_counting.json").read_text())
    first = rows[0]
    assert first["question_id"] == "AC_0000"
    assert first["video_path"] == f"videos/{first['video_id']}.mp4"
    assert [text[:3] for text in first["candidates"]] == ["A. ", "B. ", "C. ", "D. ", "E. "]
    assert first["candidates"]["ABCDE".index(first["answer_choice"])] == (
        f"{first['answer_choice']}. {first['answer_text']}"
    )
    assert first["answer_index"] == "ABCDE".index(first["answer_choice"])
    assert first["task_type"] == "Action Counting"


@pytest.fixture
def heeded():
    """Ctrl-C is heeded, also where tests run as a background job that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_a_killed_making_goes_on_with_the_unit_it_was_at(session, made):
    session.stop_after = 7
    with pytest.raises(KeyboardInterrupt):
        session.make()
    begun = session.units(made=True)
    session.make()
    made_now = session.units(made=True)
    assert len(begun) >= 7
    assert len(begun) + len(made_now) == len({*begun, *made_now}) == 20
    assert contents(session.out, without="stages") == contents(made.out, without="stages")


def test_a_changed_setting_redoes_what_depends_on_it_and_nothing_else(session):
    session.make()
    before = contents(session.out, without="stages")
    session.make()
    assert (session.units(made=True), len(session.units())) == ([], 20)
    assert contents(session.out, without="stages") == before
    session.edit("[tasks.ac]\nper_video = 3", "[tasks.ac]\nper_video = 2")
    session.make()
    assert {unit.split()[0] for unit in session.units(made=True)} == {"draft-ac"}
    log = session.config.parent / "log.csv"
    log.write_text(log.read_text() + "kitchen-1,900.0,903.0,grate the cheese,grate,cheese\n")
    session.make()
    assert len(session.units(made=True)) == 20  # foils come from it


def test_accounts_that_are_published_name_no_folder_of_this_machine(session):
    elsewhere = session.folder / "mine" / "log.csv"
    elsewhere.parent.mkdir()
    rows = "kitchen-1,0.0,2.0,grate the cheese,grate,cheese\nkitchen-1,9.0,8.0,dry a cup,dry,cup\n"
    elsewhere.write_text((session.config.parent / "log.csv").read_text() + rows)
    session.edit('path = "log.csv"', f"path = '{elsewhere}'")
    session.make()
    assert "log.csv: 1 events stand after a later one" in (session.out / "account.json").read_text()
    (bad,) = (one for one in session.lines("dropped.jsonl") if one["reason"] == "bad-row")
    assert bad["what"] == "log.csv problem 1"
    assert "log.csv" in bad["detail"]
    for name in ("account.json", "dropped.jsonl", "drafts.jsonl", "items.jsonl"):
        assert str(session.folder) not in (session.out / name).read_text()


def test_overrides_narrow_a_session(session):
    session.make()
    session.make(only=("fam",), limit=2)
    assert session.account()["pairs"]["n_in"] == 2
    assert {draft.task for draft in drafts(session)} == {"FAM"}
    tasks = session.out / "data" / "tasks"
    assert [path.name for path in tasks.iterdir()] == ["false_action_memory.json"]
    session.make(until="events")
    assert list(session.account()) == ["sources", "events"]


def test_what_a_task_lacks_is_said(session):
    session.edit("[tasks.ac]", "[tasks.rlpc]\n\n[tasks.tso]\n\n[tasks.ac]")
    session.make()
    dropped = session.lines("dropped.jsonl")
    reasons = {one["what"]: (one["reason"], one["detail"]) for one in dropped if one["stage"] == "pairs"}
    assert reasons["kitchen-1: RLPC"] == ("no-tracked", "the video is not here")
    assert reasons["kitchen-1: TSO"] == ("no-shots", "the video is not here")


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        ("[tasks.ac]", "[tasks.acc]", UsageError, "Did you mean 'ac'"),
        ('format = "plain"', 'format = "plein"', UsageError, "Did you mean 'plain'"),
        ('path = "log.csv"', 'path = "log.cvs"', DataError, "log.cvs"),
        (
            "per_video = 3",
            "per_video = 0",
            UsageError,
            "per_video: 0 found; expected a whole number of 1 or more",
        ),
        ("per_video = 3", 'structures = ["nothing"]', UsageError, "no structure 'nothing'"),
        ('name = "kitchens"', 'name = "a/b"', UsageError, "letters, digits"),
        ("seed = 3", "sead = 3", UsageError, "config.toml:3: there is no setting 'sead'"),
        ("seed = 3", '[cards]\nmodel = "writer"', UsageError, "'writer'"),
    ],
)
def test_a_wrong_configuration_is_refused(session, old, new, error, said):
    text = session.config.read_text()
    if new.startswith("[cards]"):
        text = text.replace("seed = 3\n", "").rstrip() + "\n\n" + new + "\n"
    else:
        text = text.replace(old, new, 1)
    session.config.write_text(text)
    with pytest.raises(error) as caught:
        session.make()
    assert said in str(caught.value)


def test_wrong_overrides_are_refused(session):
    with pytest.raises(UnknownNameError, match="events"):
        session.make(until="event")
    with pytest.raises(UnknownNameError, match="Did you mean 'fam'"):
        session.make(only=("fan",))
    with pytest.raises(UsageError, match="not in this configuration"):
        session.make(only=("tso",))


def test_a_folder_where_the_link_to_the_videos_would_be_is_left_alone(session):
    (session.out / "data" / "videos").mkdir(parents=True)
    with pytest.raises(UsageError, match="is not empty: it holds data"):
        session.make()
    (session.out / ".vidence-make-herbench").touch()
    with pytest.raises(UsageError, match="no link of ours"):
        session.make()
