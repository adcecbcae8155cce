"""Compare judges with each other and with people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from vidence.console.files import screen, write_asked
from vidence.console.flags import (
    HTML,
    JSON,
    NOT_ALL,
    PROGRESS,
    TRUST,
    argument,
    command,
    file_flag,
    flag,
    given_flags,
)
from vidence.console.screen import Screen, say, several
from vidence.engine.display import watched
from vidence.engine.plan import PATIENCE
from vidence.errors import DataError, UsageError
from vidence.records import Record
from vidence.text import sentence

if TYPE_CHECKING:
    from vidence.engine.judges import JudgedReply
    from vidence.report.results import Run

GROUP = "replies"


class Asking(Record):
    """The judges to ask; not allowed with recorded verdicts."""

    models: Annotated[tuple[str, ...], flag("Judge model. [repeatable]", "--judge-model")] = ()
    judges: Annotated[
        tuple[str, ...],
        flag("Judging protocol for each model (default: the runs' own). [repeatable]", "--judge"),
    ] = ()
    prompts_dir: Annotated[
        Path | None,
        flag("Folder with your own or imported templates for the protocol.", "--judge-prompts-dir"),
    ] = None
    concurrency: Annotated[int, flag("Maximum number of requests in flight.")] = 16
    patience_s: Annotated[float, PATIENCE] = 600.0


class Judges(Record):
    """The runs, and what to compare their judges with."""

    folders: Annotated[tuple[Path, ...], argument()]
    human: Annotated[
        Path | None, flag("Labels of people: a study's labels/human.csv, or a table like it.")
    ] = None
    asking: Asking
    families: Annotated[
        tuple[str, ...],
        flag("Model family of a run or a judge. [repeatable]", "--family", metavar="NAME=FAMILY"),
    ] = ()
    recorded: Annotated[
        tuple[Path, ...], flag("Recorded verdicts, as written by --lines, to reuse. [repeatable]")
    ] = ()
    trust: Annotated[bool, TRUST] = False
    html: Annotated[Path | None, HTML] = None
    json_path: Annotated[Path | None, JSON] = None
    lines_path: Annotated[
        Path | None, file_flag("Write one line per reply and judge, with the verdict.", "--lines")
    ] = None
    progress: Annotated[str, PROGRESS] = "auto"

    def __post_init__(self) -> None:
        """Reject contradictory flags."""
        if bool(self.recorded) == bool(self.asking.models):
            raise UsageError("give either judges with --judge-model, or earlier verdicts with --recorded")


@command()
def judges(given: Judges) -> int:
    """Compare judges of run FOLDERS with each other and with people.

    The run folders are not changed. Verdicts are cached; no reply is judged twice.
    """
    from vidence.engine.specs import whole_spec
    from vidence.report import judge_reliability
    from vidence.report.results import SEED, load_runs
    from vidence.report.terminal import draw_section
    from vidence.tables.terminal import Sheet

    if given.recorded and (unused := given_flags(type(given.asking))):
        raise UsageError(f"{', '.join(unused)}: --recorded asks no judge; leave this out")
    runs = load_runs(dict.fromkeys(given.folders), are_brief=True)
    labels = judge_reliability.labels_of(runs, given.human) if given.human else None
    models = tuple(whole_spec("model", spec) for spec in given.asking.models)
    lines = tuple(line for path in given.recorded for line in _recorded(path))
    specs = models or tuple(line.judge_model for line in lines)
    of = judge_reliability.families_of(runs, specs, given=_families(given.families))
    if models:
        lines = _asked(runs, models, given)
    material = judge_reliability.material(runs, lines, labels)
    examined = judge_reliability.examine(material, families=of, rng=np.random.default_rng(SEED))
    settings: dict[str, object] = {
        "runs": ", ".join(str(run.folder) for run in runs),
        "human": str(given.human) if given.human else None,
        "families": ", ".join(f"{name}: {family}" for name, family in of.items()),
    }
    section, form = judge_reliability.section(examined), judge_reliability.JSON_FORMAT
    facts = (("Judges", settings),)
    write_asked(
        (given.lines_path, lambda file: judge_reliability.write_lines(lines, file)),
        (given.json_path, lambda file: section.write_json(file, form, judges=examined)),
        (given.html, lambda file: section.write_page(file, eyebrow="vidence replies judges", facts=facts)),
    )
    code = 0 if given.recorded else _say_lost(lines)
    console = screen(given.html, given.json_path, given.lines_path)
    draw_section(section, Sheet(console))  # last: the reader may close the pipe
    return code


def _say_lost(lines: "Sequence[JudgedReply]") -> int:
    """Report unusable verdicts, with the first reason; return the exit code."""
    lost = [line for line in lines if line.is_asked and line.value is None]
    if lost:
        why = next((line.verdict.error for line in lost if line.verdict), "")
        say(
            Screen(stderr=True),
            (f"{len(lost):,} of {several(len(lines), 'verdict')} could not be used", "red"),
            f"; they count as disagreement, and as wrong: {sentence(why)}",
        )
    return NOT_ALL if lost else 0


def _families(texts: Sequence[str]) -> dict[str, str]:
    """Parse ``NAME=FAMILY``; a name may be a spec with options."""
    families = {}
    for text in texts:
        name, equals, family = text.rpartition("=")
        if not (equals and name and family):
            raise UsageError(f"--family {text!r} is not NAME=FAMILY")
        families[name] = family
    return families


def _recorded(path: Path) -> "tuple[JudgedReply, ...]":
    """Read the lines that ``--lines`` wrote."""
    import msgspec

    from vidence.ask.files import decoded, lines, read, usable
    from vidence.engine.judges import JudgedReply

    decoder = msgspec.json.Decoder(JudgedReply)
    entries = []
    for line, raw in lines(read(path, what="verdicts")):
        try:
            entries.append(usable(decoded(raw, decoder)))
        except DataError as error:
            raise DataError(f"{path}, line {line}: {error}; expected a line as --lines writes it") from error
    return tuple(entries)


def _asked(runs: "Sequence[Run]", models: tuple[str, ...], given: Judges) -> "tuple[JudgedReply, ...]":
    """Return the verdicts of all judges on all replies."""
    from vidence.engine.environment import environment
    from vidence.engine.judges import JudgesWanted, ask_judges
    from vidence.engine.limits import AskLimits
    from vidence.engine.plan import PLAN_FILE
    from vidence.engine.trust import check, needs_of_parsers, needs_of_spec, remember
    from vidence.report.side_by_side import run_names

    asking, place = given.asking, environment()
    wanted = JudgesWanted(
        models=models,
        judges=asking.judges,
        limits=AskLimits(concurrency=asking.concurrency, patience_s=asking.patience_s),
        prompts_dir=str(asking.prompts_dir.resolve()) if asking.prompts_dir else None,
    )
    for run in runs:
        source = run.folder / PLAN_FILE
        check(needs_of_parsers(run.plan), source=source, environment=place, is_trusted=given.trust)
    remember((need for spec in models for need in needs_of_spec("model", spec)), environment=place)
    by_name = dict(zip(run_names(runs), runs, strict=True))
    protocols = {name: wanted.judges or (run.plan.judge,) for name, run in by_name.items()}
    counts = {name: sum(row.trial.reply is not None for row in run.rows) for name, run in by_name.items()}
    n = sum(counts.values())
    n_asks = sum(counts[name] * len(judges) * len(models) for name, judges in protocols.items())
    console = Screen(stderr=True)
    console.print(f"{several(n, 'reply', many='replies')}: {several(n_asks, 'verdict')} at most")
    if wanted.prompts_dir is None:
        for name, run in by_name.items():
            if (words := run.plan.judge_prompts_dir) is not None:
                say(
                    console,
                    ("note: ", "yellow"),
                    f"{name} was judged with the templates of {words}, but vidence's own are used here; "
                    "--judge-prompts-dir uses those",
                )
    return watched(
        lambda listen: ask_judges(
            {name: run.folder for name, run in by_name.items()},
            wanted,
            judges_of=protocols,
            environment=place,
            on_event=listen,
        ),
        console,
        doing="judging",
        what="the judging",
        kept="every verdict so far is kept",
        progress=given.progress,
    )
