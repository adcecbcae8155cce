"""Answers that need no look at the video: ``baseline:random|constant|longest|median``.

Their scores belong beside every model's. Where a rule does not apply (no choices; ``median`` where
not every choice holds exactly one number) the reply has no text, so that it is unreadable under
every reader, and its `reasoning` says why. They give no log-probabilities: they hold no beliefs.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import msgspec

from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import UnknownNameError
from vidence.records import Record, Reply
from vidence.statistics.chance import longest_choice, numeric_median

Rule = Callable[[Request], str | None]


class _RandomOptions(Record, kw_only=True):
    seed: int | None = None


class _ConstantOptions(Record, kw_only=True):
    letter: str = "A"


class BaselineModel:
    """One rule that turns a request into a letter, or None where it does not apply."""

    looks = False
    by_item = True
    max_in_flight: int | None = None

    def __init__(self, identity: str, rule: Rule) -> None:
        self.identity = identity
        self._rule = rule

    async def reply(self, request: Request) -> Reply:
        """The bare letter, or no text and the reason."""
        if not request.prompt.choices:
            reason = "the item has no choices"
        elif (letter := self._rule(request)) is not None:
            return Reply(text=letter, model=self.identity)
        else:
            reason = "not every choice holds exactly one number"
        return Reply(text="", reasoning=f"{self.identity} does not apply: {reason}", model=self.identity)

    async def close(self) -> None:
        """Nothing to let go of."""


def _random(seed_option: int | None) -> Rule:
    def rule(request: Request) -> str:
        seed = (request.sampling.seed or 0) if seed_option is None else seed_option
        words = f"{seed}:{request.item_id}:{request.sample}"
        drawn = int.from_bytes(hashlib.sha256(words.encode()).digest())
        letters = request.prompt.letters
        return letters[drawn % len(letters)]

    return rule


def _by_choices(pick: Callable[[Sequence[str]], int | None]) -> Rule:
    def rule(request: Request) -> str | None:
        position = pick(request.prompt.choices)
        return None if position is None else request.prompt.letters[position]

    return rule


def _letter(text: str) -> str:
    if len(text) != 1 or not "A" <= text.upper() <= "Z":
        raise ValueError("expected one letter, for example C")
    return text.upper()


def create(name: str, options: Mapping[str, str]) -> BaselineModel:
    """The baseline of that name.

    ``random?seed=0`` draws a letter from the seed, the id of the item and the sample, whatever the
    order of the requests; without the option the seed is that of the request's `Sampling`, or 0.
    ``constant?letter=C`` always says C; ``longest`` takes the longest choice;
    ``median`` the middle one of the numbers.

    Raises:
        UnknownNameError: no such baseline.
        UsageError: an option that is not known or cannot be read.
    """
    owner = f"baseline:{name}"
    if name == "random":
        seed = msgspec.convert(take_options(owner, options, {"seed": int}), _RandomOptions).seed
        return BaselineModel(owner if seed is None else f"{owner}?seed={seed}", _random(seed))
    if name == "constant":
        letter = msgspec.convert(take_options(owner, options, {"letter": _letter}), _ConstantOptions).letter
        return BaselineModel(f"{owner}?letter={letter}", lambda _: letter)
    rules = {"longest": _by_choices(longest_choice), "median": _by_choices(numeric_median)}
    if name not in rules:
        raise UnknownNameError("baseline", name, ("random", "constant", *rules))
    take_options(owner, options, {})
    return BaselineModel(owner, rules[name])
