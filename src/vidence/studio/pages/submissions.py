"""The board of a hidden split, and the page on which a team submits its answers."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from vidence.errors import VidenceError
from vidence.studio import leaderboard
from vidence.studio.access import BOTH, SIGNED_IN, route
from vidence.studio.accounts import account_of, known_account
from vidence.studio.records.submissions import LeaderboardRow, SubmissionRow
from vidence.studio.settings import current


def show(request: HttpRequest) -> HttpResponse:
    """The teams by their best shown scores; after the end their strata as well."""
    board, now = leaderboard.board_here(), current().settings.clock()
    values = {
        "board": board,
        "has_ended": board is not None and leaderboard.has_ended(board, now),
        "standings": [] if board is None else leaderboard.standings(board, now),
    }
    return render(request, "leaderboard/board.html", values)


def submit(request: HttpRequest) -> HttpResponse:
    """The form that takes a submission, what is left to send, and the outcome of those before."""
    board, user, faults = leaderboard.board_here(), known_account(request.person), list[str]()
    if request.method == "POST":
        try:
            sent = request.FILES["answers"].read() if "answers" in request.FILES else b""
            items = () if board is None else leaderboard.items_of(board)
            leaderboard.accept(account_of(request.person), leaderboard.read(sent, items))
        except VidenceError as error:
            faults = str(error).splitlines()
        else:
            return redirect("submit")
    team = "" if user is None else user.team
    values = {"board": board, "team": team, "faults": faults}
    if board is not None and team:
        values |= _of_team(board, team)
    return render(
        request, "leaderboard/submit.html", values, status=HTTPStatus.BAD_REQUEST if faults else HTTPStatus.OK
    )


def _of_team(board: LeaderboardRow, team: str) -> dict[str, object]:
    """What a team may know of its own submissions, the last first."""
    now = current().settings.clock()
    rows = SubmissionRow.objects.filter(team=team).order_by("-pk").defer("answers").select_related("user")
    return {
        "has_ended": leaderboard.has_ended(board, now),
        "left": leaderboard.left(board, team, now),
        "rows": [(row, leaderboard.is_out(row, board, now)) for row in rows],
    }


urls = [
    route("board", show, name="board", roles=SIGNED_IN),
    route("board/submit", submit, name="submit", roles={"submitter"}, to=BOTH),
]
