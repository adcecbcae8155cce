"""Screen of the drawn questions: what is said there and what is typed into the sheet come to the same."""

import csv
import io
import re

import msgspec
import pytest

from subjects.gated import draft, questions
from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.output import item_of, json_lines
from vidence.make.review.audit import as_csv, drawn_lines, read_audit, review_id
from vidence.make.review.decision import decide_review
from vidence.make.review.sample import draw_sample
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow

RULES = ReviewRules(share=0.5, most_rejected=0.8)


@pytest.fixture
def made(team, tmp_path):
    """A made set of ten questions, half of them drawn, opened in a project."""
    some = questions([draft(f"d{i}") for i in range(10)])
    drawn = draw_sample(some, RULES, seed=1, open_gates={})
    folder, people = tmp_path / "set", tmp_path / "people"
    (folder / "review").mkdir(parents=True)
    people.mkdir()
    (folder / "review" / "questions.jsonl").write_bytes(json_lines(drawn_lines(drawn.rows)))
    lines = [msgspec.json.encode(item_of(one, maker="test")) for one in some]
    (folder / "items.jsonl").write_bytes(b"\n".join(lines))
    project = team.project("made", "herbench")
    row = MadeSetRow.objects.create(project=project, folder=str(folder), people_folder=str(people))
    team.user("Olga", "operator", project="made")
    team.user("Bob", "reviewer", project="made")
    return team, f"/projects/made/questions/{row.public}", some, drawn, people


def typed(path, rows, said):
    """The sheet as somebody fills it in with a spreadsheet."""
    lines = list(csv.DictReader(io.StringIO(as_csv(rows).decode("utf-8-sig"))))
    for line, cells in zip(lines, said, strict=False):
        line.update(cells)
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, lines[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return path


def test_what_is_said_on_pages_and_what_is_typed_come_to_the_same(made, tmp_path):
    team, address, some, drawn, people = made
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
    answer = olga.post(address, {"act": "write"})
    assert b"was written with 4 verdicts" in answer.content
    ours, theirs = people / "filled.csv", typed(tmp_path / "typed.csv", drawn.rows, said)
    assert ours.read_bytes() == theirs.read_bytes()
    found = [
        decide_review(
            some,
            drawn,
            said=read_audit(drawn.rows, [path], folder=None, at="2026-11-22T10:00:00.000000Z"),
            rules=RULES,
        )
        for path in (ours, theirs)
    ]
    assert found[0] == found[1]
    assert msgspec.json.encode(found[0][0]) == msgspec.json.encode(found[1][0])
    assert found[0][0].tasks[0].n_sample == 4


def test_a_sheet_that_was_begun_elsewhere_stays(made):
    team, address, _, drawn, people = made
    olga = team.signed_in("Olga")
    olga.post(address, {"act": "take"})
    path = typed(people / "filled.csv", drawn.rows, [{"verdict": "accept"}])
    before = path.read_bytes()
    refused = olga.post(address, {"act": "write"})
    assert refused.status_code == 409
    assert b"filled in elsewhere" in refused.content
    assert path.read_bytes() == before
    path.unlink()
    assert olga.post(address, {"act": "write"}).status_code == 200
    assert olga.post(address, {"act": "write"}).status_code == 200


def test_the_page_says_how_far_it_is(made):
    team, address, *_ = made
    page = re.sub(r"(<[^>]+>|\s)+", " ", team.signed_in("Olga").get(address).content.decode())
    assert "0 of 5 drawn questions are decided; 5 are not taken in yet." in page
    assert "AC 10 5 0 0 0" in page
    assert "held back whatever is said" in page
    bob = team.signed_in("Bob")
    assert b"Write the filled sheet" not in bob.get(address).content
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
