"""Everything out, and in again."""

import json
from datetime import timedelta

import msgspec
import pytest

from servers.studio import studio
from vidence.errors import DataError, UsageError
from vidence.make.review.files import read_reviews
from vidence.make.review.protocol import digest
from vidence.records import Item
from vidence.studio.bridge.files import MANIFEST, export_studio, import_studio, read_manifest
from vidence.studio.bridge.recorded_files import take_items
from vidence.studio.ledger import reverse
from vidence.studio.records import boards, items, people, work
from vidence.studio.rulebooks import keep
from vidence.studio.rules.spans import Span
from vidence.studio.times import file_correction
from vidence.studio.training import Trial, accept, add_trial
from vidence.studio.upkeep import count_rows, verify
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of

LONG = "The cup is never seen; say which one is meant, and when it can be seen."


def question(name, **more):
    said = {"question": f"=1+1 of {name}?", "answer": "B", "choices": ["@one", "two"]}
    media = ({"path": "videos/a.mp4"},)
    return msgspec.convert({"item_id": name, "media": media, **said, **more}, Item)


def fill(tried):
    """A studio with rows in every table that goes out."""
    clock, project = tried.clock, tried.project("films", "mmvu")
    ann, bob = tried.user("Ann Real", "author", project="films"), tried.user("Bob Real", "reviewer")
    text = people.GuidelineRow.objects.create(
        project=project, version=1, source="Read me", sha256=digest(b"Read me"), added_at=clock()
    )
    for one in (ann, bob):
        accept(one, text)
    take_items(project, [question(f"q{i}") for i in range(3)])
    clock.move(60)
    row = items.ItemRow.objects.create(
        project=project,
        item_id="own",
        kind="mcq",
        author=ann,
        state="drafting",
        returns_left=1,
        strata={"form": "mmvu"},
        created_at=clock(),
        changed_at=clock(),
    )

    def do(item, kind, by, role, **more):
        clock.move(10)
        done = act(item, Act(kind=kind, by=by.pseudonym, role=role, **more))
        assert isinstance(done, RecordedAct), done
        return done

    content = msgspec.to_builtins(question("own")) | {"annotations": {"form": "mmvu", "seed": 3}}
    do(row, "submit", ann, "author", content=content)
    checks = protocol_of(project).stages[0].checks
    claimed = items.ItemRow.objects.get(item_id="q1")
    for one in (row, claimed):
        do(one, "claim", bob, "reviewer")
    do(row, "return", bob, "reviewer", message=LONG, checks={checks[0].id: "no"})
    do(claimed, "accept", bob, "reviewer", checks={one.id: "yes" for one in checks})
    people.QualificationRow.objects.create(
        user=ann, project=project, guideline=text, n_try=1, n_right=2, n_asked=2, is_passed=True, at=clock()
    )
    fill_looks(row, ann, bob, clock)
    fill_work(row, ann, bob, clock)
    fill_verdicts(project, ann, clock)


def fill_looks(row, ann, bob, clock):
    """What Bob said of what Ann wrote."""
    look = items.ReviewRow.objects.create(
        item=row,
        revision=row.current,
        stage="reviewer",
        reviewer=bob,
        author=ann,
        transition=items.TransitionRow.objects.get(kind="return"),
        decision="return",
        feedback="=cmd",
        seconds=12.5,
        begun_at=clock(),
        ended_at=clock(),
    )
    items.FieldVerdictRow.objects.create(review=look, field="question", verdict="wrong", note="-x")
    items.ChecklistAnswerRow.objects.create(review=look, check_id="question", said="no")
    items.ScoreRow.objects.create(review=look, score_id="worth", value=3)


