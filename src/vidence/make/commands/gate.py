"""Quality gates for any set: doubles, leaks, readers without the video, balance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from vidence.console.files import screen, show, write_said
from vidence.console.flags import flag, record_flags
from vidence.console.options import (
    PATH,
    data_option,
    file_option,
    json_option,
    level_option,
    named_questions,
    progress_option,
    where_option,
)
from vidence.console.progress import interruptible
from vidence.console.screen import Screen, show_licence
from vidence.engine.environment import cache_root, environment
from vidence.engine.plan import PlanOverrides
from vidence.errors import UsageError
from vidence.make.commands.items import items_in
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.contracts import Loaded
    from vidence.make.gates.item_gates import BalanceRules, GateDesk, GatedItems, ItemGateRules
    from vidence.make.gates.presets import Preset
    from vidence.make.gates.verdicts import ItemVerdict
    from vidence.make.pipeline.material import Dropped
    from vidence.records import Item
    from vidence.tables.table import Table

SECTION = "Make"

NOTHING_LEFT = 3  # the command did its work, and no question is left


class Panel(Record):
    """Who is asked, and how; None follows the rule."""

    models: Annotated[
        tuple[str, ...],
        flag(
            "Who reads the words alone; several are a panel. None: this gate is left out.",
            "--model",
            metavar="SPEC",
        ),
    ] = ()
    runs: Annotated[
        str | None, flag("How often each reader is asked, the choices permuted.", metavar="auto|N")
    ] = None
    one_frame: Annotated[
        str | None, flag("Who is shown single frames, the decisive ones first.", metavar="SPEC")
    ] = None
    needs_all: Annotated[
        str | None, flag("Who must fail where one piece of evidence is withheld.", metavar="SPEC")
    ] = None
    judges: Annotated[
        tuple[str, ...],
        flag(
            "Who judges free answers; several are a panel. None: equal words are right, others stay open.",
            "--judge-model",
            metavar="SPEC",
        ),
    ] = ()
    judge: Annotated[
        str | None, flag("How free answers are judged, see vidence list judges (default: rule-first).")
    ] = None

    @property
    def specs(self) -> tuple[str, ...]:
        """Every model that is asked."""
        others = (self.one_frame, self.needs_all)
        return tuple(dict.fromkeys((*self.models, *(one for one in others if one), *self.judges)))


@click.command()
@click.argument("what", metavar="ITEMS")
@data_option
@click.option("--split", help="The part of the benchmark.")
@click.option("--map", "map", help="How the columns of a table are called; see vidence run --map.")
@click.option("--media", type=PATH, help="The folder in which the media lie.")
@where_option("questions with this tag")
@click.option(
    "--rule",
    type=click.Choice(["humanpcr", "herbench", "mmvu"]),
    help="Runs and votes as in this paper; other flags count in their place.",
)
@record_flags("panel", Panel)
@click.option("--checks/--no-checks", default=True, help="Drop what is doubled, ambiguous, or tells itself.")
@click.option(
    "--near", type=click.FloatRange(0.5, 1), default=0.9, show_default=True, help="What is a double."
)
@click.option(
    "--against",
    type=PATH,
    multiple=True,
    help="A file of questions that this set may share nothing with; repeatable.",
)
@click.option(
    "--hold",
    multiple=True,
    metavar="STRUCTURE",
    help="Drop the questions of this structure where texts give it away; repeatable, all: any.",
)
@click.option(
    "--by",
    type=PATH,
    help="Keep and drop by the verdicts of an earlier call; nothing is asked.",
)
@click.option(
    "--drop",
    default="dropped",
    show_default=True,
    metavar="LIST",
    help="Which decisions drop a question: dropped, open, untried.",
)
@click.option("--folder", type=PATH, help="Folder of the verdicts (default: runs/gate-ITEMS).")
@file_option("--out", "out", "Write the questions that are kept.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of orders of choices.")
@level_option("Level of the intervals.")
@json_option
@progress_option
def gate(
    *,
    what: str,
    data: Path | None,
    split: str | None,
    map: str | None,
    media: Path | None,
    where: dict[str, str],
    rule: Literal["humanpcr", "herbench", "mmvu"] | None,
    panel: Panel,
    checks: bool,
    near: float,
    against: tuple[Path, ...],
    hold: tuple[str, ...],
    by: Path | None,
    drop: str,
    folder: Path | None,
    out: Path | None,
    seed: int,
    level: float,
    json_path: Path | None,
    progress: str,
) -> int:
    """Put the questions of ITEMS through quality gates: a file in the item format, or a benchmark.

    Doubles, leaks across splits, readers without the video, with one frame, with a piece of evidence
    withheld, and what texts give away. Verdicts and the account of what is dropped are written into the
    folder; the same command goes on, and nothing is asked twice. The exit code is 3 when nothing is left.
    """
    from vidence.make.gates.item_gates import BalanceRules

    wanted = _decisions(drop)
    shown = screen(out, json_path)
    overrides: PlanOverrides = {
        "split": split,
        "map": map,
        "media": str(media) if media else None,
        "where": where or None,
    }
    loaded, items = load_items(what, data, overrides=overrides)
    if by is not None:
        return _by_verdicts(by, loaded, items, drop=wanted, out=out, said=(json_path, shown))
    balance = BalanceRules(hold=hold, level=level)
    rules = _rules(rule, panel, near=near if checks else None, balance=balance)
    target = folder or Path("runs") / f"gate-{Path(what).stem}"
    call = _Call(folder=target, seed=seed, level=level, progress=progress, against=against)
    gated = call.gate(loaded, items, rules=rules, panel=panel)
    kept, dropped = _kept(items, gated.verdicts, drop=wanted)
    call.write(gated, dropped=dropped, n_kept=len(kept))
    if out is not None:
        items_in(kept, out, media_root=loaded.media_root)
    return _said(len(kept), *call.say(items, gated, rules, n_kept=len(kept)), to=(json_path, shown))


def _said(
    n_kept: int, sentences: "Sequence[str]", tables: "Sequence[Table]", *, to: tuple[Path | None, Screen]
) -> int:
    """Say what was found; the exit code."""
    write_said(to[0], "gate", sentences=sentences, tables=tables)
    show(to[1], sentences, [one for one in tables if one.rows and one.name != "rules"])
    return 0 if n_kept else NOTHING_LEFT


def load_items(
    what: str, data: Path | None, *, overrides: PlanOverrides
) -> "tuple[Loaded, tuple[Item, ...]]":
    """The questions of a file or a benchmark, with what was left out said.

    Raises:
        UsageError: there is no such file or benchmark, or no question.
    """
    from vidence.engine.prepare import NOBODY, every_item, load_questions, make_plan

    benchmark, source = named_questions(what, data)
    plan = make_plan(benchmark, data=source, model=NOBODY, overrides=overrides)
    show_licence(plan.benchmark, Screen(stderr=True), cache_root=cache_root())
    loaded = load_questions(plan)
    items = every_item(loaded, plan)
    for problem in loaded.problems:
        click.echo(f"left out: {problem}", err=True)
    return loaded, tuple(items)


def _decisions(drop: str) -> frozenset[str]:
    known = ("dropped", "open", "untried")
    wanted = frozenset(part.strip() for part in drop.split(",") if part.strip())
    if not wanted <= set(known):
        raise UsageError(f"--drop {drop!r}; expected some of {', '.join(known)}, such as dropped,open")
    return wanted


def _rules(rule: str | None, panel: Panel, *, near: float | None, balance: "BalanceRules") -> "ItemGateRules":
    """The rules of the gates: those of the paper, with what was given in their place."""
    from vidence.make.gates.item_gates import ItemGateRules
    from vidence.make.gates.presets import PRESETS, Preset
    from vidence.make.gates.rules import CheckRules, JudgeRules, NeedsAllRules, OneFrameRules, TextOnlyRules

    preset = PRESETS[rule] if rule else Preset()
    runs = _runs(panel.runs, preset)
    if panel.runs and not panel.models:
        raise UsageError("--runs says how readers of the words are asked, and nobody is; add --model SPEC")
    asked = (*panel.models, panel.one_frame, panel.needs_all)
    if (panel.judges or panel.judge) and not any(asked):
        raise UsageError("a judge marks what readers answer, and nobody is asked; add --model SPEC")
    if panel.judge and not panel.judges:
        raise UsageError(f"--judge {panel.judge} says how is judged, and not by whom; add --judge-model SPEC")
    judge = JudgeRules(models=panel.judges, protocol=panel.judge or "rule-first") if panel.judges else None
    text_only = None
    if panel.models:
        text_only = TextOnlyRules(
            models=panel.models,
            at_least=preset.at_least or len(panel.models),
            runs=runs,
            forced=preset.forced,
        )
    return ItemGateRules(
        checks=None if near is None else CheckRules(near=near),
        balance=balance,
        judge=judge,
        text_only=text_only,
        one_frame=OneFrameRules(model=panel.one_frame, forced=preset.forced) if panel.one_frame else None,
        needs_all=NeedsAllRules(model=panel.needs_all, forced=preset.forced) if panel.needs_all else None,
        to_people=preset.to_people,
    )


def _runs(given: str | None, preset: "Preset") -> int | Literal["auto"]:
    if given is None:
        return preset.runs
    if given == "auto":
        return "auto"
    if not given.isdecimal() or int(given) < 1:
        raise UsageError(f"--runs {given!r}; expected auto, or a number from 1 on")
    return int(given)


def _kept(
    items: "Sequence[Item]", verdicts: "Sequence[ItemVerdict]", *, drop: frozenset[str]
) -> "tuple[tuple[Item, ...], tuple[Dropped, ...]]":
    from vidence.make.gates.verdicts import filter_items

    return filter_items(items, verdicts, drop=drop)


def _by_verdicts(
    by: Path,
    loaded: "Loaded",
    items: "tuple[Item, ...]",
    *,
    drop: frozenset[str],
    out: Path | None,
    said: tuple[Path | None, Screen],
) -> int:
    """Keep and drop by the verdicts of an earlier call."""
    from vidence.make.commands.make import account_line
    from vidence.make.gates.verdicts import FILTER, decisions_words, read_verdicts
    from vidence.make.pipeline.ledger import balanced

    verdicts = read_verdicts(by)
    kept, dropped = _kept(items, verdicts, drop=drop)
    account = balanced(
        FILTER,
        unit="questions",
        taken=[item.item_id for item in items],
        kept=[item.item_id for item in kept],
        dropped=dropped,
    )
    if out is not None:
        items_in(kept, out, media_root=loaded.media_root)
    line = account_line(account).plain
    return _said(len(kept), (line, *decisions_words(verdicts, drop=drop)), (), to=said)


@dataclass(frozen=True, kw_only=True)
class _Call:
    """One call: the folder that it writes into, and how it asks."""

    folder: Path
    seed: int
    level: float
    progress: str
    against: tuple[Path, ...]

    def gate(
        self, loaded: "Loaded", items: "tuple[Item, ...]", *, rules: "ItemGateRules", panel: Panel
    ) -> "GatedItems":
        """Put the questions through the gates, with the models open as long as they are asked."""
        from vidence.engine.engine import no_image
        from vidence.make.commands.make import MakeDisplay
        from vidence.make.gates.frames import frame_source
        from vidence.make.gates.item_gates import gate_items
        from vidence.make.pipeline.cache import ArtifactCache
        from vidence.make.pipeline.models import AskLimits, Models
        from vidence.make.pipeline.session import BuildContext

        console = Screen(stderr=True)
        display = MakeDisplay(console, mode=self.progress)
        context = BuildContext.of(environment(), on_event=display, on_asking=display.asking)
        frames = None
        if panel.one_frame or panel.needs_all:
            frames = frame_source(
                items,
                media_root=loaded.media_root,
                pictures=self.folder / "pictures",
                cache=ArtifactCache(folder=self.folder / "stages"),
                context=context,
            )
        if not panel.specs:
            return gate_items(items, rules, self._desk(loaded, items))
        models = Models(
            {spec: spec for spec in panel.specs},
            memory=context.memory,
            limits=AskLimits(),
            pictures=no_image if frames is None else frames.pictures.get,
            on_event=context.on_asking,
            on=context.parallel.on,
        )
        with display.progress, interruptible(console), models:
            desk = replace(self._desk(loaded, items), models=models, frames=frames)
            return gate_items(items, rules, desk)

    def _desk(self, loaded: "Loaded", items: "Sequence[Item]") -> "GateDesk":
        from vidence.make.gates.item_gates import GateDesk
        from vidence.make.gates.splits import hashes_of

        others: dict[str, tuple[Item, ...]] = {}
        hashes: dict[str, str] = {}
        for path in self.against:
            theirs, found = load_items(str(path), None, overrides={})
            others[path.name] = found
            hashes |= hashes_of(found, theirs.media_root)
        if others or any("split" in item.tags for item in items):
            hashes |= hashes_of(items, loaded.media_root)
        return GateDesk(seed=self.seed, others=others, hashes=hashes)

    def say(
        self, items: "Sequence[Item]", gated: "GatedItems", rules: "ItemGateRules", *, n_kept: int
    ) -> "tuple[tuple[str, ...], tuple[Table, ...]]":
        """The account, what luck explains, and what texts give away."""
        from vidence.make.commands.make import account_line
        from vidence.make.gates.luck import read_luck
        from vidence.make.gates.model_gates import TEXT_ONLY
        from vidence.make.gates.tables import balance_tables, balance_warnings, luck_sentences, reader_table

        said = [account_line(one).plain for one in gated.ledger.stages]
        tables: list[Table] = []
        if rules.text_only is not None:
            verdicts = [one for one in gated.verdicts if one.gate == TEXT_ONLY]
            luck = read_luck(items, verdicts, rules.text_only, level=self.level)
            said += luck_sentences(luck)
            tables.append(reader_table(luck))
        tables += balance_tables(gated.items, gated.balance, seed=self.seed)
        left = f"{n_kept:,} of {len(items):,} questions are kept."
        return (*said, *gated.words, *balance_warnings(gated.balance), left), tuple(tables)

    def write(self, gated: "GatedItems", *, dropped: "Sequence[Dropped]", n_kept: int) -> None:
        """Write verdicts, the account, and what was dropped."""
        from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE, write_file
        from vidence.make.pipeline.output import json_file, json_lines

        contents = {
            "verdicts.jsonl": json_lines(gated.verdicts),
            ACCOUNT_FILE: json_file(gated.ledger.account(["kept"] * n_kept)),
            DROPPED_FILE: json_lines(dropped),
        }
        for name, content in contents.items():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_file(self.folder / name, content)
            click.echo(f"wrote {self.folder / name}", err=True)
