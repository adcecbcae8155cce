"""Run three simulated models on synthetic videos, offline and without a key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import anyio
import numpy as np
from rich.text import Text

from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.planted import SimulatedModel, expected, expected_mrfs
from vidence.ask.phantom.world import render
from vidence.console.flags import command, flag
from vidence.console.screen import Screen
from vidence.engine.diagnose import diagnose, open_diagnostic
from vidence.engine.environment import Environment, environment, now
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.media.whole import own_folder
from vidence.records import Estimate, Record
from vidence.report.comparison import compare_two
from vidence.report.diagnosis import load_diagnosed
from vidence.report.page import write_page
from vidence.report.pairing import pair
from vidence.report.results import SEED, Run, load_run
from vidence.report.sections import Section
from vidence.statistics.intervals import mean_interval
from vidence.statistics.resampling import Resampling
from vidence.tables.table import Cell, Kind, RowSpec, Table, number, share, show, tabulate
from vidence.tables.terminal import print_table

SECTION = "Start here"
ORDER = 1

_SPEC: Final = WorldSpec(n_videos=8, min_s=20, max_s=24, sizes=((320, 180),), rates=(10,), n_variable=1)
_N_FRAMES: Final = 24
_N_QUESTIONS: Final = 60  # a sample, so that the videos differ in what is asked about them
_MODELS: Final[Mapping[str, SimulatedModel]] = {
    "all evidence": SimulatedModel(name="fuser"),
    "one frame only": SimulatedModel(name="single"),
    "text only": SimulatedModel(name="blind"),
}
_SOUND: Final = "all evidence"
_MRFS: Final = {"selector": "evidence"}  # ranks first one frame of each card that a question needs
_N_STEPS: Final = 4 + len(_MODELS)
_CHANCE: Final = 0.2  # every question has five choices

_INTRO: Final = (
    f"Three simulated models with known defects answered {_N_QUESTIONS} questions about the cards in "
    f"{_SPEC.n_videos} videos from {_N_FRAMES} evenly spaced frames; what each must score is known (planted)."
)
_NEXT: Final = (
    (
        "Write one question per line to questions.jsonl, next to the video kitchen.mp4 (vidence help "
        "item-format lists all fields):",
        '{"item_id": "q1", "media": [{"path": "kitchen.mp4"}], "question": "What is put into the pan first?",'
        ' "choices": ["oil", "onions", "rice"], "answer": "A"}',
    ),
    (
        "Ask a model (vidence list models), and open runs/own/report.html:",
        "vidence run table --data questions.jsonl --model openai:gpt-4.1 --out runs/own",
    ),
    (
        "Ask again without frames, with one frame and with shuffled frames, to see whether it looks:",
        "vidence diagnose modality runs/own",
    ),
)


@dataclass(frozen=True, kw_only=True)
class _Figure:
    """A measured and a planted value; `kind` is their format."""

    label: str
    planted: float
    measured: Estimate | None
    kind: Kind

    @property
    def is_recovered(self) -> bool:
        return self.measured is not None and abs(self.measured.value - self.planted) < 1e-9

    @property
    def words(self) -> str:
        measured, planted = show(self.measured, self.kind), show(self.planted, self.kind)
        return f"measured {measured.text} % ({measured.detail}), planted {planted.text} %"


class Demo(Record):
    """Where to write the demonstration."""

    out: Annotated[Path, flag("Folder for the videos, the runs and the page.")] = Path("demo-out")


@command()
def demo(given: Demo) -> int:
    """Run three simulated models on videos with known evidence; compare measured with known values.

    The exit code is 1 when a measured value differs from the known one.
    """
    out, screen = given.out, Screen(markup=False, highlight=False)
    own_folder(out, ".vidence-demo")
    runs, figures, sentences = anyio.run(_measure, out, screen)
    n_missed = sum(not figure.is_recovered for figure in figures)
    verdict = f"{n_missed} of {len(figures)} figures differ from the planted ones: something is wrong."
    if not n_missed:
        verdict = f"All {len(figures)} figures equal the planted ones."
    page, table = out / "report.html", _beside(figures)
    _step(screen, _N_STEPS, f"write {page}")
    write_page(
        runs,
        page,
        cache_root=out / "cache",
        media_root=out / "world",
        rng=np.random.default_rng(SEED),
        n_items=30,
        title="Demonstration: did it look, find, combine, or guess?",
        extra_sections=(
            Section(title="In short", paragraphs=(_INTRO,), figures=(_drawn(figures),), tables=(table,)),
            Section(title="What each model did", paragraphs=(*sentences, verdict)),
            Section(title="Next: your own video", steps=_NEXT),
        ),
    )
    print_table(table, screen)
    for sentence in ("", *sentences, "", f"{verdict} Open {page}; it says what to do with your own video."):
        screen.print(Text(sentence), soft_wrap=True)
    return int(n_missed > 0)


def _step(screen: Screen, n: int, doing: str) -> None:
    screen.print(Text(f"{n} of {_N_STEPS}: {doing}"), soft_wrap=True)


async def _measure(out: Path, screen: Screen) -> tuple[list[Run], list[_Figure], list[str]]:
    """Render, ask every model, compare, and search for the required frames."""
    _step(screen, 1, f"render {_SPEC.n_videos} videos with planted evidence into {out / 'world'}")
    render(out / "world", _SPEC, seed=SEED)
    runs: dict[str, Run] = {}
    figures: list[_Figure] = []
    for n, (label, model) in enumerate(_MODELS.items(), start=2):
        _step(screen, n, f"ask {_N_QUESTIONS} questions of a model that uses {label} (phantom:{model.name})")
        runs[label] = await _ask(out, model)
        figures.append(_accuracy(label, model, runs[label]))
        screen.print(Text(f"  accuracy: {figures[-1].words}"), soft_wrap=True)
    sound, *others = figures
    for label, other in zip(list(runs)[1:], others, strict=True):
        paired = pair([runs[_SOUND], runs[label]])
        compared = compare_two(paired, rng=np.random.default_rng(SEED), settings=Resampling())
        figures.append(
            _Figure(
                label=f"{label} less {_SOUND}",
                planted=other.planted - sound.planted,
                measured=compared.headline.difference,
                kind="difference",
            )
        )
    _step(screen, _N_STEPS - 2, "find how many frames each question needs (MRFS)")
    figures.append(await _mrfs(out, runs[_SOUND]))
    _step(screen, _N_STEPS - 1, "ask again with the annotated evidence, and without frames")
    tables = {label: await _diagnosed(out, run, "selector-gap", options={}) for label, run in runs.items()}
    return (
        list(runs.values()),
        figures,
        [_sentence(label, gap["selector-gap"]) for label, gap in tables.items()],
    )


def _sentence(label: str, gap: Table) -> str:
    """Say whether a model looked, found, combined or guessed, from its accuracies and gaps."""
    cells = (("plan", "accuracy"), ("text", "accuracy"), ("plan", "retrieval"), ("plan", "fusion"))
    estimates = [estimate for cell in cells if (estimate := gap.estimate(*cell)) is not None]
    accuracy, words, retrieval, fusion = estimates
    guessed = "guessed" if words.low > _CHANCE else "did not guess"
    guess = f"it {guessed} ({100 * words.value:.1f} % without frames; chance is {100 * _CHANCE:.1f} %)"
    more = f"{100 * (accuracy.value - words.value):.1f} points more than without frames"
    if accuracy.value <= words.value:
        return (
            f"The model that uses {label} did not look ({more}), so it found and combined nothing; {guess}."
        )
    found = "found the evidence" if retrieval.low <= 0 else "did not find all evidence"
    combined = "combined it" if fusion.low <= 0 else "did not combine it"
    return (
        f"The model that uses {label} looked ({more}), {found} (evenly spaced frames cost "
        f"{100 * retrieval.value:.1f} points), {combined} ({100 * fusion.value:.1f} points are lost with the "
        f"evidence shown); {guess}."
    )


def _environment(out: Path) -> Environment:
    return Environment(cache_root=out / "cache", n_workers=environment().n_workers)


async def _ask(out: Path, model: SimulatedModel) -> Run:
    """Ask one model all questions with evenly spaced frames; stored replies are kept."""
    plan = make_plan(
        "phantom",
        data=out / "world",
        model=f"phantom:{model.name}",
        overrides={"selector": "midpoints", "frames": _N_FRAMES, "sample": _N_QUESTIONS, "seed": SEED},
    )
    folder = out / "runs" / model.name
    await run(plan, folder, environment=_environment(out), now=now(), on_event=lambda _: None)
    return load_run(folder)


def _accuracy(label: str, model: SimulatedModel, asked: Run) -> _Figure:
    entries = [row.trial.selection.frames if row.trial.selection else () for row in asked.rows]
    planted = [
        expected(model, row.item, times_s=[frame.time_s for frame in frames])
        for row, frames in zip(asked.rows, entries, strict=True)
    ]
    right = [float(row.correct == 1.0) for row in asked.rows]
    return _Figure(
        label=f"accuracy, {label}",
        planted=sum(planted) / len(planted),
        measured=mean_interval(right, clusters=[row.item.source_id for row in asked.rows]),
        kind="share",
    )


async def _diagnosed(out: Path, asked: Run, name: str, *, options: Mapping[str, str]) -> Mapping[str, Table]:
    """Return the tables of a diagnostic of a run."""
    diagnostic = open_diagnostic(name, options)
    await diagnose(
        diagnostic,
        asked.plan,
        asked.folder,
        options=options,
        environment=_environment(out),
        now=now(),
        on_event=lambda _: None,
    )
    return load_diagnosed(diagnostic, asked.folder, options=options).tables()


async def _mrfs(out: Path, asked: Run) -> _Figure:
    """Return the mean number of frames over the questions that need any."""
    table = (await _diagnosed(out, asked, "mrfs", options=_MRFS))["mrfs"]
    needed = [n for row in asked.rows if (n := expected_mrfs(_MODELS[_SOUND], row.item))]
    return _Figure(
        label=f"mean MRFS, {_SOUND}",
        planted=sum(needed) / len(needed),
        measured=table.estimate("all", "mean"),
        kind="number",
    )


def _drawn(figures: Sequence[_Figure]) -> Table:
    """Return the accuracies for the figure, with planted values and chance as marks."""
    accuracies = (figure for figure in figures if figure.kind == "share")
    return tabulate(
        "demo-accuracy",
        "Accuracy of each model",
        label="model",
        rows=(RowSpec(figure.label, figure.label, figure) for figure in accuracies),
        measures=(
            share("accuracy", lambda figure: figure.measured),
            share("planted", lambda figure: figure.planted),
            share("chance", lambda _: _CHANCE),
        ),
        figure="scores",
    )


def _beside(figures: Sequence[_Figure]) -> Table:
    return tabulate(
        "demo",
        "Measured and planted",
        label="figure",
        rows=(RowSpec(str(i), figure.label, figure) for i, figure in enumerate(figures)),
        measures=(
            number("measured", lambda figure: Cell(value=figure.measured, kind=figure.kind)),
            number("planted", lambda figure: Cell(value=figure.planted, kind=figure.kind)),
        ),
        notes=(
            "Accuracy in per cent, differences in points; 95 % intervals, clustered by video. MRFS is the "
            "number of frames that a question needs, over the questions that need any.",
        ),
    )
