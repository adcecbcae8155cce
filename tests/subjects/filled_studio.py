"""A studio with rows in most of its tables. Django is set up once in a process: fill it in one of its own."""

import json
from pathlib import Path

_UNFINISHED = "the question as far as it was written"


def _configure(data: Path) -> None:
    from vidence.studio.app import configure
    from vidence.studio.settings import StudioSettings

    data.mkdir(parents=True, exist_ok=True)
    configure(StudioSettings(mode="team", data=data))


def fill(data: Path) -> None:
    """A studio of today: people, questions in some states, a draft with its saves, and a ledger."""
    _configure(data)
    from vidence.studio.upkeep import migrate

    migrate()
    from PIL import Image

    from vidence.studio import drafts, projects
    from vidence.studio.accounts import add_user
    from vidence.studio.intake import add_medium
    from vidence.studio.records.items import ItemRow
    from vidence.studio.workflow import Act, RecordedAct, act

    project = projects.add_project("films", "mmvu", title="Films")
    author = add_user("Ann", "correct horse battery", roles=("author",), project="films")
    reviewer = add_user("Rob", "correct horse battery", roles=("reviewer",), project="films")
    projects.add_items(project, [f"q{n}" for n in range(4)], kinds={})
    picture = data / "films" / "a.png"
    picture.parent.mkdir()
    Image.new("RGB", (8, 8)).save(picture)
    project.media_root = str(picture.parent)
    project.save()
    add_medium(project, picture.name, kind="image")
    q0, q1, q2, _ = ItemRow.objects.order_by("item_id")
    for item in (q0, q1, q2):
        written = {"question": f"Which of {item.item_id}?"}
        said = Act(kind="submit", role="author", by=author.pseudonym, content=written)
        assert type(act(item, said)) is RecordedAct
        ItemRow.objects.filter(pk=item.pk).update(author=author)  # as the page does on the first save
    for item in (q1, q2):
        assert type(act(item, Act(kind="claim", role="reviewer", by=reviewer.pseudonym))) is RecordedAct
    draft = drafts.open_draft(author, ItemRow.objects.get(item_id="q3"), stage=drafts.AUTHOR, body="")
    for version in range(3):
        body = json.dumps({"question": _UNFINISHED[: 10 * (version + 1)]})
        drafts.save(draft, body=body, seen=version, request=f"r{version}")
