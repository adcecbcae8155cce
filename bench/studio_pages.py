"""A team's studio with 30,000 items, and one that is flooded: how long its pages take for the others.

    python bench/studio_pages.py [--only many,flood] [--items 30000] [--seconds 10] [--folder DIR]

Over HTTP on loopback, as `bench/studio_load.py`. The items are taken in as an export is: submitted, claimed,
returned with words, worded anew, accepted or rejected, over a hundred days. It ends with 1 where a target is
missed. Also part of `python bench/run.py` and of `make soak`.
"""

import argparse
import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness import Bench, Row, below
from studio_load import OPERATOR, PASSWORD, Browser, Server, Tally, all_of, none, printed

N_ITEMS = 30_000
N_SOURCES = 1_529
_DAYS = 100
_WORDS = "The cup is never seen; say which one is meant, and when it can be seen."
_AUTHORS, _REVIEWERS = ("Ann", "Ben", "Cem"), ("Bob", "Bea", "Rex")
_STORIES = ("sca", "sca", "scx", "scrRca", "scr", "sc", "s", "scxcj")
"""Submitted, claimed, released (x), returned, worded anew (R), accepted, rejected (j)."""
_HELD = "sc"
_P95_S, _ITEM_S, _MOST_MB = 0.3, 0.5, 400
_PAGES = 20
_FLOOD_A_SECOND = 300
_CONNECTIONS = 30
_OTHERS_S = 1.0


def seed(data: Path, n: int) -> None:
    """Accounts and a project of `n` items, in a process of its own."""
    from vidence.studio.app import configure
    from vidence.studio.settings import StudioSettings

    data.mkdir(parents=True)
    configure(StudioSettings(mode="team", data=data))
    from vidence.studio.upkeep import migrate

    migrate()
    from vidence.studio.accounts import Profile, add_user
    from vidence.studio.bridge.recorded_files import take_events
    from vidence.studio.projects import add_project

    project = add_project("films", "mmvu", title="Films")
    add_user(OPERATOR, PASSWORD, roles=("operator",))
    for role, names in (("author", _AUTHORS), ("reviewer", _REVIEWERS)):
        for name in names:
            add_user(name, PASSWORD, roles=(role,), project="films", profile=Profile(pseudonym=name.lower()))
    if n:
        take_events(project, *history(n, now=datetime.now(tz=UTC)))


def history(n: int, *, now: datetime) -> tuple[list[Any], list[Any]]:
    """The wordings and acts of `n` items; those of a few hundred are of today."""
    from vidence.make.review.revisions import Event, chained, new_revision

    revisions, acts = [], []
    rng = random.Random(22)
    for i in range(n):
        at = now - timedelta(days=_DAYS * (1 - i / n), seconds=60)
        story, author = rng.choice(_STORIES), rng.choice(_AUTHORS).lower()
        reviewer = "rex" if story == _HELD else rng.choice(_REVIEWERS).lower()  # the others may take more
        one = None
        for k, letter in enumerate(story):
            when = f"{at + timedelta(seconds=k):%Y-%m-%dT%H:%M:%S.%fZ}"
            if letter in "sR":
                content = {
                    "question": f"{i}: which cup is moved behind the lamp, {letter}?",
                    "choices": ["the red one", "the flat one", "the tall one", "none"],
                    "answer": "A",
                    "source_id": f"film{i % N_SOURCES}",
                    "tags": {"task": f"t{i % 8}"},
                }
                origin = "submit" if one is None else "author_revise"
                one = new_revision(f"q{i:05d}", content, parent=one, origin=origin, by=author, at=when)
                revisions.append(one)
            acts.append(_act(Event, letter, one, by=author if letter in "sR" else reviewer, at=when))
    acts.sort(key=lambda act: act.at)
    mine = defaultdict(list)
    for act in acts:
        mine[act.by].append(act)
    tied = [act for of_one in mine.values() for act in chained(of_one, last="")]
    return revisions, sorted(tied, key=lambda act: act.at)


def _act(event: Any, letter: str, one: Any, *, by: str, at: str) -> Any:
    kinds = {"s": "submit", "R": "resubmit", "c": "claim", "x": "release", "r": "return", "a": "accept"}
    said: dict[str, object] = {}
    if letter in "arj":
        said["checks"] = {name: "yes" for name in _checks()}
        said["minutes"] = 4.0
    if letter in "rj":
        said["checks"] = {name: "no" if k == 0 else "yes" for k, name in enumerate(_checks())}
        said["message"] = _WORDS
    return event(
        event_id="",
        item_id=one.item_id,
        revision=one.sha256,
        kind=kinds.get(letter, "reject"),
        role="author" if letter in "sR" else "reviewer",
        by=by,
        at=at,
        **said,
    )


def _checks() -> list[str]:
    from vidence.make.review.protocol import load_protocol

    return [one.id for one in load_protocol("mmvu").stages[0].checks]


def _started(folder: Path, n: int) -> Server:
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder, data=folder / "team")
    server.media.mkdir()
    words = [__file__, "--seed", str(n), "--folder", str(server.data)]
    subprocess.run([sys.executable, *words], check=True)
    server.start()
    return server


def _person(server: Server, tally: Tally, name: str) -> Browser:
    browser = Browser(server.port, tally)
    browser.sign_in(name)
    return browser


def _p95(seconds: list[float]) -> float:
    return sorted(seconds)[int(0.95 * (len(seconds) - 1))]


