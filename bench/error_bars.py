"""How wide the intervals of diagnostics are, how often they hold the truth, and what biases them.

    python bench/error_bars.py [--repeats 40]

Questions are simulated: ten about each video, each needing one to eight pieces of evidence. One in ten
gives its answer away. A selector finds all pieces for six in ten, more in some videos than in others; the
parser puts them together for eight in ten. Where it does not know it is wrong, or guesses among five.
The diagnostics are the real ones; only frames and model are made up. Prints the table of the
documentation: the planted figure, what it is in the long run (20,000 questions), and for each number of
questions the median half width of the interval, with how often it holds the figure of the long run.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vidence.catalog import create
from vidence.contracts import Ask, Diagnostic, Examined, Flow
from vidence.records import (
    Answered,
    Estimate,
    Evidence,
    ImagePart,
    Item,
    Media,
    Prompt,
    Reply,
    Score,
    TextPart,
)
from vidence.tables.table import Table

SIZES = (50, 200, 1000)
LONG_RUN = 20_000
PER_VIDEO = 10
MOST, MOST_PIECES = 16, 8
SHARE_TOLD, SHARE_FOUND, SHARE_FUSED = 0.1, 0.6, 0.8
CHOICES = ("right", "wrong 1", "wrong 2", "wrong 3", "wrong 4")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is planted in one question."""

    n_pieces: int
    is_told: bool
    is_found: bool
    is_fused: bool


@dataclass(frozen=True, kw_only=True)
class Parser:
    """Who answers: whether it guesses, and how noisy its log-probabilities are."""

    name: str
    guesses: bool = False
    noise: float = 0.0


