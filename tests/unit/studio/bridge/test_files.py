"""The projects of a studio go out as reviews and questions."""

import json
from datetime import timedelta

import msgspec
import pytest

from servers.studio import studio
from vidence.errors import UsageError
from vidence.make.review.files import read_reviews
from vidence.records import Item
from vidence.studio.bridge.files import export_studio
from vidence.studio.bridge.recorded_files import take_items, take_review
from vidence.studio.records import items, work
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of

LONG = "The cup is never seen; say which one is meant, and when it can be seen."


def question(name, **more):
    said = {"question": f"=1+1 of {name}?", "answer": "B", "choices": ["@one", "two"]}
    return msgspec.convert({"item_id": name, "media": ({"path": "videos/a.mp4"},), **said, **more}, Item)


def fill(tried):
    """Questions in several states, and time that was recorded."""
    clock, project = tried.clock, tried.project("films", "mmvu")
    ann, bob = tried.user("Ann Real", "author", project="films"), tried.user("Bob Real", "reviewer")
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

    content = msgspec.to_builtins(question("own")) | {"annotations": {"form": "mmvu", "seed": 3}}
    do(row, "submit", ann, "author", content=content)
    checks = protocol_of(project).stages[0].checks
    claimed = items.ItemRow.objects.get(item_id="q1")
    for one in (row, claimed):
        do(one, "claim", bob, "reviewer")
    do(row, "return", bob, "reviewer", message=LONG, checks={checks[0].id: "no"})
    do(claimed, "accept", bob, "reviewer", checks={one.id: "yes" for one in checks})
    work.TimeSpanRow.objects.create(
        user=bob,
        kind="active",
        source="heartbeat",
        start_at=clock(),
        end_at=clock() + timedelta(seconds=90),
        reason="=HYPERLINK(1)",
    )


def contents(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """An export of a studio."""
    folder = tmp_path_factory.mktemp("out")
    with studio("team", folder / "first") as tried:
        fill(tried)
        export_studio(folder / "out")
        before = contents(folder / "out")
        export_studio(folder / "out")
        assert contents(folder / "out") == before
    return folder / "out"


def test_a_project_comes_in_again_and_goes_out_as_it_was(exported, team, tmp_path):
    taken = take_review(exported / "projects" / "films", slug="films")
    assert (taken.n_new, taken.n_same) == (8, 0)
    assert take_review(exported / "projects" / "films", slug="films").n_new == 0
    export_studio(tmp_path / "out")
    for name in ("protocol.toml", "revisions.jsonl", "reviews.jsonl", "items.jsonl", "annotations.jsonl"):
        path = f"projects/films/{name}"
        assert (tmp_path / "out" / path).read_bytes() == (exported / path).read_bytes(), name


def test_files_are_those_of_a_review_and_say_nothing_of_people(exported):
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
    told = b"".join(contents(exported).values())
    for secret in (b"Real", b"real", b"md5$", b"/srv", b"password"):
        assert secret not in told
    told = (exported / "projects/films/items.csv").read_text(encoding="utf-8-sig")
    assert "'=1+1 of own?" in told
    assert ",=" not in told
    assert "'=HYPERLINK(1)" in (exported / "spans.csv").read_text(encoding="utf-8-sig")
    assert '"=1+1 of own?"' in (exported / "projects/films/items.jsonl").read_text()


def test_another_folder_is_not_written_over(team, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(UsageError, match=r"is not empty: it holds thesis\.txt"):
        export_studio(tmp_path / "mine")