# --------------------------------------------------------------------------- many items


def many(folder: Path, *, n: int) -> list[Row]:
    """Pages of a project of `n` items."""
    began = time.perf_counter()
    server = _started(folder, n)
    what = f"(studio) pages of {n:,} items"
    rows = [Row(f"{what}: taken in, and the server started", f"{time.perf_counter() - began:.0f} s")]
    tally = Tally()
    try:
        olga, bob, ann = (_person(server, tally, name) for name in (OPERATOR, "Bob", "Ann"))
        olga.ask("rates, first after a start", "/projects/films/rates")
        rows.append(
            Row(
                f"{what}: rates, asked at once after a start",
                f"{tally.seconds['rates, first after a start'][0]:.2f} s",
            )
        )
        listed = olga.ask("list", "/projects/films/").text
        item = listed.split("/projects/films/items/")[1].split('"')[0]
        for k in range(_PAGES):
            olga.ask("list", f"/projects/films/?page={1 + 17 * k}")
            olga.ask("item", f"/projects/films/items/{item}")
            olga.ask("rates", f"/projects/films/rates?by={('author', 'reviewer', 'week', 'tag:task')[k % 4]}")
            for name, browser in (("a reviewer", bob), ("an author", ann)):
                browser.ask(f"work of {name}", "/work")
                browser.ask(f"time of {name}", "/projects/films/time")
        for _ in range(_PAGES):
            bob.ask("next", "/projects/films/next", {"role": "reviewer"}, fine=(302, 409))
            olga.ask("rates after a change", "/projects/films/rates")
        rows += [
            below(
                f"{what}: {kind}, p95", _p95(tally.seconds[kind]), _ITEM_S if kind == "item" else _P95_S, "s"
            )
            for kind in (
                *("list", "item", "work of a reviewer", "work of an author"),
                *("time of a reviewer", "time of an author", "rates", "rates after a change"),
            )
        ]
        rows += [
            Row(f"{what}: take the next one, p95", f"{_p95(tally.seconds['next']):.2f} s"),
            below(f"{what}: memory", server.state()[0], _MOST_MB, "MB"),
            none(f"{what}: answers that were not expected", len(tally.errors)),
        ]
    finally:
        server.stop()
    for fault in tally.errors[:5]:
        print(fault, file=sys.stderr)
    return rows


# --------------------------------------------------------------------------- a flood


def flood(folder: Path, *, seconds: float) -> list[Row]:
    """300 requests a second by one who is signed in, over thirty connections, and the pages of another."""
    server, tally, flooding = _started(folder, 0), Tally(), Tally()
    said: Counter[int] = Counter()
    try:
        ann, other = _person(server, tally, "Ann"), _person(server, tally, OPERATOR)
        twins = [Browser(server.port, flooding) for _ in range(_CONNECTIONS)]
        for one in twins:
            one.cookies, one.token = dict(ann.cookies), ann.token
        over = time.perf_counter() + seconds

        def pour(browser: Browser, k: int) -> None:
            asked: list[tuple[str, dict[str, str] | None]] = [
                ("/sign-in", {"username": "Nobody", "password": "wrong password"}),
                ("/projects/films/new/", {"form": "x"}),
                ("/projects/films/media/?q=x", None),
            ]
            n, began = 0, time.perf_counter()
            while (now := time.perf_counter()) < over:
                due = began + n * len(twins) / _FLOOD_A_SECOND
                if now < due:
                    time.sleep(min(due - now, over - now))
                path, form = asked[(n + k) % len(asked)]
                answer = browser.ask("flood", path, form, fine=range(200, 500))
                said[answer.status] += 1
                n += 1

        threads = [threading.Thread(target=pour, args=(one, k)) for k, one in enumerate(twins)]
        for thread in threads:
            thread.start()
        while time.perf_counter() < over:
            other.ask("page", "/projects/films/")
            time.sleep(0.1)
        for thread in threads:
            thread.join()
    finally:
        server.stop()
    n_sent = sum(said.values())
    n_late = said[429]
    n_faults = sum(n for status, n in said.items() if status >= 500 or status == 0)
    what = f"(studio) a flood of {_FLOOD_A_SECOND} requests a second, {seconds:g} s"
    return [
        Row(f"{what}: requests that were answered", f"{n_sent:,}"),
        Row(f"{what}: told to wait (429)", f"{n_late:,}", "> 0", n_late > 0),
        none(f"{what}: without an answer, or with one of 500 and more", n_faults),
        below(f"{what}: pages of another person, p95", _p95(tally.seconds["page"]), _OTHERS_S, "s"),
    ]


def chosen(options: argparse.Namespace) -> dict[str, Callable[[Path], list[Row]]]:
    """What is measured, by name."""
    return {
        "many": lambda folder: many(folder, n=options.items),
        "flood": lambda folder: flood(folder, seconds=options.seconds),
    }


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="many,flood")
    parser.add_argument("--items", type=int, default=N_ITEMS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    return parser


def pages(bench: Bench) -> list[Row]:
    """All of it, in a new folder of the bench."""
    return all_of(chosen(_options().parse_args([])), bench.fresh("pages"))


ALL = (pages,)


def main() -> int:
    """Measure and print."""
    options = _options().parse_args()
    if options.seed is not None:
        seed(options.folder, options.seed)
        return 0
    return printed(chosen(options), options)


if __name__ == "__main__":
    sys.exit(main())
