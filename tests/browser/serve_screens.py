"""A team's studio in which every screen has something to show: ``serve_screens.py FOLDER PASSWORD``."""

import json
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
from subjects.hidden_board import hidden_split
from subjects.street_set import StreetSet

_RUN_AT = datetime(2026, 11, 20, 8, tzinfo=UTC)
AUTHOR, RESEARCHER, SUBMITTER = "Amy", "Rita", "Finn"


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
    street = StreetSet(folder / "street")
    street.folder.mkdir()
    street.draw().make()
    data.mkdir()
    settings = StudioSettings(
        mode="team",
        data=data,
        paths=(runs, street.made, street.config),
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

    serve_team.fill(password, author=AUTHOR)
    videos = sorted((world / demonstration.WORLD / "videos").iterdir())
    seed_review.fill(folder, videos[0])
    demonstration.fill(world)
    for name in ("Ann", "Bo", "Cleo", "Dara"):
        set_password(user_of(name), password)
    add_user(RESEARCHER, password, roles=("researcher",))
    add_hints()
    draw_questions(folder / "drawn")
    open_to_people(folder / "people-study", videos[:1])
    open_board(folder / "hidden", password, cache=folder / "cache")


STUDY = """title = "What happens in the film"
instructions = "You see short films, and one question about each. Choose the answer that fits best."
items = "items.jsonl"
n_people = 3
[[phases]]
name = "free"
title = "Watch and answer"
aids = "No search, no other people."
limit_s = 1800.0
[[phases]]
name = "once"
title = "Seen once"
condition = "once"
[[phases]]
name = "frames"
title = "Pictures of the film"
condition = "frames"
[[form]]
name = "answer"
kind = "answer"
title = "Your answer"
[[form]]
name = "sure"
kind = "scale"
low = 0
high = 4
title = "How sure are you? 0: not at all, 4: completely"
[[form]]
name = "why"
kind = "text"
title = "What did you see?"
is_optional = true
"""


def open_to_people(folder: Path, videos: list[Path]) -> None:
    """A study that is drawn and open; the keys of its links are in a file of the folder."""
    from vidence.studio.studies import invite, open_study

    folder.mkdir()
    lines = [
        {
            "item_id": "cards",
            "media": [{"path": str(video)}],
            "question": "Which card is seen first in the film?",
            "choices": ["the red one", "the blue one", "the green one", "the yellow one"],
            "answer": "B",
        }
        for video in videos
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "study.toml").write_text(STUDY)
    subprocess.run(
        [sys.executable, "-m", "vidence", "study", "draw", folder],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "VIDENCE_CACHE": str(folder / "cache")},
    )
    keys = [one.key for one in invite(open_study(folder), 3)]
    (folder / "keys.json").write_text(json.dumps(keys))


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


def open_board(folder: Path, password: str, *, cache: Path) -> None:
    """The board of a hidden split with scores of three teams, and one submission that waits."""
    from vidence.studio import leaderboard
    from vidence.studio.accounts import Profile, add_user
    from vidence.studio.scoring import Marker, open_vault, work
    from vidence.studio.settings import current

    split = hidden_split(folder, 200)
    limits = leaderboard.Limits(most_a_day=5, most_in_all=20)
    row = leaderboard.open_board(split.release, "", limits, title="Things on a table")
    items, data = leaderboard.items_of(row), current().settings.data
    marker = Marker(overrides={}, environment=Environment(cache_root=cache), clock=current().settings.clock)
    for name, team, counts in (
        ("Noor", "North Lab", (118,)),
        (SUBMITTER, "Red Pandas", (96, 99, 131)),
        ("Uli", "Uniform frames", (96,)),
    ):
        user = add_user(name, password, roles=("submitter",), profile=Profile(team=team))
        for n in counts:
            leaderboard.accept(user, leaderboard.read(split.right(n), items))
            work(open_vault(split.vault, row, data=data, is_judged=False), marker)
        if name == SUBMITTER:
            waiting = (user, leaderboard.read(split.right(140), items))
    leaderboard.accept(*waiting)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
