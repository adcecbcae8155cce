"""All routes, one list per family."""

from typing import Final

from vidence.studio.access import ANYONE, Rule, route
from vidence.studio.assets import static
from vidence.studio.pages import (
    accounts,
    annotate,
    assisted,
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
    study,
    study_desk,
    submissions,
    time,
    training,
    uploads,
    work,
)
from vidence.studio.viewer import compared, item, items, runs, set_pages

# Runs hold keys and replies, which whoever reviews blindly may not see.
LOOKING: Final[frozenset[Rule]] = frozenset({"researcher"})
VIEWER = [
    route("runs", runs.show, name="runs", roles=LOOKING),
    route("runs/lines", runs.lines, name="run-lines", roles=LOOKING),
    route("run/<str:run>", runs.one, name="run", roles=LOOKING),
    route("run/<str:run>/report", runs.report, name="run-report", roles=LOOKING),
    route("run/<str:run>/diagnosis/<path:diagnosis>", runs.diagnosis, name="run-diagnosis", roles=LOOKING),
    route("compare", compared.show, name="compare", roles=LOOKING),
    route("compare/report", compared.report, name="compare-report", roles=LOOKING),
    route("items", items.show, name="run-items", roles=LOOKING),
    route("item", item.show, name="run-item", roles=LOOKING),
    route("item/text", item.text, name="run-item-text", roles=LOOKING),
    route("made/<str:place>", set_pages.show, name="made", roles=LOOKING),
    route("questions/<str:place>", set_pages.questions, name="questions", roles=LOOKING),
    route("question/<str:place>", set_pages.question, name="question", roles=LOOKING),
]
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
    *assisted.urls,
    *boards.urls,
    *board_tracks.urls,
    *board_cards.urls,
    *board_counts.urls,
    *submissions.urls,
    *VIEWER,
    *annotate.urls,
    *uploads.urls,
    *hints.urls,
    *work.urls,
    *review.urls,
    *rates.urls,
    *questions.urls,
    *study.urls,
    *study_desk.urls,
    route("static/<path:name>", static, name="static", roles=ANYONE),
]
handler400 = "vidence.studio.pages.faults.bad_request"
handler403 = "vidence.studio.pages.faults.forbidden"
handler404 = "vidence.studio.pages.faults.not_found"
handler500 = "vidence.studio.pages.faults.broken"