def fill_work(row, ann, bob, clock):
    """Claims, drafts, messages, time and what is owed."""
    claim = work.AssignmentRow.objects.create(
        item=row, stage="reviewer", user=bob, state="submitted", claimed_at=clock(), ended_at=clock()
    )
    draft = work.DraftRow.objects.create(
        user=ann,
        item=row,
        project=row.project,
        stage="author",
        version=1,
        body='{"b": 1, "a": "é"}',
        saved_at=clock(),
    )
    work.DraftLogRow.objects.create(draft=draft, version=1, body=draft.body, request="r1", at=clock())
    work.TimeSpanRow.objects.create(
        user=bob,
        assignment=claim,
        kind="active",
        source="heartbeat",
        start_at=clock(),
        end_at=clock() + timedelta(seconds=90),
        reason="=HYPERLINK(1)",
    )
    project = row.project
    keep(project, project.protocol.source + "\n# said again\n", by="p003")
    add_trial(project, Trial(role="reviewer", words="A cup", options=("yes", "no"), right="yes"))
    half_an_hour = Span(
        kind="active", start=clock() - timedelta(hours=1), end=clock() - timedelta(minutes=30)
    )
    file_correction(ann, project, half_an_hour, reason="watched on paper")
    reverse(work.LedgerRow.objects.filter(user=ann).order_by("number")[0], by="p003", reason="a try")


def fill_verdicts(project, ann, clock):
    """What Ann said of a set in the making."""
    made = boards.MadeSetRow.objects.create(
        project=project, folder="/srv/ann/sets/street", people_folder="/srv/ann/sets/street/people"
    )
    boards.BoardRow.objects.create(
        made_set=made,
        board="tracks",
        video_id="v1",
        key="7 split:30",
        said={"track_id": "7", "act": "split:30"},
        by_name=ann.pseudonym,
        at=clock(),
    )


