"""Every address, one list a family."""

from vidence.studio.access import ANYONE, route
from vidence.studio.assets import static
from vidence.studio.pages import (
    accounts,
    annotate,
    board_cards,
    board_counts,
    board_tracks,
    boards,
    health,
    hints,
    media,
    people,
    projects,
    questions,
    rates,
    releases,
    review,
    sign_in,
    time,
    training,
    viewer,
    work,
)

urlpatterns = [
    *sign_in.urls,
    *projects.urls,
    *people.urls,
    *accounts.urls,
    *training.urls,
    *time.urls,
    *health.urls,
    *releases.urls,
    *media.urls,
    *boards.urls,
    *board_tracks.urls,
    *board_cards.urls,
    *board_counts.urls,
    *viewer.urls,
    *annotate.urls,
    *hints.urls,
    *work.urls,
    *review.urls,
    *rates.urls,
    *questions.urls,
    route("static/<path:name>", static, name="static", roles=ANYONE),
]
handler400 = "vidence.studio.pages.faults.bad_request"
handler403 = "vidence.studio.pages.faults.forbidden"
handler404 = "vidence.studio.pages.faults.not_found"
handler500 = "vidence.studio.pages.faults.broken"
