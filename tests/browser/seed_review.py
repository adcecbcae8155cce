"""Items that wait for a look, put straight into the folder of a team: ``seed_review.py FOLDER CLIP``."""

import sys
from pathlib import Path

from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings

PASSWORD = "correct horse battery"  # noqa: S105 - of tests
ITEM = {
    "question": "Which cup is picked up after the door has been opened?",
    "choices": ["the red one", "the blue one", "the one with a handle"],
    "answer": "B",
    "conditions": [
        {"name": "first", "text": "a door is opened"},
        {"name": "second", "text": "a cup is picked up"},
    ],
    "rationale": "The door opens, then the blue cup is lifted.",
    "evidence": [
        {"kind": "referred", "start_s": 0.2, "end_s": 0.9, "note": "the door opens"},
        {"kind": "proactive", "start_s": 1.2, "end_s": 2.0, "note": "the blue cup is lifted"},
    ],
    "tags": {"task": "sequence"},
}
TWO = """title = "Two look"
returns = 1
least_message = 20
[[stages]]
role = "reviewer"
looks = 2
[[stages.checks]]
id = "unique"
words = "Exactly one choice is right."
[[stages.checks]]
id = "seen"
words = "What is asked for can be seen."
[[stages.scores]]
id = "clarity"
words = "How plain it is what is asked."
"""


def main(folder: Path, clip: Path) -> None:
    """Fill the folder.

    Args:
        folder: that of the studio.
        clip: the film of all items.
    """
    folder.mkdir(parents=True, exist_ok=True)
    configure(StudioSettings(mode="team", data=folder))
    from vidence.studio.upkeep import migrate

    migrate()
    fill(folder, clip)


def fill(folder: Path, clip: Path) -> None:
    """Fill the configured studio.

    Args:
        folder: where the text of a protocol is written.
        clip: the film of all items.
    """
    from vidence.studio.accounts import add_user
    from vidence.studio.projects import add_items, add_project
    from vidence.studio.records.items import ItemRow
    from vidence.studio.workflow import Act, RecordedAct, act

    two, own = folder / "two.toml", folder / "own.toml"
    two.write_text(TWO)
    own.write_text(TWO.replace("looks = 2", "looks = 1"))
    projects = {
        slug: add_project(slug, protocol, title=title, media_root=str(clip.parent))
        for slug, protocol, title in (
            ("composed", "perceptioncomp", "Composed questions"),
            ("experts", "mmvu", "Questions of experts"),
            ("reasoning", "humanpcr-r", "Reasoning"),
            ("twice", str(two), "Looked at twice"),
            ("own", str(own), "Rules of one's own"),
            *((name, name, name) for name in ("actpld", "herbench", "humanpcr-pc")),
        )
    }
    add_user("Eve", PASSWORD, roles=("reviewer", "meta", "operator"))
    add_user("Max", PASSWORD, roles=("meta",))
    for slug, project in projects.items():
        names = [f"{slug}-{i:02d}" for i in range(1, 4)]
        add_items(project, names, kinds=dict.fromkeys(names, "mcq"))
        for item in ItemRow.objects.filter(project=project).order_by("item_id"):
            words = {"item_id": item.item_id, "media": [{"path": clip.name}], **ITEM}
            done = act(item, Act(kind="submit", role="author", by="ann", content=words, minutes=9.5))
            assert isinstance(done, RecordedAct), done
    item = ItemRow.objects.get(item_id="twice-01")
    good, bad = {"unique": "yes", "seen": "yes"}, {"unique": "no", "seen": "yes"}
    for by, kind, checks, message in (
        ("pia", "accept", good, ""),
        ("tom", "return", bad, "The red one is picked up as well, at 1.8 s."),
    ):
        act(item, Act(kind="claim", role="reviewer", by=by))
        said = Act(kind=kind, role="reviewer", by=by, checks=checks, scores={"clarity": 4}, message=message)
        done = act(item, said)
        assert isinstance(done, RecordedAct), done


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
