"""The command and its help. Each command's code is imported when the command is used."""

import errno
import gc
import io
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, TextIO

import click

from vidence.cli.finding import COMPLETE_VARIABLE, all_commands, by_section, find_command
from vidence.errors import LostClusterError, UnknownNameError, UsageError, VidenceError
from vidence.installation import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

INTERRUPTED = 130
_NOT_ALL = 3  # as `console.flags.NOT_ALL`, which is imported late
# What a stream says that takes no more; an error about a file has its name.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(all_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            return find_command(cmd_name)
        except UnknownNameError:
            if ctx.resilient_parsing:  # half a word is completed
                return None
            if sentence := replacement("commands", cmd_name):
                raise UsageError(f"vidence {cmd_name} has been removed. {sentence}") from None
            raise

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The commands that begin so, without importing any, or the flags of the whole."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=file.help)
            for name, file in all_commands().items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help, without importing any command."""
        widest = max(map(len, all_commands()))
        for title, section in by_section():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), file.help) for name, file in section.items()])


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


def replacement(table: str, name: str) -> str | None:
    """The sentence about a removed name; `table` is commands, options or names of ``removed.toml``.

    >>> replacement("commands", "run") is None
    True
    """
    from vidence.installation import packaged

    return packaged("vidence.cli", "removed.toml", dict[str, dict[str, str]])[table].get(name)


def _with_new_name(error: click.ClickException) -> click.ClickException:
    """A flag or a subcommand that is not known; of a removed one, with what replaces it."""
    if not isinstance(error, click.NoSuchOption | click.exceptions.NoSuchCommand):
        return error
    command = ""
    if error.ctx is not None:
        command = error.ctx.command_path.removeprefix(f"{error.ctx.find_root().info_name} ")
    if isinstance(error, click.exceptions.NoSuchCommand):
        sentence = replacement("commands", f"{command} {error.command_name}")
        words = f"{command} {error.command_name} has been removed. {sentence}"
        return error if sentence is None else click.UsageError(words, ctx=error.ctx)
    sentence = replacement("options", f"{command} {error.option_name}")
    if sentence is None and command in ("run", "diagnose", "judge"):
        from vidence.engine.plan import moved

        sentence = moved(command, error.option_name) or None
    if sentence is not None:
        message = f"{error.option_name} has been removed. {sentence}"
        return click.NoSuchOption(error.option_name, message, ctx=error.ctx)
    return error


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
    gc.set_threshold(10_000, 20, 20)  # thousands of questions stay: looking at them often is a sixth of a run
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
            return _NOT_ALL if isinstance(error, LostClusterError) else 2
        case click.ClickException():
            _with_new_name(error).show()
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
    sentence = replacement("names", f"{error.kind} {error.name}")
    return f"the {error.kind} {error.name!r} has been removed. {sentence}" if sentence else str(error)


def _complain(message: str) -> None:
    """Print what ended the command, if the stream is still open."""
    from vidence.text import visible

    with suppress(OSError):
        click.echo(f"vidence: {visible(message)}", err=True)


def _forget_output() -> None:
    from vidence.console.screen import forget

    forget(sys.stdout)
