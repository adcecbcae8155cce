"""Behind the drafts: quality gates, each with its account and its verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass

from vidence.make.cards.pictures import PictureFolder
from vidence.make.gates.asking import ONE_FRAME, TEXT_ONLY, ask_blind, ask_with_frames
from vidence.make.gates.checks import CHECKS, check
from vidence.make.gates.frames import Cutting, cut_frames
from vidence.make.gates.letters import LetterCounts, spread_letters
from vidence.make.gates.rules import GateRules, OneFrameRules, TextOnlyRules
from vidence.make.gates.verdicts import GateVerdict, as_lines, remarks
from vidence.make.herbench.files import write_file
from vidence.make.herbench.work import Known, Work
from vidence.make.pipeline.making import sift
from vidence.make.pipeline.material import Draft, Dropped

VERDICTS_FILE = "verdicts.jsonl"
_NOT_ASKED = "the configuration has no [gates.{}]; this gate was left out"


@dataclass(frozen=True, kw_only=True)
class Sifted:
    """What came out of the gates: drafts, verdicts, letters, and sentences about the gates."""

    drafts: tuple[Draft, ...]
    verdicts: tuple[GateVerdict, ...] = ()
    letters: tuple[LetterCounts, ...] = ()
    words: tuple[str, ...] = ()


def pass_gates(work: Work, drafts: tuple[Draft, ...], videos: Sequence[Known]) -> Sifted:
    """Put the drafts through the gates that the configuration has; each closes an account of its own.

    The letters are spread before models are asked, so that questions are asked as they are released, and
    again behind the last gate, where only what it has unbalanced is moved.

    Raises:
        VidenceError: a model answers nobody any more; every reply so far is remembered.
    """
    rules = work.config.gates
    if rules is None:
        words = "the configuration has no [gates]; drafts were put through no quality gate"
        work.books.notes.append(words)
        return Sifted(drafts=drafts, words=(words,))
    gates = _Gates(work=work, rules=rules, videos=videos)
    drafts = sift(
        CHECKS,
        drafts,
        lambda some: check(some, rules.checks),
        books=work.books,
        on_event=work.workshop.on_event,
    )
    gates.words.append(
        f"checks: what is doubled (texts alike by {rules.checks.near:g}), ambiguous, or gives itself away"
    )
    drafts = gates.spread(drafts)
    drafts = gates.text_only(drafts)
    drafts = gates.one_frame(drafts)
    drafts = gates.spread(drafts)
    work.books.notes.extend(gates.notes)
    write_file(work.out / VERDICTS_FILE, as_lines(gates.verdicts))
    return Sifted(
        drafts=drafts,
        verdicts=tuple(gates.verdicts),
        letters=gates.letters,
        words=(*gates.words, *gates.notes),
    )


class _Gates:
    """The gates of one session, with what they have to say."""

    def __init__(self, *, work: Work, rules: GateRules, videos: Sequence[Known]) -> None:
        self._work, self._rules, self._videos = work, rules, videos
        self.verdicts: list[GateVerdict] = []
        self.letters: tuple[LetterCounts, ...] = ()
        self.words: list[str] = []
        self.notes: list[str] = []

    def spread(self, drafts: tuple[Draft, ...]) -> tuple[Draft, ...]:
        """Spread the letters, if that is wanted."""
        if not self._rules.letters:
            return drafts
        spread = spread_letters(drafts, seed=self._work.config.seed)
        self.letters = spread.counts
        return spread.drafts

    def text_only(self, drafts: tuple[Draft, ...]) -> tuple[Draft, ...]:
        """Drop what the panel answers without the video."""
        rules = self._rules.text_only
        if rules is None or not rules.models:
            self.notes.append(f"{TEXT_ONLY}: {_NOT_ASKED.format('text_only')}")
            return drafts
        self.words.append(f"{TEXT_ONLY}: {self._panel(rules)}")

        def sieve(some: Sequence[Draft]) -> tuple[Sequence[Draft], Sequence[Dropped]]:
            work = self._work
            verdicts = ask_blind(some, rules, jobs=work.jobs, seed=work.config.seed, own_words=work.prompts)
            return self._sieved(TEXT_ONLY, some, verdicts, reason="solved-blind")

        return sift(TEXT_ONLY, drafts, sieve, books=self._work.books, on_event=self._work.workshop.on_event)

    def one_frame(self, drafts: tuple[Draft, ...]) -> tuple[Draft, ...]:
        """Drop what a model answers with one frame."""
        rules = self._rules.one_frame
        if rules is None:
            self.notes.append(f"{ONE_FRAME}: {_NOT_ASKED.format('one_frame')}")
            return drafts
        self.words.append(f"{ONE_FRAME}: {self._eye(rules)}")

        def sieve(some: Sequence[Draft]) -> tuple[Sequence[Draft], Sequence[Dropped]]:
            work = self._work
            tried = cut_frames(some, rules, self._cutting())
            verdicts = ask_with_frames(
                some, tried, rules, jobs=work.jobs, seed=work.config.seed, own_words=work.prompts
            )
            return self._sieved(ONE_FRAME, some, verdicts, reason="solved-one-frame")

        return sift(ONE_FRAME, drafts, sieve, books=self._work.books, on_event=self._work.workshop.on_event)

    def _sieved(
        self, gate: str, drafts: Sequence[Draft], verdicts: Sequence[GateVerdict], *, reason: str
    ) -> tuple[Sequence[Draft], Sequence[Dropped]]:
        self.verdicts += verdicts
        self.notes += remarks(gate, verdicts)
        gone = {one.draft_id: one for one in verdicts if one.decision == "dropped"}
        dropped = [
            Dropped(what=name, stage=gate, reason=reason, detail=f"{one.n_right} of {len(one.votes)} right")
            for name, one in gone.items()
        ]
        return [draft for draft in drafts if draft.draft_id not in gone], dropped

    def _spec(self, name: str) -> str:
        return self._work.config.named_models[name].spec.partition("?")[0]

    def _panel(self, rules: TextOnlyRules) -> str:
        who = ", ".join(self._spec(name) for name in rules.models)
        orders = f", in {1 + rules.permutations} orders of the choices" if rules.permutations else ""
        return (
            f"dropped where {rules.at_least} of {len(rules.models)} are right in words alone{orders} ({who})"
        )

    def _eye(self, rules: OneFrameRules) -> str:
        tried = ["the central one"] * rules.central
        tried += [f"those in the middle of the first {rules.evidence} spans"] * bool(rules.evidence)
        return (
            f"dropped where {self._spec(rules.model)} is right with one frame, for {rules.suffice} of these "
            f"frames: {' and '.join(tried)}; in {1 + rules.permutations} orders of the choices"
        )

    def _cutting(self) -> Cutting:
        around = self._work.workshop
        return Cutting(
            files={one.video_id: one.source.file for one in self._videos if one.source.file is not None},
            videos={one.video_id: one.source.video for one in self._videos},
            pictures=PictureFolder(self._work.pictures),
            shelf=self._work.shelf,
            cache_root=around.cache_root,
            cache_max_bytes=around.cache_max_bytes,
        )
