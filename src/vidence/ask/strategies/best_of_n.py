"""Ask 2^m times and let a model that does not know the answer choose a reply."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from vidence.ask.strategies.once import PLAN, OfPlan, answered_with, ask_candidates
from vidence.ask.strategies.rewards import REWARD, RewardForm, RewardModel, Shown, best_by_points, most_chosen
from vidence.catalog import SELF, ModelSpec
from vidence.contracts import Answer, Flow, Question, Strategy
from vidence.records import Record


class Settings(Record):
    """Options of the strategy."""

    m: Annotated[int, Meta(ge=0, le=5, description="there are 2^m candidates; 0 asks once")] = 3
    reward: Annotated[ModelSpec, Meta(description="who weighs them: self, or the spec of a model")] = SELF
    form: Annotated[RewardForm, Meta(description="points for each alone, or one of a list of all")] = "score"
    frames: Annotated[Shown, Meta(description="the frames that it is shown: the plan's, or none")] = "plan"
    orders: Annotated[int, Meta(ge=1, description="of a list: how many orders it is shown in")] = 3


def create(settings: Settings) -> Strategy:
    """Create the strategy."""
    return BestOfN(settings)


class BestOfN(OfPlan):
    """The candidate that the reward model rates best; of equals the first.

    Points that cannot be read, also after one repair, rank last; without any the earliest candidate is the
    answer. With one candidate nothing is weighed: it is the reply of a run that asks once.

    Source: HumanPCR, section 4.3 and tables 4 and 12 (2^M candidates, the model itself or another one as the
        reward).
    Departs: the paper says neither the words nor the form of the reward, nor how ties are broken; these are
        ours.
    """

    version = 1

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @property
    def n_drawn(self) -> int:
        """Return the number of candidates."""
        return int(2**self.settings.m)

    def models(self) -> Mapping[str, str]:
        """Return the reward model, unless it is the model under test."""
        return {} if self.settings.reward == SELF else {REWARD: self.settings.reward}

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask for all candidates at once, then rate them."""
        settings = self.settings
        prompt = question.prompt(PLAN)
        replies = yield from ask_candidates(prompt, self.n_drawn)
        if len(replies) == 1:
            return answered_with(prompt, replies, 0, view=PLAN)
        model = next(iter(self.models()), "")
        reward = RewardModel(model=model, view=PLAN, frames=settings.frames)
        if settings.form == "score":
            looked = yield from reward.score(question, replies)
            picked = best_by_points([exchange.read for exchange in looked])
        else:
            looked = yield from reward.choose(question, replies, orders=settings.orders)
            picked = most_chosen([exchange.read for exchange in looked])
        steps = [step for exchange in looked for step in exchange.steps(model)]
        return answered_with(prompt, replies, picked, view=PLAN, more=steps)
