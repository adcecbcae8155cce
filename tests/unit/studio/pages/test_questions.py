"""Screen of the drawn questions: what is said there goes into the review of the set."""

import re

import msgspec
import pytest

from subjects.gated import draft, questions
from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.output import json_lines
from vidence.make.review.audit import wording_of
from vidence.make.review.sample import draw_sample
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
    lines = [msgspec.json.encode(one.item) for one in some]
    (folder / "items.jsonl").write_bytes(b"\n".join(lines))
    project = team.project("made", "herbench")
    row = MadeSetRow.objects.create(project=project, folder=str(folder), people_folder=str(people))
    team.user("Olga", "operator", project="made")
    team.user("Bob", "reviewer", project="made")
    return team, f"/projects/made/questions/{row.public}", drawn


def test_the_page_says_how_far_it_is_or_why_it_cannot_be_read(made):
    team, address, *_ = made
    page = re.sub(r"(<[^>]+>|\s)+", " ", team.signed_in("Olga").get(address).content.decode())
    assert "0 of 5 drawn questions are decided; 5 are not imported yet." in page
    assert "AC 10 5 0 0 0" in page
    assert "held back anyway" in page
    bob = team.signed_in("Bob")
    assert b"Write the verdicts" not in bob.get(address).content
    assert bob.post(address, {"act": "write"}).status_code == 403
    assert b"set</a>" in bob.get("/projects/made/questions").content
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
    assert b"the protocol of this project is not" in answer.content
    assert not ItemRow.objects.exists()
