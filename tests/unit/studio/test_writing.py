"""The work of an author: forms by protocols, drafts of what was imported, what looking leaves as it is."""

import msgspec
import pytest

from vidence.errors import DataError
from vidence.records import Item, Media
from vidence.studio.bridge.items import item_of
from vidence.studio.projects import add_items, add_project
from vidence.studio.records.items import ItemRow
from vidence.studio.workflow import Act, act, to_revision
from vidence.studio.writing import decoded, desk_of, draft_of, form_of_project


def test_a_protocol_has_its_form_or_that_of_experts(team, tmp_path):
    for name in ["humanpcr-r", "mmvu", "perceptioncomp", "actpld", "herbench", "humanpcr-pc"]:
        assert form_of_project(add_project(name, name)) == name
    path = tmp_path / "own.toml"
    path.write_text(
        'title = "Ours"\n[[stages]]\nrole = "reviewer"\n[[stages.checks]]\nid = "a"\nwords = "b"\n'
    )
    assert form_of_project(add_project("films", str(path))) == "mmvu"


def test_the_draft_of_an_imported_item_keeps_what_its_form_does_not_show(team):
    project = team.project()
    add_items(project, ["q1"], kinds={"q1": "mcq"})
    row = ItemRow.objects.get()
    item = Item(
        item_id="q1",
        benchmark="theirs",
        media=(Media(path="far/away.mp4"),),
        question="Where?",
        choices=("here", "there"),
        answer="B",
        tags={"level": "2", "subject": "Maps"},
    )
    act(row, Act(kind="submit", by="ann", role="author", content=msgspec.to_builtins(item), origin="import"))
    user = team.user("Ann", "author")
    written = decoded(draft_of(row, user).body)
    assert (written.right.text, written.subject) == ("there", "Maps")
    subject = desk_of(row, author="ann").subject
    assert (subject.media, subject.tags, subject.benchmark) == (item.media, {"level": "2"}, "theirs")
    assert item_of(to_revision(row.current, "q1")) == item


def test_a_draft_of_another_version_is_no_draft():
    with pytest.raises(DataError, match="cannot be read"):
        decoded('{"state": "accepted"}')