def draw_truths(n: int, rng: np.random.Generator) -> list[Truth]:
    """Questions video by video; how often evidence is found differs between videos."""
    truths = []
    for _ in range(-(-n // PER_VIDEO)):
        share_found = rng.beta(6, 4)  # a mean of 0.6
        for _ in range(PER_VIDEO):
            truths.append(
                Truth(
                    n_pieces=int(rng.integers(1, MOST_PIECES + 1)),
                    is_told=bool(rng.random() < SHARE_TOLD),
                    is_found=bool(rng.random() < share_found),
                    is_fused=bool(rng.random() < SHARE_FUSED),
                )
            )
    return truths[:n]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A subject whose images are named by view and position; the first ones are those that are needed."""

    item: Item
    truth: Truth

    def n_frames(self, view: str) -> int:
        """All pieces where the view is the evidence, one in the central view, otherwise 16."""
        return {"central": 1, "frames": self.truth.n_pieces}.get(view, MOST)

    def times_s(self, view: str) -> tuple[float, ...]:
        """One frame in the middle of every second; piece i is seen in second i."""
        return tuple(i + 0.5 for i in range(self.n_frames(view)))

    def prompt(
        self,
        view: str,
        positions: Sequence[int] | None = None,
        *,
        order: tuple[int, ...] = (),
        more: str = "",
        instead: Mapping[int, str] | None = None,
    ) -> Prompt:
        """The images named by view and position."""
        wanted = range(self.n_frames(view)) if positions is None else positions
        taken = {p: (instead or {}).get(p, view) for p in wanted}
        images = [ImagePart(digest=f"{taken[p]}:{p}", width_px=1, height_px=1, frames=(p,)) for p in wanted]
        choices = self.item.with_order(order).choices
        return Prompt(parts=(TextPart(text=self.item.item_id), *images), choices=choices)

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """Right where the letter is."""
        yield from ()
        value = float(reply.text == self.item.with_order(order).answer)
        return Score(outcome=Answered(answer=reply.text), value=value, scorer="simulated", scorer_version=1)


def n_missing(truth: Truth, prompt: Prompt) -> int:
    """How many needed pieces are in none of the images."""
    shown = [part.digest.split(":") for part in prompt.parts if isinstance(part, ImagePart)]
    is_blind_to = {"plan": not truth.is_found, "full": not truth.is_found, "central": True}
    seen = {p for view, p in shown if not is_blind_to.get(view, False) and int(p) < truth.n_pieces}
    return truth.n_pieces - len(seen)


def reply(truth: Truth, parser: Parser, ask: Ask, rng: np.random.Generator) -> Reply:
    """What the parser says, with log-probabilities where they are wanted."""
    prompt = ask.prompt
    letters = "ABCDE"
    right = letters[prompt.choices.index("right")]
    wrong = next(letter for letter in letters if letter != right)
    if ask.sampling is not None and ask.sampling.want_choice_logps:
        missing = 0 if truth.is_told else n_missing(truth, prompt)
        known = np.where(np.array(list(letters)) == right, 4.0 - 1.5 * min(missing, 2), 0.0)
        logits = known + parser.noise * rng.standard_normal(len(letters))
        logps = logits - np.log(np.exp(logits).sum())
        return Reply(text=right, choice_logps=dict(zip(letters, logps.tolist(), strict=True)))
    knows = truth.is_told or (truth.is_fused and n_missing(truth, prompt) == 0)
    if knows:
        return Reply(text=right)
    return Reply(text=letters[rng.integers(len(letters))] if parser.guesses else wrong)


def examined(diagnostic: Diagnostic, parser: Parser, n: int, rng: np.random.Generator) -> list[Examined]:
    """The diagnostic's findings on new questions."""
    found = []
    for number, truth in enumerate(draw_truths(n, rng)):
        evidence = tuple(Evidence(start_s=i, end_s=i + 1) for i in range(truth.n_pieces))
        media = (Media(path=f"{number // PER_VIDEO}.mp4"),)
        item = Item(
            item_id=str(number), media=media, question="?", choices=CHOICES, answer="A", evidence=evidence
        )
        flow = diagnostic.examine(Question(item=item, truth=truth))
        try:
            wanted = next(flow)
            while True:
                asks = [Ask(prompt=one) if isinstance(one, Prompt) else one for one in wanted]
                wanted = flow.send([reply(truth, parser, ask, rng) for ask in asks])
        except StopIteration as stop:
            found.append(Examined(item=item, finding=stop.value))
    return found


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure: which diagnostic states it where, and what is planted."""

    title: str
    make: Callable[[], Diagnostic]
    at: tuple[str, str, str]
    planted: float
    parsers: tuple[Parser, ...]
    is_share: bool = True

    def stated(self, found: Sequence[Examined], rng: np.random.Generator) -> Estimate:
        """What the diagnostic states of these findings."""
        sheet, line, column = self.at
        for statement in self.make().summarise(found, rng=rng, level=0.95):
            if isinstance(statement, Table) and statement.name == sheet:
                value = statement.value(line, column)
                if isinstance(value, Estimate):
                    return value
        raise RuntimeError(f"nothing at {self.at}")


SILENT, GUESSER = Parser(name="never guesses"), Parser(name="guesses among 5", guesses=True)
NOISY = tuple(Parser(name=f"noise {noise:g} nats", noise=noise) for noise in (0.0, 0.3, 1.0))
FULL = SHARE_TOLD + (1 - SHARE_TOLD) * SHARE_FOUND * SHARE_FUSED
ORACLE = SHARE_TOLD + (1 - SHARE_TOLD) * SHARE_FUSED
FIGURES = (
    *(
        Figure(
            title=f"`mrfs`, mean, {mode}",
            make=lambda mode=mode: create("diagnostic", f"mrfs?mode={mode}"),
            at=("mrfs", "all", "mean"),
            planted=(1 + MOST_PIECES) / 2,
            parsers=(SILENT, GUESSER),
            is_share=False,
        )
        for mode in ("nested-bisect", "exhaustive")
    ),
    Figure(
        title="`frame-shares`, top-1 share",
        make=lambda: create("diagnostic", "frame-shares"),
        at=("frame-shares", "all", "top"),
        planted=float(np.mean([1 / k for k in range(2, MOST_PIECES + 1)])),
        parsers=NOISY,
    ),
    Figure(
        title="`modality`, words alone / all frames",
        make=lambda: create("diagnostic", "modality"),
        at=("modality", "text", "ratio"),
        planted=SHARE_TOLD / FULL,
        parsers=(SILENT, GUESSER),
    ),
    Figure(
        title="`selector-gap`, retrieval",
        make=lambda: create("diagnostic", "selector-gap"),
        at=("selector-gap", "plan", "retrieval"),
        planted=ORACLE - FULL,
        parsers=(SILENT, GUESSER),
    ),
    Figure(
        title="`selector-gap`, fusion",
        make=lambda: create("diagnostic", "selector-gap"),
        at=("selector-gap", "plan", "fusion"),
        planted=1 - ORACLE,
        parsers=(SILENT, GUESSER),
    ),
    Figure(
        title="`blind-panel`, flagged",
        make=lambda: create("diagnostic", "blind-panel"),
        at=("blind-panel", "flagged", "share"),
        planted=SHARE_TOLD,
        parsers=(SILENT, GUESSER),
    ),
)


def shown(figure: Figure, value: float) -> str:
    """A number as the table prints it."""
    return f"{100 * value:.1f} %" if figure.is_share else f"{value:.2f}"


def line(figure: Figure, parser: Parser, repeats: int, *, seed: int) -> str:
    """One line of the table."""
    rng = np.random.default_rng([seed, 0])
    diagnostic = figure.make()
    long_run = figure.stated(examined(diagnostic, parser, LONG_RUN, rng), rng).value
    cells = []
    for size in SIZES:
        widths, n_held = [], 0
        for repeat in range(repeats):
            own_rng = np.random.default_rng([seed, size, repeat])
            found = figure.stated(examined(diagnostic, parser, size, own_rng), own_rng)
            widths.append((found.high - found.low) / 2)
            n_held += found.low <= long_run <= found.high
        cells.append(f"± {shown(figure, float(np.nanmedian(widths)))} ({100 * n_held / repeats:.0f})")
    first = [figure.title, parser.name, shown(figure, figure.planted), shown(figure, long_run)]
    return f"| {' | '.join([*first, *cells])} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    heads = ["figure", "parser", "planted", "in the long run", *(f"{n:,} questions" for n in SIZES)]
    print(f"| {' | '.join(heads)} |")
    print(f"|{'---|' * len(heads)}")
    for figure in FIGURES:
        for parser in figure.parsers:
            print(line(figure, parser, options.repeats, seed=options.seed), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
