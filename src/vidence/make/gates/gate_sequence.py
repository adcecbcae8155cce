"""The gates of a maker, one behind the other: each with its account and its verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from vidence.make.gates.blind import BLIND, hold_back
from vidence.make.gates.checks import CHECKS, check
from vidence.make.gates.frames import FrameSource
from vidence.make.gates.letters import LetterCounts, spread_letters
from vidence.make.gates.model_gates import AskSettings, GateVerdict
from vidence.make.gates.rules import (
    MOST_LUCK,
    BlindRules,
    GateRules,
    NeedsAllRules,
    OneFrameRules,
    TextOnlyRules,
)
from vidence.make.gates.trying import Asking, AskingRules, asking_gates, try_gate
from vidence.make.gates.withholding import NEEDS_ALL
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.models import Models
from vidence.make.pipeline.output import json_lines
from vidence.make.pipeline.session import Session

VERDICTS_FILE = "verdicts.jsonl"


@dataclass(frozen=True, kw_only=True)
class Gated:
    """What came out of the gates: drafts, verdicts, letters, and sentences about the gates."""

    drafts: tuple[Draft, ...]
    verdicts: tuple[GateVerdict, ...] = ()
    letters: tuple[LetterCounts, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GateRoom:
    """What the gates of a maker work with.

    `frames` says where the media of these drafts are cut. `sources` are the sources of their videos by id;
    what is not there is its own source, or has one in the draft. `own_words` is the user's folder of
    templates for questions. With `is_released` blind readers are a gate even where no gate is configured.
    `holds` are the tasks whose drafts that gate drops by itself, `tasks` the names of tasks in drafts by
    those in the configuration, where they differ.
    """

    session: Session
    models: Models
    frames: Callable[[Sequence[Draft]], FrameSource]
    seed: int
    sources: Mapping[str, str]
    own_words: Path | None = None
    is_released: bool = False
    holds: tuple[str, ...] = ()
    tasks: Mapping[str, str] = field(default_factory=dict)

    @property
    def how(self) -> AskSettings:
        """How models are asked."""
        return AskSettings(own_words=self.own_words)


def pass_gates(drafts: tuple[Draft, ...], rules: GateRules | None, room: GateRoom) -> Gated:
    """Put drafts through the gates that there are rules for; each closes an account of its own.

    The letters are spread before models are asked, so that questions are asked as they are released, and
    again behind the last gate, where only what it has unbalanced is moved.

    Raises:
        VidenceError: a model answers nobody any more; every reply so far is remembered.
    """
    if rules is None:
        words = ["the configuration has no [gates]; drafts were put through no quality gate"]
        if room.is_released:
            words = ["the configuration has no [gates]; the only gate is that of blind readers"]
            drafts, more = _held_back(room, drafts, rules=BlindRules())
            words += more
        room.session.ledger.notes += words
        return Gated(drafts=drafts, words=tuple(words))
    gates = _Gates(room=room, rules=rules)
    drafts = room.session.filter(CHECKS, drafts, lambda some: check(some, rules.checks))
    gates.words.append(
        f"checks: what is doubled (texts alike by {rules.checks.near:g}), ambiguous, or gives itself away"
    )
    drafts = gates.spread(drafts)
    for gate, asking, reason in asking_gates(rules):
        drafts = gates.asked(gate, drafts, asking, reason=reason)
    drafts, found = _held_back(room, drafts, rules=rules.blind)
    gates.words += found
    drafts = gates.spread(drafts)
    room.session.ledger.notes.extend(gates.notes)
    write_file(room.session.out / VERDICTS_FILE, json_lines(gates.verdicts))
    return Gated(
        drafts=drafts,
        verdicts=tuple(gates.verdicts),
        letters=gates.letters,
        words=(*gates.words, *gates.notes),
    )


def _held_back(
    room: GateRoom, drafts: tuple[Draft, ...], *, rules: BlindRules
) -> tuple[tuple[Draft, ...], list[str]]:
    """The drafts of structures that texts do not give away, and what is said of all structures."""
    words: list[str] = []
    held = rules.in_maker(room.holds, room.tasks)

    def gate(some: Sequence[Draft]) -> tuple[Sequence[Draft], Sequence[Dropped]]:
        found = hold_back(some, held, sources=room.sources, seed=room.seed)
        words.extend(found.words)
        return found.drafts, found.dropped

    if not drafts:
        return drafts, words
    return room.session.filter(BLIND, drafts, gate), words


class _Gates:
    """The gates of one session, with what they have to say."""

    def __init__(self, *, room: GateRoom, rules: GateRules) -> None:
        self._room, self._rules = room, rules
        self.verdicts: list[GateVerdict] = []
        self.letters: tuple[LetterCounts, ...] = ()
        self.words: list[str] = []
        self.notes: list[str] = []

    def spread(self, drafts: tuple[Draft, ...]) -> tuple[Draft, ...]:
        """Spread the letters, if that is wanted."""
        if not self._rules.letters:
            return drafts
        spread = spread_letters(drafts, seed=self._room.seed)
        self.letters = spread.counts
        return spread.drafts

    def asked(
        self, gate: str, drafts: tuple[Draft, ...], rules: AskingRules | None, *, reason: str
    ) -> tuple[Draft, ...]:
        """Drop what a gate that asks a model speaks against; drafts say how many moments proved needed."""
        if rules is None or (isinstance(rules, TextOnlyRules) and not rules.models):
            table = gate.replace("-", "_")
            self.notes.append(f"{gate}: the configuration has no [gates.{table}]; this gate was left out")
            return drafts
        self.words.append(f"{gate}: {self._says(rules)}")
        room = self._room

        def gate_drafts(some: Sequence[Draft]) -> tuple[Sequence[Draft], Sequence[Dropped]]:
            asking = Asking(
                frames=lambda: room.frames(some), models=room.models, seed=room.seed, how=room.how
            )
            tried = try_gate(gate, some, rules, asking=asking, reason=reason)
            self.verdicts += tried.verdicts
            self.notes += tried.words
            return [one for one in some if one.draft_id not in tried.dropped], [*tried.dropped.values()]

        kept = room.session.filter(gate, drafts, gate_drafts)
        if gate != NEEDS_ALL:
            return kept
        proved = {one.item_id: one.k_verified for one in self.verdicts if one.gate == NEEDS_ALL}
        return tuple(msgspec.structs.replace(draft, k_verified=proved.get(draft.draft_id)) for draft in kept)

    def _says(self, rules: AskingRules) -> str:
        match rules:
            case TextOnlyRules():
                return self._panel(rules)
            case OneFrameRules():
                return self._frames(rules)
            case NeedsAllRules():
                then = (
                    "dropped where fewer than k moments proved needed" if rules.drop else "nothing is dropped"
                )
                return (
                    f"each span of evidence is withheld in turn from {self._spec(rules.model)}, which must "
                    f"not be right without it in {1 + rules.permutations} orders of the choices; {then}"
                )

    def _spec(self, name: str) -> str:
        return self._room.models.spec(name).partition("?")[0]

    def _panel(self, rules: TextOnlyRules) -> str:
        who = ", ".join(self._spec(name) for name in rules.models)
        orders = f", in {1 + rules.permutations} orders of the choices" if rules.permutations else ""
        if rules.runs:
            often = f"{rules.runs} times"
            if rules.runs == "auto":
                often = f"so often that guessing passes in {MOST_LUCK:.0%} at most"
            orders = f", each asked {often}, in other orders of the choices"
        return (
            f"dropped where {rules.at_least} of {len(rules.models)} are right in words alone{orders} ({who})"
        )

    def _frames(self, rules: OneFrameRules) -> str:
        tried = [f"those that show the first {rules.evidence} spans best"] * (
            rules.decisive and bool(rules.evidence)
        )
        tried += ["the central one"] * rules.central
        tried += [f"those in the middle of the first {rules.evidence} spans"] * bool(rules.evidence)
        return (
            f"dropped where {self._spec(rules.model)} is right with one frame, for {rules.suffice} of these "
            f"frames: {', '.join(tried)}; in {1 + rules.permutations} orders of the choices"
        )
