"""Processes of a board that is attacked: ``board_process.py ACT FILE``, told by a JSON file.

``fill`` opens a board with its accounts and submissions; ``kill`` does that, lets a scorer be killed in each
step, then another go on, and ends as ``state``, which prints what the database has of the submissions.
``scorer`` is the command that scores, which looks for work more often.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from vidence.engine.environment import Environment
from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings, now
from vidence.studio.upkeep import migrate, secret_of

Told = dict[str, object]
STEPS = ("taken", "asked", "scored", "kept", "finishing", "written", "finished")


def fill(told: Told) -> None:
    """Open the board, make accounts with their teams, and submit a file for each of those that have one."""
    migrate()
    from vidence.studio import leaderboard
    from vidence.studio.accounts import Profile, add_user

    limits = leaderboard.Limits(**told["limits"])
    row = leaderboard.open_board(Path(told["release"]), "", limits)
    for name, team, file in told["accounts"]:
        user = add_user(name, told["password"], roles=("submitter",), profile=Profile(team=team))
        if file:
            leaderboard.accept(user, leaderboard.read(file.encode(), leaderboard.items_of(row)))


def state(_told: Told) -> None:
    """Print each submission."""
    from vidence.studio.leaderboard import board_here, left
    from vidence.studio.records.submissions import SubmissionRow

    rows = SubmissionRow.objects.order_by("pk")
    said = [
        {
            "team": row.team,
            "state": row.state,
            "points": row.points,
            "left": left(board_here(), row.team, now()).today,
        }
        for row in rows
    ]
    print(json.dumps(said))  # noqa: T201


def kill(told: Told) -> None:
    """Let a scorer be killed in each step, each in a process of its own; then let one do the rest."""
    from django.db import connections

    from vidence.studio import scoring  # noqa: F401 - once for all that are killed

    fill(told)
    connections.close_all()  # each process opens its own
    for step in STEPS:
        child = os.fork()
        if not child:
            _die_in(step)
            _score(told, later=timedelta())
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(status), f"the scorer came to its end; it was to be killed in {step!r}"
        assert os.WTERMSIG(status) == signal.SIGKILL
    _score(told, later=timedelta(minutes=10))
    state(told)


def scorer(told: Told) -> None:
    """Score what is submitted, until this is killed."""
    from vidence.cli.main import main
    from vidence.studio.commands import board

    board._PAUSE_S = 0.2
    main(["items", "board", "score", str(told["data"]), "--vault", str(told["vault"])])


def _score(told: Told, *, later: timedelta) -> None:
    from vidence.studio.leaderboard import board_here
    from vidence.studio.scoring import Marker, open_vault, work

    data = Path(told["data"])
    marker = Marker(
        overrides={"judge": "rule-first", "judge_models": tuple(told["judges"])},
        environment=Environment(cache_root=Path(told["cache"])),
        clock=lambda: now() + later,
    )
    vault = open_vault(Path(told["vault"]), board_here(), data=data, is_judged=True)
    while (done := work(vault, marker)) is not None:
        assert done.reason == "", done


def _die_in(step: str) -> None:
    """Let this process be killed, as by kill -9, in one step of the scorer."""
    from vidence.studio import scoring
    from vidence.studio.records.submissions import SubmissionRow

    def die(*_args: object, **_more: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def after(function: Callable[..., object]) -> Callable[..., object]:
        def called(*args: object, **more: object) -> object:
            function(*args, **more)
            return die()

        return called

    def saved(row: SubmissionRow, **more: object) -> None:
        save(row, **more)
        if row.state == "scored":
            die()

    save = SubmissionRow.save
    match step:
        case "taken":
            scoring.take = after(scoring.take)
        case "asked":
            scoring.score_submission = die
        case "scored":
            scoring._keep = die
        case "kept":
            scoring._keep = after(scoring._keep)
        case "finishing":
            scoring.finish = die
        case "written":
            SubmissionRow.save = saved
        case "finished":
            scoring.finish = after(scoring.finish)


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[2]).read_text())
    folder = Path(given["data"])
    if sys.argv[1] == "scorer":
        scorer(given)
    folder.mkdir(exist_ok=True, mode=0o700)
    configure(StudioSettings(mode="team", data=folder), secret=secret_of(folder))
    {"fill": fill, "kill": kill, "state": state}[sys.argv[1]](given)
