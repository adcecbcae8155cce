"""What a run used: tokens, money, remembered replies."""

from collections.abc import Sequence

from vidence.records import Reply
from vidence.report.results import Run
from vidence.tables.cells import Cell, Column, Line, Table, count, share, words


def usage_table(run: Run) -> Table:
    """Tokens and cost of the new replies, and how many came out of the memory.

    Tokens are what the model reported. The cost follows the prices of the plan, in US dollars.
    """
    replies = [(row.trial.reply, row.trial.is_remembered) for row in run.rows if row.trial.reply is not None]
    new = [reply for reply, is_remembered in replies if not is_remembered]
    n_in, n_out = _tokens(new)
    lines = [
        Line(key="replies", cells=(words("replies"), count(len(replies)))),
        Line(key="new", cells=(words("asked anew"), count(len(new)))),
        Line(
            key="remembered",
            cells=(
                words("remembered, %", detail="replies taken from the memory, paid for earlier"),
                share((len(replies) - len(new)) / len(replies) if replies else None),
            ),
        ),
        Line(key="input", cells=(words("input tokens", detail="of new replies, as reported"), _known(n_in))),
        Line(
            key="output", cells=(words("output tokens", detail="of new replies, as reported"), _known(n_out))
        ),
        Line(key="cost", cells=(words("cost, US dollars"), _cost(run, n_in, n_out))),
    ]
    silent = sum(r.usage.input_tokens is None and r.usage.output_tokens is None for r in new)
    return Table(
        name="usage",
        title="What was used",
        note=f"{silent:,} of {len(new):,} new replies do not say how many tokens they used."
        if silent
        else "",
        columns=(Column(key="name", title="what", is_text=True), Column(key="n", title="amount")),
        lines=tuple(lines),
    )


def _tokens(replies: Sequence[Reply]) -> tuple[int | None, int | None]:
    """Input and output tokens; None where no reply says."""
    n_in = [r.usage.input_tokens for r in replies if r.usage.input_tokens is not None]
    n_out = [r.usage.output_tokens for r in replies if r.usage.output_tokens is not None]
    return (sum(n_in) if n_in else None), (sum(n_out) if n_out else None)


def _known(n: int | None) -> Cell:
    return words("not reported") if n is None else count(n)


def _cost(run: Run, n_in: int | None, n_out: int | None) -> Cell:
    plan = run.plan
    if not (plan.price_in or plan.price_out):
        return words("no prices given")
    cost = ((n_in or 0) * plan.price_in + (n_out or 0) * plan.price_out) / 1e6
    return Cell(text=f"{cost:,.4f}", value=cost)
