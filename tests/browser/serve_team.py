"""A team's studio with people, time and trial items in it, and with quick beats.

Run as a script: it prints the address as ``vidence studio`` does. Times are counted from when it starts.
"""

import sys
from datetime import timedelta
from pathlib import Path

from vidence.studio.app import configure
from vidence.studio.rules.spans import Pulse, Span
from vidence.studio.serving import Bind, address, listen, serve
from vidence.studio.settings import StudioSettings, now
from vidence.studio.upkeep import migrate

QUICK = Pulse(every_s=0.2, input_s=1.0, gap_s=1.5, idle_s=3, away_s=60)
DOMAINS = ("law", "art", "physics")
GUIDELINES = """Write questions that nobody answers without the video.

Say where in the video the evidence is. Do not name people, places or trade marks."""


def main(data: Path, password: str) -> None:
    """Serve until it is told to stop."""
    data.mkdir(parents=True, exist_ok=True)
    application = configure(StudioSettings(mode="team", data=data, pulse=QUICK), secret=b"s" * 32)
    migrate()
    fill(password)
    bind = Bind()
    listening = listen(bind)
    print(f"team: {address(bind, listening)}/", flush=True)  # noqa: T201
    serve(application, listening)


def fill(password: str, *, author: str = "Ann") -> None:
    """A project of three domains: four people, guidelines, trial items, a morning's time.

    Args:
        password: of everybody.
        author: what the first of its authors is called.
    """
    from vidence.make.review.protocol import protocol_bytes
    from vidence.studio import projects, times, training
    from vidence.studio.accounts import Terms, add_user, set_roles
    from vidence.studio.records.items import ItemRow
    from vidence.studio.records.work import TimeSpanRow
    from vidence.studio.workflow import Act, act

    source = protocol_bytes("mmvu").decode() + "pass_mark = 0.5\ntries = 2\n"
    project = projects.add_project("films", projects.RuleText(source=source), title="Films")
    projects.add_items(project, [f"film-{i:02}" for i in range(6)], kinds={})
    for i, item in enumerate(ItemRow.objects.order_by("item_id")):
        item.strata = {"domain": DOMAINS[i % len(DOMAINS)]}
        item.save()
    people = {}
    for name, roles, domains in (
        ("Olga", ("operator",), ()),
        (author, ("author",), ("law", "art")),
        ("Ben", ("author", "reviewer"), ("law",)),
        ("Rob", ("reviewer",), ("law", "art", "physics")),
    ):
        people[name] = add_user(name, password, roles=roles, project="films")
        set_roles(people[name], project, roles, terms=Terms(domains=domains), by="p001")
    add_user("Gina", password, roles=("operator",))
    first = training.add_guideline(project, GUIDELINES, by="p001")
    training.accept(people[author], first)
    for words in ("Which cup is red? The red one.", "What is behind the door, which never opens?"):
        trial = training.Trial(
            role="reviewer",
            words=words,
            options=("accept", "return", "reject"),
            right="accept" if words.startswith("Which") else "return",
            why="The video does not show it." if words.startswith("What") else "",
        )
        training.add_trial(project, trial)
    item = ItemRow.objects.get(item_id="film-00")
    act(item, Act(kind="submit", by=people[author].pseudonym, role="author", content={"question": "Which?"}))
    midnight = now().replace(hour=0, minute=0, second=0, microsecond=0)
    for start_s, length_s, its in ((60, 1217, item), (1400, 700, None)):
        begin = midnight - timedelta(days=1) + timedelta(hours=9, seconds=start_s)
        TimeSpanRow.objects.create(
            user=people[author],
            project=project,
            item=its,
            kind="active",
            source="heartbeat",
            start_at=begin,
            end_at=begin + timedelta(seconds=length_s),
            n_beats=length_s // 15,
        )
    yesterday = midnight - timedelta(days=1) + timedelta(hours=14)
    missed = Span(kind="active", start=yesterday, end=yesterday + timedelta(minutes=25))
    times.file_correction(people[author], project, missed, reason="watched the video on paper")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
