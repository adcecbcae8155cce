"""Open a board for a hidden split, and score what is submitted to it."""

import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import click

from vidence.console.flags import FOLDER, argument, command, flag
from vidence.engine.environment import environment
from vidence.engine.plan import PlanOverrides, plan_part
from vidence.engine.trust import needs_of_spec, remember
from vidence.errors import StoreError, UsageError
from vidence.studio.commands.studio import Kept, need_studio

GROUP = "items"

_JUDGES = ("judge", "judge_models", "judge_prompts_dir", "max_cost", "concurrency", "patience_s")
_SETTINGS = ("judge_panel", "judge_price_in", "judge_price_out")
_PAUSE_S = 5.0


@click.group()
def board() -> None:
    """Open a board for a hidden split in a studio, and score what teams submit to it.

    Its pages Board and Submit are served by `vidence studio serve DIR`.
    """


class OpenedBoard(Kept):
    """A hidden split and the limits of its board."""

    release: Annotated[Path, argument("RELEASE", type=FOLDER)]
    split: Annotated[str, flag("Hidden split, if RELEASE has several.")] = ""
    title: Annotated[str, flag("Its name on pages (default: the name of RELEASE).")] = ""
    most_a_day: Annotated[
        int | None,
        flag("Submissions of a team per day, in UTC (default: 2).", "--per-day", type=click.IntRange(1)),
    ] = None
    most_in_all: Annotated[
        int | None, flag("Submissions of a team in total (default: 20).", "--in-all", type=click.IntRange(1))
    ] = None
    ends: Annotated[
        datetime | None,
        flag("The last day in UTC, such as 2026-12-31 (default: none).", type=click.DateTime(["%Y-%m-%d"])),
    ] = None


@command("open", group=board)
def open_for(given: OpenedBoard) -> None:
    """Open a board for a hidden split of RELEASE in the studio DIR, or change its limits, end or title.

    RELEASE is the public folder that `vidence items release --hide SPLIT` wrote; the answers are not read.
    Flags left out keep the current settings of an open board.
    """
    given.open()
    from vidence.studio.leaderboard import Limits, open_board

    limits = Limits(most_a_day=given.most_a_day, most_in_all=given.most_in_all, last_day=given.ends)
    row = open_board(given.release, given.split, limits, title=given.title)
    end = f", until {row.ends_at - timedelta(days=1):%Y-%m-%d}" if row.ends_at else ""
    click.echo(
        f"{row.title}: {row.n_items:,} questions of {row.split}; {row.most_a_day} submissions a day and "
        f"{row.most_in_all} in all for each team{end}"
    )
    click.echo("Accounts of teams: vidence studio user add DIR NAME --roles submitter --team TEAM")


class Scorer(Kept):
    """Where the answers are, and who judges."""

    vault: Annotated[
        Path, flag("The folder of the hidden answers, which vidence items release wrote.", type=FOLDER)
    ]
    is_once: Annotated[bool, flag("Score the waiting submissions, then exit.", "--once")] = False
    overrides: Annotated[PlanOverrides, plan_part(only=_JUDGES, settings=_SETTINGS)]


@command("score", group=board)
def score(given: Scorer) -> None:
    """Score submissions to the board of the studio DIR against the answers in the vault, until Ctrl-C.

    Run it as a system user other than the server's, the only one who can read the vault. The database stores
    scores rounded as on the board, and after the end scores by stratum.
    """
    need_studio()
    from django.db import DatabaseError

    from vidence.studio.app import configure
    from vidence.studio.database import SQLITE_FILE
    from vidence.studio.settings import StudioSettings

    if not given.database and not (given.folder / SQLITE_FILE).is_file():
        raise UsageError(f"{given.folder} holds no studio; open a board in it with: vidence items board open")
    configure(StudioSettings(mode="team", data=given.folder.resolve(), database=given.database))
    try:
        _score_all(given)
    except DatabaseError as error:
        raise StoreError(f"the database of {given.folder} cannot be used: {error}") from error


def _score_all(given: Scorer) -> None:
    """Score waiting submissions, once or until interrupted."""
    from vidence.studio.leaderboard import board_here
    from vidence.studio.scoring import Marker, open_vault, work, write_strata
    from vidence.studio.settings import now

    row = board_here()
    if row is None:
        raise UsageError(f"no board is open in {given.folder}; open one with: vidence items board open")
    place, models = environment(), given.overrides.get("judge_models") or ()
    remember((need for spec in models for need in needs_of_spec("model", spec)), environment=place)
    vault = open_vault(given.vault, row, data=given.folder, is_judged=bool(models))
    if given.folder.stat().st_uid == given.vault.stat().st_uid:
        words = f"{given.vault} and {given.folder} have the same owner: the server could read the answers"
        click.echo(words, err=True)
    marker = Marker(overrides=given.overrides, environment=place, clock=now)
    while True:
        while (done := work(vault, marker)) is not None:
            click.echo(f"{done.team}: {f'not scored: {done.reason}' if done.reason else 'scored'}")
        if n := write_strata(vault, row, now()):
            click.echo(f"strata of {n} teams")
        if given.is_once:
            return
        time.sleep(_PAUSE_S)
        row.refresh_from_db()
