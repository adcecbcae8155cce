"""The command and its help. Each command's code is imported when the command is used."""

import errno
import importlib
import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, TextIO

import click

from vidence import __version__
from vidence.errors import UnknownNameError, UsageError, VidenceError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# What each command is for, and the module of this folder that defines it, in a function of its name.
SECTIONS = {
    "Ask": {
        "demo": ("demo", "The whole system on planted-truth videos, offline, no key; ends with a page."),
        "get": ("get", "Fetch a benchmark by its name: questions, and the videos that they need."),
        "run": ("run", "Put a benchmark to a model."),
        "resume": ("run", "Take a run up where it stopped; nothing is asked twice."),
        "panel": ("panel", "Models under conditions on benchmarks: one table, one figure, one page."),
        "cluster": ("cluster", "The file that asks Slurm or Kubernetes for machines and runs a command."),
        "runs": ("runs", "The runs in a folder: how far each is, its score, what it cost."),
        "judge": ("judge", "Judge the replies that a run has stored; nobody else is asked again."),
        "migrate": ("migrate", "Rewrite run folders of an earlier version."),
        "import": ("importing", "Results of lmms-eval, VLMEvalKit, inspect_ai or others as a run folder."),
        "convert": ("convert", "Questions in another layout, written in the item format."),
    },
    "Explain": {
        "report": ("report", "Tables, a page, CSV or JSON from run folders; --parser reads replies again."),
        "compare": ("compare", "Two runs or more on the same questions: is the difference real?"),
        "contrast": ("contrast", "Inside a run: hard questions less easy ones, or the trend over a tag."),
        "correlate": ("correlate", "Two scores over models, tasks or rows of a table: do they go together?"),
        "diagnose": ("diagnose", "Why the score is what it is: MRFS, frame shares, modality, budgets, ..."),
        "errors": ("errors", "Which kinds of errors wrong replies make: draw, label, import, report."),
        "judges": ("judges", "Whether scores depend on who judges: judges against people and rules."),
        "power": ("power", "Before a run: which difference between two models it would find."),
        "audit": ("audit", "The report card of a set of questions: what they give away, what they demand."),
        "audit-table": ("audit_table", "Whether the numbers of a printed table can be true."),
        "describe": ("describe", "Statistics of a set: lengths, videos, evidence, letters, words, tags."),
    },
    "Make": {
        "make": ("make", "Make questions from videos, logs, motion capture, annotations, scenes or drafts."),
        "select": ("select", "Which videos questions are made about: measured, gated, kept with reasons."),
        "licence": ("licence", "Under which licence videos may be used: asked of YouTube, or of two people."),
        "track": ("track", "Find the people in a video and follow them: tracks, a contact sheet, measures."),
        "scenes": (
            "scenes",
            "Write the scenes of a table, a log of events, tracks, or what a model proposes.",
        ),
        "prove": ("prove", "Whether composed questions have one answer and need each of their conditions."),
        "review": ("review", "Who looked at which question, and what follows: draw, read, state, rates."),
        "gate": ("gate", "Quality gates for any set: doubles, leaks, readers without the video, balance."),
        "split": ("split", "Cut a set into splits that share no source; what two splits have in common."),
        "release": (
            "release",
            "Give a set away: formats, datasheet, checksums; answers of a split stay hidden.",
        ),
        "mocap": ("mocap", "What a file of motion capture holds, what was mended, what is doubtful."),
        "pointlight": ("pointlight", "Show motion capture, or a built-in figure, as points of light."),
        "view": ("view", "Look at runs, sets and questions in the browser; nothing is changed."),
        "studio": ("studio", "Make and review questions in the browser: alone, or as a team."),
        "ablate": ("ablate", "The same point-light motions shown in many ways: what each costs a model."),
        "threshold": (
            "threshold",
            "The level of noise, contrast or frames at which point lights are still seen.",
        ),
    },
    "Look up": {
        "list": ("listing", "What there is: benchmarks, models, selectors, parsers, prompts."),
        "prompts": ("prompts", "Sets of prompts; the authors' own from your copy of their release."),
        "probe": ("probe", "What a video file claims, and what it really holds."),
        "schema": ("listing", "The JSON Schema of the item format."),
        "doctor": (
            "doctor",
            "What is installed, what is wrong; with --model whether a model sees and answers.",
        ),
        "help": ("pages", "The pages of the documentation."),
        "completion": ("completion", "The script that completes names in your shell."),
    },
}
COMMANDS = {name: told for section in SECTIONS.values() for name, told in section.items()}
# Functions that cannot have the name of their command.
_FUNCTIONS = {"list": "list_names", "import": "import_results", "help": "show_page"}
COMPLETE_VARIABLE = "_VIDENCE_COMPLETE"
"""Set by the script of a shell that wants to know what a word can be."""
INTERRUPTED = 130
# What a stream says that takes no more; an error about a file has its name.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and ctx.resilient_parsing:  # half a word is completed
            return None
        if cmd_name not in COMMANDS:
            _refuse_removed("commands", cmd_name, f"vidence {cmd_name}")
            raise UnknownNameError("command", cmd_name, COMMANDS)
        module = importlib.import_module(f"vidence.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name.replace("-", "_")))
        if os.environ.get(COMPLETE_VARIABLE):
            from vidence.cli.completion import with_names

            return with_names(command, cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The commands that begin so, without importing any, or the flags of the whole."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=help_text)
            for name, (_, help_text) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help, without importing any command."""
        widest = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, (_, text) in section.items()])


_HELP = """Ask video models questions, and say how sure the score is.

\b
vidence demo
vidence run table --data questions.jsonl --model openai:gpt-4.1
vidence report runs/...
"""


app = _Commands("vidence", help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
click.version_option(__version__, prog_name="vidence")(app)


def _stop(number: int, frame: FrameType | None) -> None:
    """Schedulers end a job with SIGTERM: stop as with Ctrl-C, also where Ctrl-C is ignored."""
    on_interrupt = signal.getsignal(signal.SIGINT)
    if not callable(on_interrupt):
        raise KeyboardInterrupt
    on_interrupt(signal.SIGINT, frame)


def _refuse_removed(table: str, name: str, shown: str) -> None:
    """Raise for a name that has been removed, with what replaces it."""
    from vidence.cli.removed import replacement

    sentence = replacement(table, name)
    if sentence is not None:
        raise UsageError(f"{shown} has been removed. {sentence}")


def _with_new_name(error: click.NoSuchOption) -> click.NoSuchOption:
    """A flag that is not known; where an earlier version had it, with what replaces it."""
    from vidence.cli.removed import replacement
    from vidence.engine.plan import RENAMED

    command = error.ctx.command_path.partition(" ")[2] if error.ctx is not None else ""
    sentence = replacement("options", f"{command} {error.option_name}")
    if sentence is not None:
        message = f"{error.option_name} has been removed. {sentence}"
        return click.NoSuchOption(error.option_name, message, ctx=error.ctx)
    old = error.option_name.removeprefix("--").replace("-", "_")
    if old not in RENAMED:
        return error
    new = "--" + RENAMED[old].replace("_", "-")
    message = f"No such option: {error.option_name}. It is called {new} now."
    return click.NoSuchOption(error.option_name, message, ctx=error.ctx)


class _Visible(logging.Formatter):
    """Warnings repeat what servers say: what a terminal would obey is shown instead."""

    def format(self, record: logging.LogRecord) -> str:
        from vidence.text import visible

        return visible(super().format(record))


def _listen_to_sigterm() -> None:
    """Let SIGTERM stop the command; SIGINT stays ignored where it was.

    An event loop ends cleanly only under Python's own handler of SIGINT, so that an ignored one is blocked.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _stop)


def _show_all_signs() -> None:
    """A terminal that cannot show a sign gets its code; nothing in a warning is obeyed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Visible())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors of vidence become one message and exit code 2."""
    _show_all_signs()
    _listen_to_sigterm()
    output = sys.stdout
    try:
        code = app.main(
            args=list(arguments) if arguments is not None else None,
            complete_var=COMPLETE_VARIABLE,
            standalone_mode=False,
        )
        sys.stdout.flush()
    except (VidenceError, click.ClickException, click.Abort, KeyboardInterrupt, OSError, SystemExit) as error:
        sys.exit(_code_after(error, output))
    sys.exit(code if isinstance(code, int) else 0)


def _code_after(error: BaseException, output: TextIO) -> int | str | None:
    """Say what ended a command that wrote to this output; the exit code of it."""
    match error:
        case UnknownNameError():
            _complain(_with_replacement(error))
            return 2
        case VidenceError():
            _complain(str(error))
            return 2
        case click.ClickException():
            shown = _with_new_name(error) if isinstance(error, click.NoSuchOption) else error
            shown.show()
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTED
        case BrokenPipeError():  # whoever reads has seen enough
            _forget_output()
            return 0
        case SystemExit() if sys.stdout is not output:  # the same, seen by click
            _forget_output()
            return 0
        case SystemExit():
            return error.code
        case OSError(errno=number, filename=None) if number in _NO_ROOM:
            _forget_output()
            _complain(f"the output cannot be written: {error.strerror}; make room, or send it somewhere else")
            return 2
    raise error


def _with_replacement(error: UnknownNameError) -> str:
    """The message; of a name that has been removed, what replaces it."""
    from vidence.cli.removed import replacement

    sentence = replacement("names", f"{error.kind} {error.name}")
    return f"the {error.kind} {error.name!r} has been removed. {sentence}" if sentence else str(error)


def _complain(message: str) -> None:
    """Say what ended the command, if anybody listens."""
    from vidence.text import visible

    with suppress(OSError):
        click.echo(f"vidence: {visible(message)}", err=True)


def _forget_output() -> None:
    from vidence.cli.console import forget

    forget(sys.stdout)
