"""The pages that show runs, sets and questions; they change nothing."""

from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.pages.viewer import compared, item, items, made, runs

urls = [
    route("runs", runs.show, name="runs", roles=EVERY_ROLE),
    route("runs/lines", runs.lines, name="run-lines", roles=EVERY_ROLE),
    route("run/<str:run>", runs.one, name="run", roles=EVERY_ROLE),
    route("run/<str:run>/report", runs.report, name="run-report", roles=EVERY_ROLE),
    route("run/<str:run>/diagnosis/<path:diagnosis>", runs.diagnosis, name="run-diagnosis", roles=EVERY_ROLE),
    route("compare", compared.show, name="compare", roles=EVERY_ROLE),
    route("compare/report", compared.report, name="compare-report", roles=EVERY_ROLE),
    route("items", items.show, name="run-items", roles=EVERY_ROLE),
    route("item", item.show, name="run-item", roles=EVERY_ROLE),
    route("item/text", item.text, name="run-item-text", roles=EVERY_ROLE),
    route("made/<str:place>", made.show, name="made", roles=EVERY_ROLE),
    route("questions/<str:place>", made.questions, name="questions", roles=EVERY_ROLE),
    route("question/<str:place>", made.question, name="question", roles=EVERY_ROLE),
]
