"""Ask again with other frames while the reply is unreadable, if the selector has others."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from vidence.ask.strategies.once import PLAN, OfPlan, ask
from vidence.contracts import Answer, Flow, Question, Strategy, View
from vidence.records import Record, Unreadable


class Settings(Record):
    """Options of the strategy."""

    tries: Annotated[int, Meta(ge=1, description="how often a question is asked again at most")] = 3


def create(settings: Settings) -> Strategy:
    """Create the strategy with up to `tries` tries."""
    return Retry(settings)


class Retry(OfPlan):
    """The first readable reply is the answer; the last one if none is readable."""

    version = 1

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def views(self, view: View) -> Mapping[str, View]:
        """Return the plan's frames, and those of each retry; all come from one pass over the video."""
        retries = range(1, self.settings.tries + 1)
        return {PLAN: view} | {f"retry {i}": msgspec.structs.replace(view, retry=i) for i in retries}

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask until a reply is readable."""
        answer = yield from ask(question, PLAN)
        for view in question.shown[1:]:
            if not isinstance(question.read(answer.reply), Unreadable):
                break
            answer = yield from ask(question, view)
        return answer
