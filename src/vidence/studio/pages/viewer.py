"""The pages that show runs, sets and questions; they change nothing."""

from typing import Final

from vidence.studio.access import Rule, route
from vidence.studio.viewer import compared, item, items, runs, set_pages

# Runs hold keys and replies, which whoever reviews blindly may not see.
LOOKING: Final[frozenset[Rule]] = frozenset({"researcher"})

urls = [
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
