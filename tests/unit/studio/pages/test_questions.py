"""Screen of the drawn questions: what is said there goes into the review of the set."""

import re

import msgspec
import pytest

from subjects.gated import draft, questions
from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.output import item_of, json_lines
from vidence.make.review.audit import read_audit, review_id, wording_of
from vidence.make.review.sample import draw_sample
from vidence.studio.pages import questions as pages
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow

AT = "2026-11-22T10:00:00.000000Z"
RULES = ReviewRules(share=0.5, most_rejected=0.8)


@pytest.fixture
def made(team, tmp_path):
    """A made set of ten questions, half of them drawn, opened in a project."""
    some = questions([draft(f"d{i}") for i in range(10)])
    drawn = draw_sample(some, RULES, seed=1, open_gates={})
    folder, people = tmp_path / "set", tmp_path / "people"
    (folder / "review").mkdir(parents=True)
    people.mkdir()
    (folder / "review" / "questions.jsonl").write_bytes(json_lines(map(wording_of, drawn.rows)))
    lines = [msgspec.json.encode(item_of(one, maker="test")) for one in some]
    (folder / "items.jsonl").write_bytes(b"\n".join(lines))
    project = team.project("made", "herbench")
    row = MadeSetRow.objects.create(project=project, folder=str(folder), people_folder=str(people))
    team.user("Olga", "operator", project="made")
    team.user("Bob", "reviewer", project="made")
    return team, f"/projects/made/questions/{row.public}", drawn


def test_what_is_said_on_pages_goes_into_the_review_of_the_set(made, tmp_path, monkeypatch):
    team, address, drawn, place = *made, tmp_path / "reviews"
    olga, bob = team.signed_in("Olga"), team.signed_in("Bob")
    assert b"5 questions were taken in; 0 were there" in olga.post(address, {"act": "take"}).content
    assert b"0 questions were taken in; 5 were there" in olga.post(address, {"act": "take"}).content
    said = [
        {"frames": "yes", "unique": "yes", "apart": "yes", "verdict": "accept", "note": ""},
        {"frames": "", "unique": "no", "apart": "", "verdict": "reject", "note": 'two, "both" right'},
        {"frames": "", "unique": "", "apart": "", "verdict": "accept", "note": "plain"},
        {"frames": "no", "unique": "", "apart": "", "verdict": "reject", "note": ""},
    ]
    for row, cells in zip(drawn.rows, said, strict=False):
        item = ItemRow.objects.get(item_id=review_id(row))
        base = f"/projects/made/items/{item.public}"
        assert bob.post(f"{base}/claim").status_code == 302
        sent = {f"check:{name}": cells[name] for name in ("frames", "unique", "apart")}
        sent |= {"act": cells["verdict"], "message": cells["note"], "seen": item.lock_version + 1}
        assert bob.post(f"{base}/review", sent).status_code == 302
    assert b"told of no configuration" in olga.post(address, {"act": "write"}).content
    assert read_audit(drawn.rows, folder=place, at=AT) == ()
    monkeypatch.setattr(pages, "limits_of", lambda row: pages.Limits(rules=RULES, words="", target=place))
    assert b"4 verdicts were written into" in olga.post(address, {"act": "write"}).content
    assert b"0 verdicts were written into" in olga.post(address, {"act": "write"}).content
    found = read_audit(drawn.rows, folder=place, at=AT)
    assert [(one.is_accepted, one.note) for one in found] == [
        (cells["verdict"] == "accept", cells["note"]) for cells in said
    ]
    assert [one.failed_checks for one in found] == [(), ("unique",), (), ("frames",)]


def test_the_page_says_how_far_it_is(made):
    team, address, *_ = made
    page = re.sub(r"(<[^>]+>|\s)+", " ", team.signed_in("Olga").get(address).content.decode())
    assert "0 of 5 drawn questions are decided; 5 are not taken in yet." in page
    assert "AC 10 5 0 0 0" in page
    assert "held back whatever is said" in page
    bob = team.signed_in("Bob")
    assert b"Write the verdicts" not in bob.get(address).content
    assert bob.post(address, {"act": "write"}).status_code == 403
    assert b"set</a>" in bob.get("/projects/made/questions").content


def test_a_set_that_cannot_be_read_says_why(made):
    team, address, *_ = made
    row = MadeSetRow.objects.get()
    row.folder = "/nowhere"
    row.save()
    assert b"is not there" in team.signed_in("Bob").get(address).content
    assert team.signed_in("Olga").post(address, {"act": "take"}).status_code == 409


def test_another_protocol_takes_no_questions_in(made):
    team, address, *_ = made
    other = team.project("films", "mmvu")
    MadeSetRow.objects.update(project=other)
    team.user("Ann", "operator", project="films")
    answer = team.signed_in("Ann").post(address.replace("/made/", "/films/"), {"act": "take"})
    assert b"another protocol" in answer.content
    assert not ItemRow.objects.exists()
