"""Baselines that see no video: ``baseline:random|constant|longest|median|smallest|largest``.

``second-smallest`` and ``second-largest`` are the others; sizes are those of numbers and ranges. Show their
scores next to every model's. If a rule does not apply (no choices; a size, but not every choice is a number
or range; ties), the reply has no text, so that every parser finds it unreadable, and its `reasoning` says
why. They give no log-probabilities.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar

from msgspec import Meta

from vidence.ask.models.local import InstantModel, check_rule, drawn
from vidence.contracts import Request
from vidence.records import Record, Reply
from vidence.statistics.chance import SIZE_RULES, longest_choice, numeric_median

_SIZES = {"median": numeric_median, **{key: pick for key, (_, pick) in SIZE_RULES.items()}}
RULES = ("random", "constant", "longest", *_SIZES)
Rule = Callable[[Request], str | None]


class Settings(Record):
    """Options of ``baseline:`` models."""

    positional: ClassVar[str] = "rule"

    rule: Annotated[str, Meta(description="random, constant, longest, median, [second-]smallest or -largest")]
    seed: Annotated[int | None, Meta(description="of random; else that of the plan, or 0")] = None
    letter: Annotated[str | None, Meta(description="of `constant`; by default A")] = None

    def __post_init__(self) -> None:
        """Reject unknown rules, options of another rule, and invalid letters."""
        owners = {"seed": "random", "letter": "constant"}
        check_rule(f"baseline:{self.rule}", self, kind="baseline", known=RULES, options=owners)


class BaselineModel(InstantModel):
    """A rule that turns a request into a letter, or None if it does not apply."""

    def __init__(self, identity: str, rule: Rule, *, silent: str = "") -> None:
        """Take the rule, and the reason given when it does not apply."""
        self.identity = identity
        self._rule, self._silent = rule, silent

    async def reply(self, request: Request) -> Reply:
        """Return the bare letter, or no text and the reason."""
        if not request.prompt.choices:
            reason = "the item has no choices"
        elif (letter := self._rule(request)) is not None:
            return Reply(text=letter, model=self.identity)
        else:
            reason = self._silent
        return Reply(text="", reasoning=f"{self.identity} does not apply: {reason}", model=self.identity)


class ConstantBaseline(BaselineModel):
    """The same letter for every question."""

    def __init__(self, identity: str, letter: str) -> None:
        super().__init__(identity, lambda _: letter)
        self.letter = letter


def _random(seed_option: int | None) -> Rule:
    def rule(request: Request) -> str:
        seed = (request.sampling.seed or 0) if seed_option is None else seed_option
        return drawn(request.prompt.letters, seed, request.item_id, request.sample)

    return rule


def _by_choices(pick: Callable[[Sequence[str]], int | None]) -> Rule:
    def rule(request: Request) -> str | None:
        position = pick(request.prompt.choices)
        return None if position is None else request.prompt.letters[position]

    return rule


def create(settings: Settings) -> BaselineModel:
    """Create the baseline for that rule.

    A random letter depends on seed, item id and sample, not on the order of requests.
    """
    owner = f"baseline:{settings.rule}"
    if settings.rule == "random":
        identity = owner if settings.seed is None else f"{owner}?seed={settings.seed}"
        return BaselineModel(identity, _random(settings.seed))
    if settings.rule == "constant":
        letter = (settings.letter or "A").upper()
        return ConstantBaseline(f"{owner}?letter={letter}", letter)
    if settings.rule == "longest":
        return BaselineModel(owner, _by_choices(longest_choice), silent="several choices are the longest")
    silent = "not every choice holds one number or range, or several have the same"
    return BaselineModel(owner, _by_choices(_SIZES[settings.rule]), silent=silent)
