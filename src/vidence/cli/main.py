"""The command and its help. Each command's code is imported when it is used."""

import errno
import gc
import io
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import TextIO

import click

from vidence.cli.finding import COMPLETE_VARIABLE, CommandGroup
from vidence.errors import LostClusterError, VidenceError
from vidence.installation import __version__

INTERRUPTED = 130
_NOT_ALL = 3  # as `console.flags.NOT_ALL`, which is imported late
# What a stream says that takes no more; an error about a file has its name.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


_HELP = """Evaluate video models, explain their scores, and make benchmarks.

\b
vidence demo
vidence run table --data questions.jsonl --model openai:gpt-4.1 --out runs/mine
vidence report runs/mine
"""


app = CommandGroup(help=_HELP)
click.version_option(__version__, prog_name="vidence")(app)


def _stop(number: int, frame: FrameType | None) -> None:
    """Handle SIGTERM, which schedulers send, like Ctrl-C, even if Ctrl-C is ignored."""
    on_interrupt = signal.getsignal(signal.SIGINT)
    if not callable(on_interrupt):
        raise KeyboardInterrupt
    on_interrupt(signal.SIGINT, frame)


def _with_advice(error: click.ClickException) -> click.ClickException:
    """Add how to set it if an unknown flag is a setting of the plan."""
    if isinstance(error, click.NoSuchOption) and error.ctx and error.ctx.info_name in ("run", "judge"):
        from vidence.engine.plan import plan_settings

        name = error.option_name.removeprefix("--").replace("-", "_")
        if field := next(
            (field for field in plan_settings() if name in (field, field.removesuffix("_s"))), ""
        ):
            message = f"No such option: {error.option_name}. Use --set {field}=VALUE."
            return click.NoSuchOption(error.option_name, message, ctx=error.ctx)
    return error


class _Visible(logging.Formatter):
    """Escapes terminal control characters in warnings, which may quote servers."""

    def format(self, record: logging.LogRecord) -> str:
        from vidence.text import visible

        return visible(super().format(record))


def _listen_to_sigterm() -> None:
    """Let SIGTERM stop the command; an ignored SIGINT stays ignored.

    An event loop ends cleanly only under Python's own SIGINT handler, so an ignored SIGINT is blocked
    instead.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _stop)


def _show_all_signs() -> None:
    """Escape characters that the terminal cannot show, and control characters in warnings."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Visible())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; vidence's errors become one message and exit code 2."""
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
    """Report what ended a command that wrote to this output; return its exit code."""
    match error:
        case VidenceError():
            _complain(str(error))
            return _NOT_ALL if isinstance(error, LostClusterError) else 2
        case click.ClickException():
            _with_advice(error).show()
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
            _complain(f"cannot write the output: {error.strerror}; free some space, or redirect it")
            return 2
    raise error


def _complain(message: str) -> None:
    """Print an error, if the stream is still open."""
    from vidence.text import visible

    with suppress(OSError):
        click.echo(f"vidence: {visible(message)}", err=True)


def _forget_output() -> None:
    from vidence.console.screen import forget

    forget(sys.stdout)
