"""Planted against recovered where no video is needed: readers, labellers and judges of known behaviour."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from vidence import catalog
from vidence.contracts import Diagnostic, Examined, SetDiagnostic
from vidence.explain.errors.labels import Label
from vidence.explain.errors.shares import (
    Labelling,
    corrected_shares,
    kind_contrasts,
    kind_shares,
    labellings,
)
from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.explain.planted import hint_readers, readers
from vidence.explain.planted.errors import PlantedErrors, plant
from vidence.explain.planted.hint_readers import HintReader
from vidence.explain.planted.readers import LEVEL, Candidates, Refiner
from vidence.explain.planted.simulated import Simulated
from vidence.records import Estimate, Failed
from vidence.report.calibration_judges import JudgesAsked, recovered_judges
from vidence.report.diagnosis_calibration import Recovered
from vidence.tables.table import Table

_READER, _LABELLER = "reader, no video", "labeller, no video"
_SIZES = ((0, 1), (1, 2), (2, 4), (3, 8))  # M and 2^M candidates
_ROUNDS = 3
_FEW, _MANY = "8 frames", "32 frames"


def recovered_simulated(*, seed: int) -> tuple[Recovered, ...]:
    """Every figure that simulated readers, labellers and judges without a video are asked for.

    Args:
        seed: of all that is drawn.
    """
    rng = np.random.default_rng(seed)
    candidates = Candidates(p=0.4, points=readers.perfect, rng=rng)
    refiner = Refiner(rng=rng)
    judges = JudgesAsked()
    return (
        *recovered_candidates(candidates, p=candidates.p, n=150),
        *recovered_refining(refiner, planted=refiner, n=150),
        *recovered_hints(HintReaders(), n=60),
        *recovered_errors(ErrorsPlanted(), planted=ErrorsPlanted(), n=200, seed=seed),
        *recovered_judges(judges, planted=judges, n_questions=200, seed=seed),
    )


def _made(name: str, **options: str) -> Diagnostic:
    made: Diagnostic = catalog.create("diagnostic", catalog.Spec(name=name, options=options))
    return made


@dataclass(frozen=True, kw_only=True)
class _ReaderStatement:
    """What a diagnostic states of a simulated reader."""

    diagnostic: str
    examined: tuple[Examined, ...]
    tables: Mapping[str, Table]

    def beside(self, what: str, planted: float, at: tuple[str, str, str], *, is_drawn: bool) -> Recovered:
        """One figure beside what is planted; a question that failed differs."""
        sheet, line, column = at
        return Recovered(
            diagnostic=self.diagnostic,
            label=_READER,
            what=what,
            planted=planted,
            found=self.tables[sheet].estimate(line, column),
            n=len(self.examined),
            n_different=sum(isinstance(one.finding, Failed) for one in self.examined),
            is_share=True,
            is_drawn=is_drawn,
        )


def _asked(
    diagnostic: Diagnostic, subjects: list[Simulated], answers_of: readers.AnswersOf
) -> _ReaderStatement:
    examined = readers.examine_all(diagnostic, subjects, answers_of)
    tables = readers.tables_of(diagnostic, examined, rng=np.random.default_rng(0))
    return _ReaderStatement(diagnostic=diagnostic.name, examined=tuple(examined), tables=tables)


# ------------------------------------------------------------------ test time


def recovered_candidates(reader: Candidates, *, p: float, n: int) -> tuple[Recovered, ...]:
    """Best of N with a perfect reward follows 1 - (1 - p)^N.

    Args:
        reader: who answers, and weighs.
        p: the chance that one reply is held to be right.
        n: how many questions.
    """
    said = _asked(_made("best-of-n"), readers.candidate_subjects(n), reader)
    lines = [
        said.beside(
            f"accuracy, best of {size}, perfect reward",
            1 - (1 - p) ** size,
            ("best-of-n", "self:averaged", f"m{m}"),
            is_drawn=True,
        )
        for m, size in _SIZES
    ]
    return (*lines, said.beside("AUC of a perfect reward", 1.0, ("rewards", "self", "auc"), is_drawn=True))


def recovered_refining(reader: Refiner, *, planted: Refiner, n: int) -> tuple[Recovered, ...]:
    """The rates at which reviews repair and spoil, and the accuracy after the last round.

    Args:
        reader: who answers.
        planted: what it is held to be.
        n: how many questions.
    """
    subjects = [Simulated(readers.item(number), {"plan": (0.0,)}) for number in range(n)]
    said = _asked(_made("self-refine", controls="resample", rounds=str(_ROUNDS)), subjects, reader)
    after = ("self-refine", f"own:{_ROUNDS}", "accuracy")
    anew = planted.start * (1 - planted.start)
    return (
        said.beside("repair rate of a review", planted.repairs, ("controls", "own", "a"), is_drawn=True),
        said.beside("spoil rate of a review", planted.spoils, ("controls", "own", "b"), is_drawn=True),
        said.beside(f"accuracy after {_ROUNDS} rounds", planted.after(_ROUNDS), after, is_drawn=True),
        said.beside("wrong to right, asked anew", anew, ("controls", "resample", "repaired"), is_drawn=True),
    )


# ------------------------------------------------------------------ hints and wordings


@dataclass(frozen=True, kw_only=True)
class HintReaders:
    """Who searches by a hint, who gains by every level, who reads the answer off it, whom any words help."""

    searcher: HintReader = hint_readers.searcher
    climber: HintReader = hint_readers.climber
    parrot: HintReader = hint_readers.parrot
    swayed: HintReader = hint_readers.swayed


def recovered_hints(asked: HintReaders, *, n: int) -> tuple[Recovered, ...]:
    """The gain of every level, a hint that leaks, and what placebos gain; all of them exactly.

    Args:
        asked: who answers.
        n: how many questions, a multiple of ten.
    """

    def said(reader: HintReader) -> _ReaderStatement:
        subjects, one = hint_readers.subjects(n), _made("hints")
        if isinstance(one, SetDiagnostic):
            one = one.of_items([subject.item for subject in subjects])
        return _asked(one, subjects, hint_readers.answering(reader))

    def row(found: _ReaderStatement, what: str, planted: float, *, key: str) -> Recovered:
        return found.beside(what, planted, ("hints", key, "difference"), is_drawn=False)

    climber, searcher, parrot, swayed = map(said, (asked.climber, asked.searcher, asked.parrot, asked.swayed))
    return (
        *(
            climber.beside(
                f"gain of hint level {level}", gain, ("levels", f"L{level}", "gain"), is_drawn=False
            )
            for level, gain in ((1, 0.1), (2, 0.2), (3, 0.4))
        ),
        row(searcher, "hints less those of another question", 0.4, key="less-foreign"),
        row(searcher, "hints less words that say nothing", 0.4, key="less-filler"),
        row(searcher, "gain without frames, no leak", 0.0, key="words"),
        _noted(row(parrot, "gain without frames, hints leak", 1.0, key="words"), parrot),
        row(swayed, "placebo of a reader whom any words help", 0.3, key="foreign"),
        row(swayed, "its gain less that placebo", 0.0, key="less-foreign"),
    )


def _noted(row: Recovered, said: _ReaderStatement) -> Recovered:
    """The same; every question differs where the table does not say that the hints leak."""
    is_said = "they give answers away" in said.tables["hints"].note
    return row if is_said else replace(row, n_different=row.n)


# ------------------------------------------------------------------ kinds of errors


def _few_frames() -> dict[str, float]:
    return {"missing-referred": 0.2, "missing-proactive": 0.15, "knowledge": 0.15}


def _many_frames() -> dict[str, float]:
    return {"missing-referred": 0.04, "missing-proactive": 0.15, "knowledge": 0.15}


@dataclass(frozen=True, kw_only=True)
class ErrorsPlanted:
    """The chance of each kind with few and with many frames, and how often a model confuses one with another.

    `confused` of the errors of knowledge are called errors of perception by the model that labels.
    """

    few: Mapping[str, float] = field(default_factory=_few_frames)
    many: Mapping[str, float] = field(default_factory=_many_frames)
    confused: float = 0.3


def recovered_errors(
    asked: ErrorsPlanted, *, planted: ErrorsPlanted, n: int, seed: int
) -> tuple[Recovered, ...]:
    """Shares of kinds, what more frames take away, and the share that a confused labeller says.

    Args:
        asked: what is in the packets.
        planted: what is held to be in them.
        n: how many questions.
        seed: of the kinds and of the labeller.
    """
    taxonomy = load_taxonomy("humanpcr")
    packet = plant({_FEW: asked.few, _MANY: asked.many}, n=n, seed=seed)
    people = _labelling(packet, packet.labels())
    shares = {one.kind: one for one in kind_shares(people, taxonomy, level=LEVEL)}
    lines = kind_contrasts(people, taxonomy, first=_FEW, second=_MANY, level=LEVEL)
    moved = next(one for one in lines if one.kind == "missing-referred").comparison.difference
    rng = np.random.default_rng([seed, 1])

    def confuses(kind: str) -> str:
        is_taken = kind == "knowledge" and rng.random() < asked.confused
        return "perception" if is_taken else kind

    model = _labelling(packet, packet.labels(labeller="model", by="model", says=confuses), by="model")
    first = _labelling(packet, packet.labels(n=len(packet.packet.rows) // 3))
    known = next(
        one for one in corrected_shares(model, first, taxonomy, level=LEVEL) if one.kind == "knowledge"
    )
    total_few, total_many = sum(planted.few.values()), sum(planted.many.values())
    knowledge = (planted.few["knowledge"] + planted.many["knowledge"]) / (total_few + total_many)
    row = _error_row(len(people.labels))
    return (
        row(
            "missing referred, 8 frames",
            planted.few["missing-referred"] / total_few,
            shares["missing-referred"].shares[_FEW],
        ),
        row(
            "missing referred, 32 less 8 frames",
            planted.many["missing-referred"] - planted.few["missing-referred"],
            moved,
        ),
        row("knowledge, by a confused model", knowledge * (1 - planted.confused), known.model),
        row("knowledge, corrected by people", knowledge, known.corrected),
    )


def _error_row(n: int) -> Callable[[str, float, Estimate], Recovered]:
    def row(what: str, planted: float, found: Estimate) -> Recovered:
        return Recovered(
            diagnostic="errors",
            label=_LABELLER,
            what=what,
            planted=planted,
            found=found,
            n=n,
            n_different=0,
            is_share=True,
            is_drawn=True,
        )

    return row


def _labelling(packet: PlantedErrors, labels: tuple[Label, ...], *, by: str = "person") -> Labelling:
    return next(one for one in labellings(packet.packet.key, labels) if one.by == by)