def contents(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.fixture
def exported(tmp_path):
    """An export of a studio with rows in every table."""
    with studio("team", tmp_path / "first") as tried:
        fill(tried)
        counts = count_rows("default")
        assert not [name for name, n in counts.items() if not n]
        export_studio(tmp_path / "out")
        yield tmp_path / "out"


def test_out_in_and_out_again_are_the_same_bytes(tmp_path):
    with studio("team", tmp_path / "first") as tried:
        fill(tried)
        counts = count_rows("default")
        assert not [name for name, n in counts.items() if not n]
        export_studio(tmp_path / "one")
        export_studio(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    with studio("team", tmp_path / "second") as other:
        other.clock.move(86_400)
        done = import_studio(tmp_path / "one")
        assert (done.taken.n_same, done.n_left) == (0, 0)
        again = count_rows("default")
        assert {name: n for name, n in again.items() if name != "AuditEventRow"} == {
            name: n for name, n in counts.items() if name != "AuditEventRow"
        }
        assert list(verify()) == []
        export_studio(tmp_path / "two")
        assert contents(tmp_path / "one") == contents(tmp_path / "two")
        again = count_rows("default")
        second = import_studio(tmp_path / "one")
        assert (second.taken.n_new, count_rows("default")) == (0, again)


def test_nothing_says_who_people_are_or_where_files_lie(exported):
    told = b"".join(contents(exported).values())
    for secret in (b"Real", b"real", b"md5$", b"/srv", b"password"):
        assert secret not in told


def test_the_files_of_a_project_are_those_of_a_review_and_of_questions(exported):
    folder = exported / "projects" / "films"
    reviews = read_reviews(folder)
    assert {name: state.state for name, state in reviews.states.items()} == {
        "own": "returned",
        "q0": "submitted",
        "q1": "accepted",
        "q2": "submitted",
    }
    lines = (folder / "items.jsonl").read_bytes().splitlines()
    found = [msgspec.json.decode(one, type=Item) for one in lines]
    assert found == [question(name) for name in ("own", "q0", "q1", "q2")]
    (noted,) = (json.loads(one) for one in (folder / "annotations.jsonl").read_text().splitlines())
    assert (noted["item_id"], noted["annotations"]["seed"]) == ("own", 3)


def test_no_cell_for_people_is_a_formula(exported):
    told = (exported / "projects/films/items.csv").read_text(encoding="utf-8-sig")
    assert "'=1+1 of own?" in told
    assert ",=" not in told
    assert "'=HYPERLINK(1)" in (exported / "spans.csv").read_text(encoding="utf-8-sig")
    assert '"=1+1 of own?"' in (exported / "projects/films/items.jsonl").read_text()


def test_another_folder_is_not_written_over(team, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(UsageError, match="is no export"):
        export_studio(tmp_path / "mine")


def test_an_earlier_export_is_replaced(team, tmp_path):
    team.project("old")
    export_studio(tmp_path / "out")
    people.ProjectRow.objects.all().delete()
    export_studio(tmp_path / "out")
    assert not (tmp_path / "out/projects/old/protocol.toml").exists()
    assert set(contents(tmp_path / "out")) == {*read_manifest(tmp_path / "out").files, MANIFEST}


def broken(folder, name, change):
    """Change a file and let the manifest agree."""
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["files"][name] = digest(path.read_bytes())
    (folder / MANIFEST).write_text(json.dumps(manifest))


def without_last_line(content):
    return b"".join(content.splitlines(keepends=True)[:-1])


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        (
            "tables/people.jsonl",
            lambda it: it.replace(b"{", b'{"password":"x",', 1),
            "'password' is not known",
        ),
        (
            "tables/items.jsonl",
            lambda it: it.replace(b"{", b'{"state":"accepted",', 1),
            "'state' is not known",
        ),
        (
            "tables/protocols.jsonl",
            lambda it: it.replace(b"least_message = 40", b"least_message = 1"),
            "hash",
        ),
        ("tables/spans.jsonl", lambda it: it.replace(b'"active"', b'"lazy"'), "breaks a rule"),
        (
            "tables/spans.jsonl",
            lambda it: it.replace(b'"n_beats":0', b'"n_beats":"many"'),
            "spans.jsonl:1: 'many'",
        ),
        ("tables/spans.jsonl", lambda it: it.replace(b"p002", b"p9"), "spans.jsonl:1: 'p9' is not there"),
        ("tables/spans.jsonl", lambda it: it[:-20], "spans.jsonl:1: no row"),
        ("projects/films/reviews.jsonl", without_last_line, "rows were taken out"),
        (
            "projects/films/reviews.jsonl",
            lambda it: it.replace(b'"accept"', b'"reject"'),
            "not what its hash",
        ),
        ("projects/films/protocol.toml", lambda it: it + b"\n", "is not what"),
    ],
)
def test_what_was_changed_is_refused_and_nothing_is_taken(tmp_path, name, change, reason):
    with studio("team", tmp_path / "first") as tried:
        fill(tried)
        export_studio(tmp_path / "out")
    broken(tmp_path / "out", name, change)
    with studio("team", tmp_path / "second"):
        before = count_rows("default")
        with pytest.raises(DataError, match=reason):
            import_studio(tmp_path / "out")
        assert count_rows("default") == before


def test_a_file_that_the_manifest_does_not_agree_with_is_refused(exported):
    path = exported / "tables" / "spans.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    (exported / "tables" / "people.jsonl").unlink()
    with pytest.raises(DataError, match=r"2 faults") as told:
        import_studio(exported)
    assert "people.jsonl is not there" in str(told.value)
    assert "spans.jsonl was changed" in str(told.value)


def test_no_name_leads_out_of_the_folder(exported, tmp_path):
    manifest = json.loads((exported / MANIFEST).read_bytes())
    manifest["chains"]["../../secret"] = {"n_events": 0, "sha256": ""}
    (exported / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="no name of a project"):
        import_studio(exported)
    outside = tmp_path / "outside.jsonl"
    path = exported / "tables" / "spans.jsonl"
    path.rename(outside)
    path.symlink_to(outside)
    del manifest["chains"]["../../secret"]
    (exported / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(DataError, match=r"spans\.jsonl is not there"):
        import_studio(exported)


def test_people_who_are_here_keep_the_roles_that_were_given_here(tmp_path):
    with studio("team", tmp_path / "first") as tried:
        fill(tried)
        tried.user("Root", "operator")
        export_studio(tmp_path / "out")
    with studio("team", tmp_path / "second") as other:
        mine = other.user("Eve", "researcher")
        assert mine.pseudonym == "p001"
        done = import_studio(tmp_path / "out")
        assert done.n_left == 2  # the membership and the qualification of p001
        assert [one.roles for one in mine.memberships.all()] == [["researcher"]]
        root = people.UserRow.objects.get(pseudonym="p003")
        assert root.memberships.get().roles == ["operator"]
        assert other.client().post("/sign-in", {"username": "p003", "password": ""}).status_code == 403


def test_an_export_of_a_later_vidence_is_refused(exported):
    manifest = json.loads((exported / MANIFEST).read_bytes())
    (exported / MANIFEST).write_text(json.dumps({**manifest, "format": "vidence-studio/2"}))
    with pytest.raises(DataError, match="a later vidence"):
        import_studio(exported)
