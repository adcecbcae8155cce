"""Quality gates for any dataset: duplicates, leaks, readers without the video, balance."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from vidence.console.files import screen, show, write_said
from vidence.console.flags import JSON, PROGRESS, command, file_flag, flag
from vidence.console.progress import interruptible
from vidence.console.screen import Screen
from vidence.engine.environment import environment
from vidence.engine.question_set import LoadedSet, QuestionSet, items_in
from vidence.errors import UsageError
from vidence.media.whole import own_folder, write_into
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.make.gates.gate_sequence import Gated, GateDesk
    from vidence.make.gates.rules import GateRules, Preset
    from vidence.make.pipeline.material import Dropped
    from vidence.records import Item
    from vidence.tables.table import Table

GROUP = "items"

FOUND = 3  # the command did its work: no question is left, or what is kept gives itself away
_SEED = 0  # of orders of choices


class Panel(Record):
    """The models to ask, and how; None follows the rule."""

    models: Annotated[
        tuple[str, ...],
        flag(
            "Model that answers without the video; several form a panel (default: skip this gate).",
            "--model",
            metavar="SPEC",
        ),
    ] = ()
    runs: Annotated[
        str | None, flag("Answers per model, each with the choices reordered.", metavar="auto|N")
    ] = None
    one_frame: Annotated[
        str | None, flag("Model that sees one frame at a time, the decisive ones first.", metavar="SPEC")
    ] = None
    needs_all: Annotated[
        str | None, flag("Model that must fail if one piece of evidence is withheld.", metavar="SPEC")
    ] = None
    judges: Annotated[
        tuple[str, ...],
        flag(
            "Judge of free answers; several form a panel (default: exact matches pass, others stay open).",
            "--judge-model",
            metavar="SPEC",
        ),
    ] = ()
    judge: Annotated[str | None, flag("Judging protocol; see vidence list judges (default: rule-first).")] = (
        None
    )

    @property
    def specs(self) -> tuple[str, ...]:
        """Every model to ask."""
        others = (self.one_frame, self.needs_all)
        return tuple(dict.fromkeys((*self.models, *(other for other in others if other), *self.judges)))


class Gate(Record):
    """The questions to test, and the gates."""

    questions: QuestionSet
    rule: Annotated[
        Literal["humanpcr", "herbench", "mmvu"] | None,
        flag("Runs and votes of this paper; other flags override it."),
    ] = None
    panel: Panel
    checks: Annotated[
        bool,
        flag(
            "Drop duplicates, ambiguous questions, and questions that reveal their answer.",
            "--checks/--no-checks",
        ),
    ] = True
    against: Annotated[
        tuple[Path, ...], flag("A question file that must have no overlap with ITEMS; repeatable.")
    ] = ()
    hold: Annotated[
        tuple[str, ...],
        flag(
            "Drop this structure if its texts give answers away; repeatable; all: every structure.",
            metavar="STRUCTURE",
        ),
    ] = ()
    allow_leaks: Annotated[
        bool, flag("Exit with 0 even if texts give away a structure that is kept.", "--allow-leaks")
    ] = False
    by: Annotated[Path | None, flag("Filter by the verdicts of an earlier run; ask no model.")] = None
    drop: Annotated[str, flag("Decisions that drop a question: dropped, open, untried.", metavar="LIST")] = (
        "dropped"
    )
    folder: Annotated[Path | None, flag("Folder for the verdicts (default: runs/gate-ITEMS).")] = None
    out: Annotated[Path | None, file_flag("Write the questions that pass.")] = None
    json_path: Annotated[Path | None, JSON] = None
    progress: Annotated[str, PROGRESS] = "auto"

    @property
    def decisions(self) -> frozenset[str]:
        """The decisions that drop a question.

        Raises:
            UsageError: one is not known.
        """
        known = ("dropped", "open", "untried")
        wanted = frozenset(part.strip() for part in self.drop.split(",") if part.strip())
        if not wanted <= set(known):
            raise UsageError(
                f"--drop {self.drop!r}; expected some of {', '.join(known)}, such as dropped,open"
            )
        return wanted

    @property
    def kept_in(self) -> Path:
        """The folder of verdicts."""
        return self.folder or Path("runs") / f"gate-{Path(self.questions.what.removesuffix('.gz')).stem}"


@command()
def gate(given: Gate) -> int:
    """Test the questions of ITEMS with quality gates: a file in the item format, or a benchmark.

    The gates look for duplicates, overlap between splits, questions that a model answers without the video,
    from one frame or with evidence withheld, and answers that texts give away. The folder gets the verdicts
    and the reasons for each drop. Rerun to continue; no question is asked twice. The exit code is 3 if no
    question passes, or if texts give away a structure that is kept.
    """
    from vidence.make.gates.tables import leaking
    from vidence.make.gates.verdicts import filter_items

    drop, result = given.decisions, screen(given.out, given.json_path)
    read = given.questions.load().with_answers(doing="a gate")
    leaks: tuple[str, ...] = ()
    if given.by is not None:
        kept, sentences = _by_verdicts(given.by, read.items, drop=drop)
        tables: tuple[Table, ...] = ()
    else:
        rules = _rules(given)
        own_folder(given.kept_in, ".vidence-gate")
        gated = _gated(read, rules, given)
        kept, dropped = filter_items(read.items, gated.verdicts, drop=drop)
        _write(given.kept_in, gated, dropped=dropped, n_kept=len(kept))
        sentences, tables = _results(read.items, gated, rules, n_kept=len(kept))
        leaks = () if given.allow_leaks else leaking(gated.balance, given.hold)
        sentences = (*sentences, *leaks)
    if given.out is not None:
        items_in(kept, given.out, media_root=read.loaded.media_root)
    write_said(given.json_path, "gate", sentences=sentences, tables=tables)
    show(result, sentences, [table for table in tables if table.rows and table.name != "rules"])
    return FOUND if leaks or not kept else 0


def _rules(given: Gate) -> "GateRules":
    """Return the rules of the gates: the paper's, with the user's changes."""
    import msgspec

    from vidence.make.gates.rules import BlindRules, CheckRules, GateRules

    panel, preset = given.panel, _preset(given)
    runs = _runs(panel.runs, preset)
    if panel.runs and not panel.models:
        raise UsageError(
            "--runs applies to readers without the video, of which --model SPEC names none; add one"
        )
    asked = (*panel.models, panel.one_frame, panel.needs_all)
    if (panel.judges or panel.judge) and not any(asked):
        raise UsageError("a judge marks answers of readers, but no reader is given; add --model SPEC")
    if panel.judge and not panel.judges:
        raise UsageError(f"--judge {panel.judge} needs a model that judges; add --judge-model SPEC")
    rules = GateRules.of(
        preset,
        text_only=panel.models,
        one_frame=panel.one_frame or "",
        needs_all=panel.needs_all or "",
        runs=runs,
    )
    checks = CheckRules() if given.checks else None
    return msgspec.structs.replace(rules, checks=checks, blind=BlindRules(hold=given.hold))


def _preset(given: Gate) -> "Preset":
    from vidence.make.gates.rules import PRESETS, Preset

    return PRESETS[given.rule] if given.rule else Preset()


def _runs(given: str | None, preset: "Preset") -> int | Literal["auto"]:
    if given is None:
        return preset.runs
    if given == "auto":
        return "auto"
    if not given.isdecimal() or int(given) < 1:
        raise UsageError(f"--runs {given!r}; expected auto, or a number from 1 on")
    return int(given)


def _by_verdicts(
    by: Path, items: "tuple[Item, ...]", *, drop: frozenset[str]
) -> "tuple[tuple[Item, ...], tuple[str, ...]]":
    """Filter by the verdicts of an earlier run."""
    from vidence.make.commands.make import account_line
    from vidence.make.gates.verdicts import FILTER, decisions_words, filter_items, read_verdicts
    from vidence.make.pipeline.ledger import balanced

    verdicts = read_verdicts(by)
    kept, dropped = filter_items(items, verdicts, drop=drop)
    account = balanced(
        FILTER,
        unit="questions",
        taken=[item.item_id for item in items],
        kept=[item.item_id for item in kept],
        dropped=dropped,
    )
    return kept, (account_line(account).plain, *decisions_words(verdicts, drop=drop))


def _gated(read: LoadedSet, rules: "GateRules", given: Gate) -> "Gated":
    """Run the gates, with the models open as long as they are asked."""
    from vidence.engine.engine import no_image
    from vidence.engine.jobs import Jobs
    from vidence.engine.limits import AskLimits
    from vidence.make.commands.make import MakeDisplay
    from vidence.make.gates.frames import frame_source
    from vidence.make.gates.gate_sequence import pass_gates
    from vidence.make.pipeline.cache import ArtifactCache
    from vidence.make.pipeline.session import BuildContext

    console, panel = Screen(stderr=True), given.panel
    display = MakeDisplay(console, mode=given.progress)
    context = BuildContext.of(environment(), on_event=display, on_asking=display.asking)
    frames = None
    if panel.one_frame or panel.needs_all:
        frames = frame_source(
            read.items,
            media_root=read.loaded.media_root,
            out=given.kept_in,
            cache=ArtifactCache(folder=given.kept_in / "stages"),
            context=context,
        )
    if not panel.specs:
        return pass_gates(read.items, rules, _desk(read, given))
    models = Jobs(
        {spec: spec for spec in panel.specs},
        memory=context.memory,
        limits=AskLimits(),
        pictures=no_image if frames is None else frames.pictures.get,
        on_event=context.on_asking,
        on=context.parallel.on,
    )
    with display.progress, interruptible(console), models:
        desk = replace(_desk(read, given), models=models, frames=None if frames is None else lambda _: frames)
        return pass_gates(read.items, rules, desk)


def _desk(read: LoadedSet, given: Gate) -> "GateDesk":
    from vidence.make.gates.gate_sequence import GateDesk
    from vidence.make.gates.rules import JudgeRules
    from vidence.make.gates.splits import hashes_of

    others: dict[str, tuple[Item, ...]] = {}
    hashes: dict[str, str] = {}
    for path in given.against:
        theirs = QuestionSet(what=str(path)).load()
        others[path.name] = theirs.items
        hashes |= hashes_of(theirs.items, theirs.loaded.media_root)
    if others or any("split" in item.tags for item in read.items):
        hashes |= hashes_of(read.items, read.loaded.media_root)
    panel = given.panel
    judge = JudgeRules(models=panel.judges, protocol=panel.judge or "rule-first") if panel.judges else None
    to_people = _preset(given).to_people
    return GateDesk(seed=_SEED, others=others, hashes=hashes, judge=judge, to_people=to_people)


def _results(
    items: "Sequence[Item]", gated: "Gated", rules: "GateRules", *, n_kept: int
) -> "tuple[tuple[str, ...], tuple[Table, ...]]":
    """Return the account, the rate expected by guessing, and leaks of the texts."""
    from vidence.make.commands.make import account_line
    from vidence.make.gates.model_gates import TEXT_ONLY
    from vidence.make.gates.tables import balance_tables, balance_warnings, luck_sentence

    sentences = [account_line(stage).plain for stage in gated.ledger.stages]
    if rules.text_only is not None:
        verdicts = [verdict for verdict in gated.verdicts if verdict.gate == TEXT_ONLY]
        sentences.append(luck_sentence(items, verdicts, rules.text_only))
    tables = balance_tables(gated.items, gated.balance, seed=_SEED)
    left = f"{n_kept:,} of {len(items):,} questions are kept."
    return (*sentences, *gated.notes, *balance_warnings(gated.balance), left), tables


def _write(folder: Path, gated: "Gated", *, dropped: "Sequence[Dropped]", n_kept: int) -> None:
    """Write verdicts, the account, and what was dropped."""
    from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE
    from vidence.make.pipeline.output import json_file, json_lines

    contents = {
        "verdicts.jsonl": json_lines(gated.verdicts),
        ACCOUNT_FILE: json_file(gated.ledger.account(["kept"] * n_kept)),
        DROPPED_FILE: json_lines(dropped),
    }
    for path in write_into(folder, contents):
        click.echo(f"wrote {path}", err=True)
