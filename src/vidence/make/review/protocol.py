"""Review protocols: stages, checks, scores, returns, pay; TOML files, shipped or the user's."""

import hashlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from vidence.engine.config_file import Count, CountOrNone, Share, config_of, read_config
from vidence.errors import UnknownNameError, UsageError, cause
from vidence.records import Record

YES, NO, NOT_APPLICABLE = "yes", "no", "na"
_OWN: Traversable = resources.files("vidence.make.review") / "protocols"
_SUFFIX: Final = ".toml"

CheckKind = Literal["yes-no", "count", "pick"]
Edit = Literal["validator_edit", "meta_edit", "translate"]
StageRole = Literal["reviewer", "meta"]
ROLES: Final[tuple[StageRole, ...]] = ("reviewer", "meta")


class Check(Record, omit_defaults=True):
    """A review check: a yes/no question, a count, or one of `options`.

    With `na` it can also be said not to apply. Before an item is accepted, a check that is `needed` has an
    answer, and none that `blocks` says no, less than `least`, or an option that is none of `passing` (of any,
    where these are empty). `field` is the field of the item that it is about, for which its answer is the
    verdict; `help` and `example` are shown to whoever is unsure.
    """

    id: str
    words: str
    kind: CheckKind = "yes-no"
    least: CountOrNone = 0
    na: bool = False
    needed: bool = True
    blocks: bool = True
    field: str = ""
    options: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    help: str = ""
    example: str = ""

    def __post_init__(self) -> None:
        if (self.kind == "pick") != bool(self.options):
            raise UsageError(f"the check {self.id!r} is {self.kind!r} and has {len(self.options)} options")
        if bad := [option for option in self.options if option != option.strip().casefold() or not option]:
            raise UsageError(f"the check {self.id!r} has the option {bad[0]!r}; expected small letters")
        if unknown := [name for name in self.passing if name not in self.options]:
            raise UsageError(f"the check {self.id!r} passes {unknown[0]!r}, which is none of its options")

    def fault(self, message: str) -> str:
        """Return what is wrong with an answer; empty if it is valid.

        >>> Check(id="unique", words="Is one choice right?").fault("maybe")
        "'maybe' under 'unique'; expected yes or no"
        """
        if self.kind == "count":
            is_count = message.isascii() and message.isdecimal()
            return "" if is_count else f"{message!r} under {self.id!r}; expected a whole number of 0 or more"
        known = (*(self.options or (YES, NO)), *([NOT_APPLICABLE] if self.na else []))
        return "" if message in known else f"{message!r} under {self.id!r}; expected {' or '.join(known)}"

    def is_failed(self, message: str) -> bool:
        """Whether a valid answer reports a fault."""
        if self.kind == "pick":
            return bool(self.passing) and message not in (*self.passing, NOT_APPLICABLE)
        return int(message) < self.least if self.kind == "count" else message == NO


class Scale(Record, omit_defaults=True):
    """A whole-number score from `low` to `high`; below `least` an item is not accepted."""

    id: str
    words: str
    low: int = 1
    high: int = 5
    least: int | None = None

    def fault(self, value: int) -> str:
        """Return what is wrong with a score; empty if it is valid."""
        fits = self.low <= value <= self.high
        return "" if fits else f"{value} under {self.id!r}; expected {self.low} to {self.high}"


class Stage(Record, omit_defaults=True):
    """A review stage: its reviewers, checks, and permitted acts.

    `looks` people decide; where two differ, one more does. `edits` are the kinds of revisions that whoever
    looks may make. With `solves` the answer is not shown before the person has given one; with `witnesses`
    nobody accepts without having given a witness.
    """

    role: StageRole
    checks: tuple[Check, ...]
    scores: tuple[Scale, ...] = ()
    looks: Count = 1
    edits: tuple[Edit, ...] = ()
    solves: bool = False
    witnesses: bool = False

    def __post_init__(self) -> None:
        ids = [*(check.id for check in self.checks), *(score.id for score in self.scores)]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise UsageError(f"two checks or scores are called {twice[0]!r}; expected different names")


