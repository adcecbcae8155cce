"""Run a plan from the command line: progress, page, and final output."""

import gc
from pathlib import Path
from typing import Annotated

from rich.console import Console

from vidence.console.files import screen, show, write_said
from vidence.console.flags import JSON, NOT_ALL, ON, PROGRESS, flag
from vidence.console.screen import Screen, say, several, show_licence
from vidence.engine.display import watched
from vidence.engine.environment import environment, now
from vidence.engine.evaluate import Summary
from vidence.engine.plan import Plan
from vidence.engine.store import SUBMISSION_FILE
from vidence.records import Record
from vidence.text import quoted, sentence


class Ending(Record):
    """Where a run executes, how progress is shown, and what is written at the end."""

    page: Annotated[bool, flag("Write report.html at the end.", "--page/--no-page")] = True
    json_path: Annotated[Path | None, JSON] = None
    on: Annotated[str | None, ON] = None
    progress: Annotated[str, PROGRESS] = "auto"


def go(plan: Plan, folder: Path, ending: Ending) -> int:
    """Run a plan in a folder, write page and tables, and return the exit code."""
    from vidence.report.run_list import keep_line

    console = Screen(stderr=True)
    again = f"vidence resume {quoted(folder)}"
    summary = asked(plan, folder, console, again=again, progress=ending.progress, on=ending.on)
    page_path = folder / "report.html"
    if summary.n_tried == 0 and ending.json_path is None and (page_path.exists() or not ending.page):
        say(
            console,
            f"{summary.ended} ({summary.ended.ends})" if summary.ended else "nothing is left to ask",
            f"; see vidence report {quoted(folder)}",
        )
        _say_left_out(summary, console)
        keep_line(folder)
        return NOT_ALL if summary.n_amiss else 0
    from vidence.cli.commands.report import show_run

    show_run(folder, page=page_path if ending.page else None, json_path=ending.json_path)
    say_summary(summary, folder, console, max_tokens=plan.sampling.max_tokens)
    return NOT_ALL if summary.n_amiss else 0


def estimated(plan: Plan, ending: Ending) -> int:
    """Print what asking a plan would require; return the exit code."""
    import anyio

    from vidence.engine.forecast import forecast

    table = anyio.run(lambda: forecast(plan, environment=environment(on=ending.on), now=now()))
    write_said(ending.json_path, "run", tables=[table])
    show(screen(ending.json_path), [], [table])
    return 0


def asked(
    plan: Plan, folder: Path, console: Console, *, again: str, progress: str = "auto", on: str | None = None
) -> Summary:
    """Complete a plan in a folder; `again` is the command that continues."""
    from vidence.engine.evaluate import run as evaluate

    place = environment(on=on)
    show_licence(plan.benchmark, console, cache_root=place.cache_root)
    say(console, (plan.benchmark, "bold"), f" · {plan.model} · {folder}")
    summary = watched(
        lambda listen: evaluate(plan, folder, environment=place, now=now(), on_event=listen),
        console,
        doing="asking",
        what=f"the run in {folder}",
        kept="what was answered is kept",
        again=again,
        progress=progress,
    )
    gc.collect()  # questions of the run and replies of its model are in cycles; what follows reads anew
    return summary


def say_summary(summary: Summary, folder: Path, console: Console, *, max_tokens: int | None = None) -> None:
    """Summarise a session in a few lines; `max_tokens` is the reply limit."""
    if summary.n_answered_before:
        say(console, f"{summary.n_answered_before} of {summary.n_planned} were answered before")
    if summary.n_remembered:
        say(console, several(summary.n_remembered, "reply", many="replies"), " taken from the reply memory")
    decoding = summary.decoding
    if decoding.n_passes:
        times = several(decoding.n_passes, "time")
        say(console, f"videos read {times}, {several(decoding.n_decoded, 'frame')} decoded")
    money = f", ${summary.cost:.4f}" if summary.cost else ""
    if summary.input_tokens or summary.output_tokens:
        cached = f" ({summary.cached_tokens} from the provider's cache)" if summary.cached_tokens else ""
        say(console, f"{summary.input_tokens} tokens read{cached}, {summary.output_tokens} written{money}")
        money = ""
    if summary.judge_input_tokens or summary.judge_output_tokens:
        read, wrote = summary.judge_input_tokens, summary.judge_output_tokens
        say(console, f"the judges read {read} tokens and wrote {wrote}{money}")
    _say_judged(summary, folder, console)
    if summary.n_failed:
        failed = f"{several(summary.n_failed, 'question')} failed"
        wrong = "" if summary.n_judge_errors == summary.n_failed else ", which counts as wrong"
        but = " but for judge errors" if wrong and summary.n_judge_errors else ""
        why = f"{wrong}{but}: {sentence(str(summary.failures))}"
        is_over = summary.ended is not None and summary.ended.n_decisive > 0
        same, again = "The decision would be the same with right answers", f"vidence resume {quoted(folder)}"
        say(console, (failed, "red"), f"{why} {same if is_over else f'Ask again with: {again}'}")
    if summary.n_cut:
        cut = f"{summary.n_cut:,} of {several(summary.n_tried, 'reply', many='replies')} cut off"
        limit = "of the server" if max_tokens is None else f"of {max_tokens:,} tokens"
        say(console, (cut, "yellow"), f" at the limit {limit}; --max-tokens sets a higher one")
    _say_left_out(summary, console)
    if summary.n_hidden:
        n = several(summary.n_hidden, "question")
        say(
            console,
            ("answers hidden", "yellow"),
            f": {n}; submission written to {folder / SUBMISSION_FILE}; score it where the answers are with: "
            f"vidence items score {quoted(folder)} --answers FOLDER",
        )


def _say_judged(summary: Summary, folder: Path, console: Console) -> None:
    """Say what judges did not decide, and how to ask them again."""
    if summary.n_judge_errors:
        n = several(summary.n_judge_errors, "reply", many="replies")
        say(console, (f"{n} got no usable verdict", "red"), ": left out of means, listed as judge errors")
    if summary.n_scores_kept:
        n = several(summary.n_scores_kept, "reply", many="replies")
        say(console, (f"{n} got no verdict", "red"), ": earlier scores stay, and the others have none yet")
    if summary.n_judge_errors or summary.n_scores_kept:
        judge = f"vidence replies judge {quoted(folder)} --judge-model (the same)"
        say(console, f"Judge only these with: {judge}")
    if summary.n_undecided:
        n = several(summary.n_undecided, "reply", many="replies")
        say(console, f"{n} left undecided by judges: listed apart, and counted as wrong unless left open")


def _say_left_out(summary: Summary, console: Console) -> None:
    if n := summary.n_left_out:
        lines = f"{several(n, 'line')} of the questions left out"
        say(console, (lines, "red"), ": not usable as questions; --strict stops at the first")
    for gap in summary.gaps:
        say(console, ("media missing", "red"), f": {gap}")
