"""Whether scores depend on who judges: judges against people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from vidence.cli.plan_flags import patience_option
from vidence.console.files import screen, write_asked
from vidence.console.options import (
    NOT_ALL,
    PATH,
    file_option,
    flags_given,
    html_option,
    json_option,
    on_option,
    progress_option,
    trust_option,
)
from vidence.console.screen import Screen, say, several
from vidence.engine.display import watched
from vidence.errors import DataError, UsageError
from vidence.text import sentence

if TYPE_CHECKING:
    from vidence.engine.judges import JudgedReply, JudgesWanted
    from vidence.report.results import Run

SECTION = "Explain"

# What says who is asked and how, by the names of its flags.
_ASKING = {
    "judges": "--judge",
    "prompts_dir": "--judge-prompts",
    "concurrency": "--concurrency",
    "patience_s": "--patience",
    "on": "--on",
}


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH)
@click.option(
    "--human",
    type=PATH,
    help="What people said: item_id, model, repeat, rater, correct, and score, beats.",
)
@click.option("--judge-model", "models", multiple=True, help="A model that judges. [repeatable]")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    help="A protocol, for each model (default: the runs' own). [repeatable]",
)
@click.option(
    "--judge-prompts",
    "prompts_dir",
    type=PATH,
    help="Folder with templates of your own, or imported ones, for the one protocol.",
)
@click.option(
    "--family", "families", multiple=True, metavar="NAME=FAMILY", help="Of a run or judge model. [repeatable]"
)
@click.option("--concurrency", type=int, default=16, show_default=True, help="Requests in flight at most.")
@patience_option("10m")
@click.option(
    "--recorded",
    "recorded",
    multiple=True,
    type=PATH,
    help="Verdicts of --lines; nobody is asked about any. [repeatable]",
)
@trust_option
@html_option
@json_option
@file_option("--lines", "lines_path", "Write one line per reply and judge, with the verdict.")
@on_option
@progress_option
@click.pass_context
def judges(
    context: click.Context,
    *,
    folders: tuple[Path, ...],
    human: Path | None,
    models: tuple[str, ...],
    judges: tuple[str, ...],
    prompts_dir: Path | None,
    families: tuple[str, ...],
    concurrency: int,
    patience_s: float,
    recorded: tuple[Path, ...],
    trust: bool,
    html: Path | None,
    json_path: Path | None,
    lines_path: Path | None,
    on: str | None,
    progress: str,
) -> int:
    """Whether the scores of run FOLDERS depend on who judges: judges against people.

    The run folders stay as they are. A verdict is remembered, so the same command asks nothing twice.
    """
    from vidence.engine.judges import JudgesWanted
    from vidence.engine.limits import AskLimits
    from vidence.engine.specs import whole_spec
    from vidence.report import judge_reliability, judge_tables
    from vidence.report.results import SEED, load_run
    from vidence.report.terminal import draw_section

    _check(context, models=models, recorded=recorded)
    runs = [load_run(folder, are_brief=True) for folder in dict.fromkeys(folders)]
    labels = judge_reliability.labels_of(runs, human) if human else None
    models = tuple(whole_spec("model", one) for one in models)
    lines = tuple(one for path in recorded for one in _recorded(path))
    specs = models or tuple(line.judge_model for line in lines)
    of = judge_reliability.families_of(runs, specs, given=_families(families))
    if not recorded:
        wanted = JudgesWanted(
            models=models, judges=judges,
            limits=AskLimits(concurrency=concurrency, patience_s=patience_s),
            prompts_dir=str(prompts_dir.resolve()) if prompts_dir else None,
        )  # fmt: skip
        lines = _asked(runs, wanted, on=on, progress=progress, is_trusted=trust)
    given = judge_reliability.material(runs, lines, labels)
    found = judge_reliability.examine(given, families=of, rng=np.random.default_rng(SEED))
    settings: dict[str, object] = {
        "runs": ", ".join(map(str, folders)),
        "human": str(human) if human else None,
        "families": ", ".join(f"{name}: {family}" for name, family in of.items()),
    }
    write_asked(
        (lines_path, lambda file: judge_tables.write_lines(lines, file)),
        (json_path, lambda file: judge_tables.write_json(found, file)),
        (html, lambda file: judge_tables.write_page(found, file, settings=settings)),
    )
    code = 0 if recorded else _say_lost(lines)
    draw_section(
        judge_tables.section(found), screen(html, json_path, lines_path)
    )  # last: whoever reads may close the pipe
    return code


def _check(context: click.Context, *, models: Sequence[str], recorded: Sequence[Path]) -> None:
    """Raises: UsageError where flags exclude each other, or would change nothing."""
    if bool(recorded) == bool(models):
        raise UsageError("say who judges with --judge-model, or give verdicts from before with --recorded")
    if recorded and (unused := flags_given(context, _ASKING)):
        raise UsageError(
            f"{', '.join(unused)}: --recorded asks nobody, so this changes nothing; leave it out"
        )


def _say_lost(lines: "Sequence[JudgedReply]") -> int:
    """Say of how many verdicts nothing could be used, and why of the first; the exit code."""
    lost = [line for line in lines if line.is_asked and line.value is None]
    if lost:
        why = next((line.verdict.error for line in lost if line.verdict), "")
        say(
            Screen(stderr=True),
            (f"{len(lost):,} of {several(len(lines), 'verdict')} could not be used", "red"),
            f" and count as not the same, and as wrong: {sentence(why)}",
        )
    return NOT_ALL if lost else 0


def _families(texts: Sequence[str]) -> dict[str, str]:
    """What ``NAME=FAMILY`` says; a name may be a spec with options of its own."""
    found = {}
    for text in texts:
        name, equals, family = text.rpartition("=")
        if not (equals and name and family):
            raise UsageError(f"--family {text!r} is not NAME=FAMILY")
        found[name] = family
    return found


def _recorded(path: Path) -> "tuple[JudgedReply, ...]":
    """The lines of a file that ``--lines`` wrote."""
    import msgspec

    from vidence.ask.files import decoded, lines, read, usable
    from vidence.engine.judges import JudgedReply

    decoder = msgspec.json.Decoder(JudgedReply)
    found = []
    for line, raw in lines(read(path, what="verdicts")):
        try:
            found.append(usable(decoded(raw, decoder)))
        except DataError as error:
            raise DataError(f"{path}, line {line}: {error}; expected a line as --lines writes it") from error
    return tuple(found)


def _asked(
    runs: "Sequence[Run]", wanted: "JudgesWanted", *, on: str | None, progress: str, is_trusted: bool
) -> "tuple[JudgedReply, ...]":
    """The verdicts of all judges on all replies."""
    from vidence.engine.environment import environment
    from vidence.engine.judges import ask_judges
    from vidence.engine.plan import PLAN_FILE
    from vidence.engine.trust import check, needs_of_parsers, needs_of_spec, remember
    from vidence.report.side_by_side import run_names

    place = environment(on=on)
    for run in runs:
        check(
            needs_of_parsers(run.plan),
            source=run.folder / PLAN_FILE,
            environment=place,
            is_trusted=is_trusted,
        )
    remember((need for spec in wanted.models for need in needs_of_spec("model", spec)), environment=place)
    names = run_names(runs)
    protocols = {name: wanted.judges or (run.plan.judge,) for name, run in zip(names, runs, strict=True)}
    n = sum(row.trial.reply is not None for run in runs for row in run.rows)
    n_asks = sum(
        len(protocols[name]) * len(wanted.models)
        for name, run in zip(names, runs, strict=True)
        for row in run.rows
        if row.trial.reply is not None
    )
    console = Screen(stderr=True)
    console.print(f"{several(n, 'reply', many='replies')}: {several(n_asks, 'verdict')} at most")
    if wanted.prompts_dir is None:
        for name, run in zip(names, runs, strict=True):
            if (words := run.plan.judge_prompts_dir) is not None:
                say(
                    console,
                    ("note: ", "yellow"),
                    f"{name} was judged in the words of {words}, and is judged in ours here; "
                    "--judge-prompts takes them",
                )
    return watched(
        lambda listen: ask_judges(
            {name: run.folder for name, run in zip(names, runs, strict=True)},
            wanted,
            judges_of=protocols,
            environment=place,
            on_event=listen,
        ),
        console,
        doing="judging",
        what="the judging",
        kept="every verdict so far is remembered",
        progress=progress,
    )