class Pay(Record, omit_defaults=True):
    """Pay in the currency's smallest unit: per hour, annotation and validation.

    `most_annotations` and `most_validations` are what one person should do in a day at most.
    """

    currency: str
    per_hour: CountOrNone = 0
    per_annotation: CountOrNone = 0
    per_validation: CountOrNone = 0
    most_annotations: CountOrNone = 0
    most_validations: CountOrNone = 0


class Qualification(Record, omit_defaults=True):
    """What people must pass before they work on a dataset: trial items with known verdicts.

    Of these `pass_mark` have to be right, in `tries` tries. It holds for `days` days (0: for good). With
    `again` a new version of the guidelines asks for it again.
    """

    pass_mark: Share = 0.8
    tries: Count = 2
    days: CountOrNone = 0
    again: bool = False


class Protocol(Record, omit_defaults=True):
    """The rules by which a set is reviewed.

    An author has `returns` chances to revise, over all stages. What is returned has a message of
    `least_message` signs or more and a failed check; with `needs_reason` what is rejected has a message or a
    failed check. `shows` are the fields of an item that whoever solves sees before the answer is in, `texts`
    those that a translation words again. An operator gives back claims that are `claim_days` old or older.
    With `qualification` the studio opens a role to those who have passed the trial items that a project has
    for it.
    """

    title: str
    stages: tuple[Stage, ...]
    source: str = ""
    departs: str = ""
    returns: CountOrNone = 1
    least_message: Count = 1
    needs_reason: bool = True
    shows: tuple[str, ...] = ("media", "question", "choices", "answer_kind")
    texts: tuple[str, ...] = (
        *("question", "choices", "answer", "rationale", "steps", "hints"),
        *("evidence", "misconception"),
    )
    claim_days: Annotated[float, Meta(ge=0)] = 0
    pay: Pay | None = None
    qualification: Qualification | None = None

    def __post_init__(self) -> None:
        roles = tuple(stage.role for stage in self.stages)
        if not roles or roles != ROLES[: len(roles)]:
            expected = f"{' and then '.join(ROLES)}, or the first of them only"
            raise UsageError(f"the roles of the stages are {', '.join(roles) or 'none'}; expected {expected}")


def protocol_names() -> tuple[str, ...]:
    """Return the built-in protocols, sorted."""
    return tuple(sorted(f.name.removesuffix(_SUFFIX) for f in _OWN.iterdir() if f.name.endswith(_SUFFIX)))


def protocol_bytes(name: str) -> bytes:
    """Return the bytes of a shipped protocol by name, or of a ``.toml`` file.

    Raises:
        UnknownNameError: there is none of this name.
        UsageError: the file cannot be read.
    """
    if name.endswith(_SUFFIX):
        try:
            return Path(name).read_bytes()
        except OSError as error:
            raise UsageError(f"the protocol {name} cannot be read: {cause(error)}") from error
    if name not in protocol_names():
        raise UnknownNameError("protocol", name, protocol_names())
    return (_OWN / f"{name}{_SUFFIX}").read_bytes()


def load_protocol(name: str) -> Protocol:
    """Load a shipped protocol by name, or a ``.toml`` file.

    Raises:
        UnknownNameError: there is none of this name.
        UsageError: the file cannot be read, or is no protocol: the message has the line.
    """
    if name.endswith(_SUFFIX):
        return read_config(Path(name), Protocol)
    protocol_bytes(name)
    return _own(name)


def protocol_of_text(source: str, *, name: str) -> Protocol:
    """Parse a protocol from TOML.

    Args:
        source: the text.
        name: how messages call it.

    Raises:
        UsageError: it is none: the message has the line.
    """
    return config_of(source, Protocol, name=name)


@cache
def _own(name: str) -> Protocol:
    with resources.as_file(_OWN / f"{name}{_SUFFIX}") as path:
        return read_config(path, Protocol)


def digest(content: bytes) -> str:
    """Return a SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def canonical(value: object) -> bytes:
    """Return canonical JSON: sorted keys, no blanks."""
    return msgspec.json.encode(value, order="deterministic")
