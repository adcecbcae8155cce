"""Records of a composition's proof (`proofs.jsonl`)."""

from typing import Literal, TypeAlias

import msgspec

from vidence.make.sources.scene import Span, ValueOrNumber
from vidence.make.sources.vocabulary import AnswerType, Skill
from vidence.records import Record

Binding: TypeAlias = dict[str, ValueOrNumber]
Reason: TypeAlias = Literal[
    "ambiguous-referent", "no-referent", "several-answers", "unneeded", "sufficient-subset", "unknown-fact",
    "too-near", "unused-variable", "contradiction", "type-error", "options-hide", "option-may-be-true",
    "right-option-missing", "other-answer", "other-scene", "weak-condition",
    "unconfirmed-fact",
]  # fmt: skip


class Answer(Record):
    """The answer: its type, its domain (attribute, `count`, `direction`, category), and its value."""

    type: AnswerType
    domain: str
    value: ValueOrNumber


class Witness(Record, omit_defaults=True):
    """What a reader who ignores a condition arrives at."""

    binding: Binding
    value: ValueOrNumber
    seen_at: tuple[float, ...] = ()
    spans: tuple[Span, ...] = ()


class Without(Record, omit_defaults=True):
    """The result without a condition or a step.

    `values` counts the bindings of each value beside the answer; `guess` is the share of the bindings whose
    value is the answer.
    """

    outcome: Literal["other-value", "several-values", "nothing-fits", "unneeded", "unknown"]
    values: dict[str, int] = msgspec.field(default_factory=dict)
    guess: float = 0.0
    witness: Witness | None = None


class ConditionProof(Record):
    """The proof that a condition is needed."""

    id: str
    skill: Skill
    without: Without


class StepProof(Record, omit_defaults=True):
    """A step: its value with all conditions, and the result without the whole step."""

    variable: str
    value: ValueOrNumber
    without: Without | None = None


class Subsets(Record, omit_defaults=True):
    """Which sets of conditions were left out, and after which the answer was still unique."""

    mode: Literal["all", "singles"]
    tried: int
    sufficient: tuple[tuple[str, ...], ...] = ()


class Problem(Record, omit_defaults=True):
    """Why a composition is not proved, or (as a warning) what is weak about it."""

    reason: Reason
    says: str
    conditions: tuple[str, ...] = ()
    step: str = ""
    line: int = 0
    witness: Witness | None = None
    facts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The reason with its conditions, as counted.

        >>> Problem(reason="unneeded", says="", conditions=("c2",)).name
        'unneeded:c2'
        """
        return f"{self.reason}:{','.join(self.conditions)}" if self.conditions else self.reason


class Proof(Record, omit_defaults=True):
    """The proof that a composition has one answer and needs each of its conditions."""

    composition: str
    logic: Literal["conjunctive", "sequential"]
    answer: Answer
    binding: Binding
    conditions: tuple[ConditionProof, ...]
    steps: tuple[StepProof, ...]
    subsets: Subsets
    depth: int
    n_conjunctive: int
    prior: float
    margins: dict[str, float]
    rests_on: tuple[str, ...]
    closed: tuple[str, ...]
    knowledge: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    """When bound and counted entities are in view."""
    counted: tuple[str, ...] = ()
    """What is counted, or aggregated in another way, as for the most common value."""
    scene: str
    vocabulary: str
    checker: str


class Verdict(Record, omit_defaults=True):
    """The verifier's verdict on one composition."""

    composition: str
    proof: Proof | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    line: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether there is a proof and no problem."""
        return self.proof is not None and not self.problems
