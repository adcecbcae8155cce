"""Ask once; the reply is the answer."""

from collections.abc import Mapping

from vidence.contracts import Answer, Flow, Question, Strategy, View

PLAN = ""  # the plan's own view


def create() -> Strategy:
    """The strategy of a plan that names none."""
    return Once()


class OfPlan:
    """What most strategies show and ask: the plan's frames, and no model but the plan's."""

    def views(self, view: View) -> Mapping[str, View]:
        """The plan's frames."""
        return {PLAN: view}

    def models(self) -> Mapping[str, str]:
        """No model but the plan's."""
        return {}


class Once(OfPlan):
    """One prompt, one reply."""

    version = 1

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask."""
        return (yield from ask(question, PLAN))


def ask(question: Question, view: str) -> Flow[Answer]:
    """Ask once with all frames of a view."""
    prompt = question.prompt(view)
    (reply,) = yield (prompt,)
    return Answer(prompt=prompt, reply=reply, view=view)
