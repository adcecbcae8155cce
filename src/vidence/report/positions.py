"""Whether the letters read lean towards a position."""

import math
from string import ascii_uppercase

import numpy as np

from vidence.report.results import Run
from vidence.statistics.position import PositionBias, position_bias
from vidence.tables.cells import Column, Line, Table, count, share, words

# Some parsers find in a text that it means none of the choices, and say so in words.
LETTERS = frozenset(ascii_uppercase)


def position_table(run: Run, *, rng: np.random.Generator) -> Table:
    """How often each letter was read and was right, and whether wrong answers prefer a letter.

    Only questions with choices count, and of several repeats the first one.

    Args:
        run: the run.
        rng: where the simulations of the test come from.
    """
    rows = [
        row
        for row in run.rows
        if row.item.answer_kind == "choice" and row.item.choices and row.trial.repeat == 0
    ]
    columns = (
        Column(key="letter", title="letter", is_text=True),
        Column(key="gold", title="right answer", group="questions"),
        Column(key="read", title="read", group="questions"),
        Column(key="gold-share", title="right answer", group="share, %"),
        Column(key="read-share", title="read", group="share, %"),
        Column(key="accuracy", title="accuracy, %", note="on questions whose right answer is this letter"),
        Column(key="wrong", title="read", group="among wrong answers"),
        Column(
            key="expected", title="expected", group="among wrong answers", note="if no letter were preferred"
        ),
    )
    title = "Letters"
    if not rows:
        return Table(
            name="positions", title=title, kind="letters", columns=columns, lines=(), note="No choices."
        )
    bias = position_bias(
        [row.read if row.read in LETTERS else None for row in rows],
        [row.item.answer for row in rows],
        n_choices=[len(row.item.choices) for row in rows],
        rng=rng,
    )
    lines = [
        Line(
            key=letter,
            cells=(
                words(letter),
                count(bias.right[i]),
                count(bias.read[i]),
                share(bias.right_shares[i]),
                share(bias.read_shares[i]),
                share(bias.accuracy[i]),
                count(bias.wrong_read[i]),
                words(f"{bias.wrong_expected[i]:.1f}"),
            ),
        )
        for i, letter in enumerate(bias.letters)
    ]
    return Table(
        name="positions", title=title, kind="letters", columns=columns, lines=tuple(lines), note=_note(bias)
    )


def _note(bias: PositionBias) -> str:
    parts: list[str] = []
    if math.isnan(bias.p_value):
        parts.append(f"Preference for a position: {bias.method}.")
    else:
        p = f"p = {bias.p_value:.4f}" if bias.p_value >= 0.001 else "p < 0.001"
        verdict = "prefer some letters" if bias.p_value < 0.05 else "show no clear preference for a letter"
        parts.append(
            f"Wrong answers {verdict} ({p}; {bias.method}). "
            "The cause can be the model, or tempting choices in one place."
        )
    if bias.n_unread:
        n = "1 question has" if bias.n_unread == 1 else f"{bias.n_unread:,} questions have"
        parts.append(f"{n} no letter read.")
    if bias.n_outside:
        parts.append(f"{bias.n_outside:,} letters read are not among the choices.")
    return " ".join(parts)
