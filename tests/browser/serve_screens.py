"""A team's studio in which every screen has something to show: ``serve_screens.py FOLDER PASSWORD``."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from vidence.engine.environment import Environment
from vidence.studio import demonstration
from vidence.studio.app import configure
from vidence.studio.serving import Bind, address, listen, serve
from vidence.studio.settings import StudioSettings
from vidence.studio.upkeep import migrate

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
import seed_review
import serve_team

from subjects.gated import draft, questions

_RUN_AT = datetime(2026, 11, 20, 8, tzinfo=UTC)
AUTHOR, RESEARCHER = "Amy", "Rita"


def main(folder: Path, password: str) -> None:
    """Fill the folder, and serve until it is told to stop."""
    world, cache, data = folder / "demo", folder / "cache", folder / "studio"
    demonstration.make_material(world, environment=Environment(cache_root=cache, n_workers=2), now=_RUN_AT)
    runs = world / demonstration.RUNS
    command = ("diagnose", "mrfs", runs / "sees-everything", "--no-page", "--progress", "none")
    subprocess.run(
        [sys.executable, "-m", "vidence", *command],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "VIDENCE_CACHE": str(cache)},
    )
    data.mkdir()
    settings = StudioSettings(
        mode="team",
        data=data,
        paths=demonstration.paths_of(world),
        media_roots=(world / demonstration.WORLD,),
        cache_root=cache,
    )
    application = configure(settings, secret=b"s" * 32)
    migrate()
    fill(folder, world, password)
    bind = Bind()
    listening = listen(bind)
    print(f"team: {address(bind, listening)}/", flush=True)  # noqa: T201
    serve(application, listening)


def fill(folder: Path, world: Path, password: str) -> None:
    """A team with its people, items that wait for every look, and the demonstration."""
    from vidence.studio.accounts import add_user, set_password, user_of
    from vidence.studio.records.studies import ParticipantRow

    serve_team.fill(password, author=AUTHOR)
    videos = sorted((world / demonstration.WORLD / "videos").iterdir())
    seed_review.fill(folder, videos[0])
    demonstration.fill(world)
    for name in ("Ann", "Bo", "Cleo", "Dara", "Finn"):
        set_password(user_of(name), password)
    add_user(RESEARCHER, password, roles=("researcher",))
    add_hints()
    draw_questions(folder / "drawn")
    invited = ParticipantRow.objects.get(state="invited")
    (folder / "key").write_text(invited.key)


def add_hints() -> None:
    """A question whose hints nobody has tried."""
    from vidence.studio.projects import add_items
    from vidence.studio.records.items import ItemRow
    from vidence.studio.records.people import ProjectRow
    from vidence.studio.workflow import Act, RecordedAct, act

    add_items(ProjectRow.objects.get(slug=demonstration.PROJECT), ["kettle"], kinds={"kettle": "open"})
    content = {
        "item_id": "kettle",
        "media": [{"path": "videos/v000.mp4"}],
        "question": "Why is the lid taken off before the water boils?",
        "answer": "because the kettle is too full",
        "answer_kind": "text",
        "hints": ["Look at how far the kettle is filled.", "Water that boils takes more room."],
    }
    done = act(
        ItemRow.objects.get(item_id="kettle"), Act(kind="submit", role="author", by="ann", content=content)
    )
    assert isinstance(done, RecordedAct), done


def draw_questions(folder: Path) -> None:
    """A made set of ten questions, half of which are drawn for a review, opened in a project."""
    import msgspec

    from vidence.make.gates.rules import ReviewRules
    from vidence.make.pipeline.output import json_lines
    from vidence.make.review.audit import wording_of
    from vidence.make.review.sample import draw_sample
    from vidence.studio.projects import add_project
    from vidence.studio.records.boards import MadeSetRow

    some = questions([draft(f"d{i}") for i in range(10)])
    drawn = draw_sample(some, ReviewRules(share=0.5, most_rejected=0.8), seed=1, open_gates={})
    made, people = folder / "fruit", folder / "people"
    (made / "review").mkdir(parents=True)
    people.mkdir()
    (made / "review" / "questions.jsonl").write_bytes(json_lines(map(wording_of, drawn.rows)))
    lines = [msgspec.json.encode(one.item) for one in some]
    (made / "items.jsonl").write_bytes(b"\n".join(lines))
    project = add_project("made", "herbench", title="Made questions")
    MadeSetRow.objects.create(project=project, folder=str(made), people_folder=str(people))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
