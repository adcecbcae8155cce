"""The maker ``herbench`` on a log of five made-up kitchens: questions, accounts, going on, redoing."""

import json
import os
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

from vidence.ask.benchmarks.herbench import create as herbench
from vidence.ask.benchmarks.table import create as table
from vidence.errors import DataError, UnknownNameError, UsageError
from vidence.make.makers.herbench import create
from vidence.make.pipeline.ledger import MakeEvent, UnitDone
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.session import BuildContext, Built, MakeOverrides

GOLDEN = Path(__file__).parents[3] / "golden" / "makers" / "herbench"
TASKS = ("ac", "asii", "fam", "fom")


class Session:
    """Makings in a folder; `events` are those of the last one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(GOLDEN, folder / "set")
        self.config = folder / "set" / "config.toml"
        self.out = folder / "out"
        self.events: list[MakeEvent] = []
        self.stop_after = -1

    def make(self, **overrides: object) -> Built:
        self.events = []
        context = BuildContext(
            cache_root=self.folder / "cache", memory=self.folder / "replies.sqlite", on_event=self._hear
        )
        return create().make(self.config, out=self.out, overrides=MakeOverrides(**overrides), context=context)

    def _hear(self, event: MakeEvent) -> None:
        self.events.append(event)
        if isinstance(event, UnitDone) and len(self.units()) == self.stop_after:
            os.kill(os.getpid(), signal.SIGINT)

    def units(self, *, made: bool = False) -> list[str]:
        return [
            f"{e.stage} {e.unit}"
            for e in self.events
            if isinstance(e, UnitDone) and not (made and e.was_cached)
        ]

    def edit(self, old: str, new: str) -> None:
        text = self.config.read_text()
        assert old in text
        self.config.write_text(text.replace(old, new))

    def account(self) -> dict[str, dict[str, object]]:
        found = json.loads((self.out / "account.json").read_text())
        return {stage["stage"]: stage for stage in found["stages"]}

    def contents(self) -> dict[str, bytes]:
        files = [path for path in self.out.rglob("*") if path.is_file() and "stages" not in path.parts]
        return {path.relative_to(self.out).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def session(tmp_path) -> Session:
    return Session(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Session:
    one = Session(tmp_path_factory.mktemp("made"))
    one.make()
    return one


def drafts(session: Session) -> list[Draft]:
    import msgspec

    lines = (session.out / "drafts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Draft) for line in lines]


def test_every_stage_gives_an_account_of_what_came_in(made):
    for stage in made.account().values():
        assert stage["n_in"] == stage["n_out"] + sum(stage.get("dropped", {}).values())
    account = made.account()
    assert account["sources"]["n_in"] == 5
    assert account["events"]["n_in"] == 130  # 5 kitchens with 26 rows each
    assert account["pairs"]["n_in"] == 20  # 5 videos, 4 tasks
    assert account["drafts"]["n_out"] == account["quotas"]["n_in"]
    assert account["quotas"]["n_out"] == len(drafts(made))
    dropped = [json.loads(line) for line in (made.out / "dropped.jsonl").read_text().splitlines()]
    counted = Counter((one["stage"], one["reason"]) for one in dropped)
    assert counted == {
        (name, reason): n for name, stage in account.items() for reason, n in stage.get("dropped", {}).items()
    }


def test_quotas_hold(made):
    per_pair = Counter((draft.task, draft.video_id) for draft in drafts(made))
    assert max(per_pair.values()) == 3
    per_task = Counter(draft.task for draft in drafts(made))
    assert per_task["FAM"] == 5
    assert made.account()["quotas"]["dropped"]["over-total"] >= 1
    # from the videos in turn: none gives two before each of the others gave one
    fam = sorted(n for (task, _), n in per_pair.items() if task == "FAM")
    assert fam[-1] - fam[0] <= 1


def test_every_question_has_five_options_and_evidence_enough(made):
    found = drafts(made)
    assert {draft.task for draft in found} == {"AC", "ASII", "FAM", "FOM"}
    for draft in found:
        assert len(set(draft.choices)) == 5
        assert 0 <= draft.answer_index < 5
        assert draft.k >= 3
        assert len(draft.evidence) >= draft.k


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


def test_a_second_session_makes_nothing_and_writes_the_same(session):
    session.make()
    before = session.contents()
    session.make()
    assert session.units(made=True) == []
    assert len(session.units()) == 20
    assert session.contents() == before


def test_the_same_configuration_elsewhere_gives_the_same_questions(session, made):
    session.make()
    assert session.contents() == made.contents()


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
    session.stop_after = -1
    session.make()
    made_now = session.units(made=True)
    assert len(begun) >= 7
    assert len(begun) + len(made_now) == len({*begun, *made_now}) == 20
    assert session.contents() == made.contents()


def test_a_changed_setting_redoes_what_depends_on_it_and_nothing_else(session):
    session.make()
    session.edit("[tasks.ac]\nper_video = 3", "[tasks.ac]\nper_video = 2")
    session.make()
    assert {unit.split()[0] for unit in session.units(made=True)} == {"draft-ac"}
    session.edit("seed = 3", "seed = 4")
    session.make()
    assert len(session.units(made=True)) == 20


def test_a_changed_log_redoes_every_task_since_foils_come_from_it(session):
    session.make()
    log = session.config.parent / "log.csv"
    log.write_text(log.read_text() + "kitchen-1,900.0,903.0,grate the cheese,grate,cheese\n")
    session.make()
    assert len(session.units(made=True)) == 20


def test_accounts_that_are_published_name_no_folder_of_this_machine(session):
    elsewhere = session.folder / "mine" / "log.csv"
    elsewhere.parent.mkdir()
    rows = "kitchen-1,0.0,2.0,grate the cheese,grate,cheese\nkitchen-1,9.0,8.0,dry a cup,dry,cup\n"
    elsewhere.write_text((session.config.parent / "log.csv").read_text() + rows)
    session.edit('path = "log.csv"', f"path = '{elsewhere}'")
    session.make()
    contents = session.contents()
    assert b"log.csv: 1 events stand after a later one" in contents["account.json"]
    (bad,) = (json.loads(line) for line in contents["dropped.jsonl"].splitlines() if b"bad-row" in line)
    assert bad["what"] == "log.csv problem 1"
    assert "log.csv" in bad["detail"]
    for name in ("account.json", "dropped.jsonl", "drafts.jsonl", "items.jsonl"):
        assert str(session.folder).encode() not in contents[name]


def test_overrides_narrow_a_session(session):
    session.make(only=("fam",), limit=2)
    assert session.account()["pairs"]["n_in"] == 2
    assert {draft.task for draft in drafts(session)} == {"FAM"}
    session.make(until="events")
    assert list(session.account()) == ["sources", "events"]


def test_task_files_of_an_earlier_session_do_not_stay(session):
    session.make()
    session.make(only=("fam",))
    assert [path.name for path in (session.out / "data" / "tasks").iterdir()] == ["false_action_memory.json"]


def test_what_a_task_lacks_is_said(session):
    session.edit("[tasks.ac]", "[tasks.rlpc]\n\n[tasks.tso]\n\n[tasks.ac]")
    session.make()
    dropped = [json.loads(line) for line in (session.out / "dropped.jsonl").read_text().splitlines()]
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
    with pytest.raises(UsageError, match="none of this configuration"):
        session.make(only=("tso",))


def test_a_folder_where_the_link_to_the_videos_would_be_is_left_alone(session):
    (session.out / "data" / "videos").mkdir(parents=True)
    with pytest.raises(UsageError, match="no link of ours"):
        session.make()
