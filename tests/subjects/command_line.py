"""``vidence`` in a folder, run in this process, in a fork of a fresh one, or as a process of its own."""

import contextlib
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from unittest import mock

import pytest

from vidence.cli.main import main
from vidence.engine.store import RunStore
from vidence.records import Trial

_PRELOADED = (
    "numpy",
    "django.http",
    "django.db.models",
    "django.core.management",
    "vidence.engine.jobs",
    "vidence.make.gates.verdicts",
    "vidence.make.writing.expert_checking",
    "vidence.studio.commands.studio",
)


def heed_interrupts() -> None:
    """In a new process: SIGINT is heard, also where the tests themselves run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


@cache
def _fresh() -> ForkServerContext:
    """A process that has imported much and configured nothing; its children cost no start."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    return context


def _in_fork(folder: Path, env: dict[str, str], words: Sequence[str], streams: Sequence[Path]) -> None:
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["vidence", *words]
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - for as long as the process is
    try:
        main(words)
    finally:
        from django.conf import settings
        from django.db import connections

        if settings.configured:
            connections.close_all()  # multiprocessing ends a process without closing what is open


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()


@dataclass(frozen=True)
class CommandLine:
    """``vidence`` in a folder, with a cache of its own."""

    folder: Path
    env: dict[str, str]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command and go on."""
        return subprocess.Popen(
            [sys.executable, "-m", "vidence", *words],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,
        )

    def apart(self, *words: str, said: str = "", patience_s: float = 120) -> Done:
        """Run a command to its end in a process of its own, such as one in which Django is set up anew."""
        with tempfile.TemporaryDirectory() as folder:
            streams = [Path(folder) / name for name in ("in", "out", "err")]
            streams[0].write_text(said)
            process = _fresh().Process(
                target=_in_fork, args=(self.folder, self.env, [*map(str, words)], streams)
            )
            process.start()
            process.join(patience_s)
            assert process.exitcode is not None, f"{words} did not end in {patience_s} s"
            return Done(process.exitcode, *(path.read_text() for path in streams[1:]))

    def __call__(self, *words: str) -> Done:
        """Run a command to its end as the process would, in this one: its start costs more than most runs."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        on_sigterm = signal.getsignal(signal.SIGTERM)
        try:
            with (
                contextlib.chdir(self.folder),
                mock.patch.dict(os.environ, self.env, clear=True),
                mock.patch.object(sys, "argv", ["vidence", *words]),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as ended,
            ):
                main(words)
        finally:
            signal.signal(signal.SIGTERM, on_sigterm)
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, *(_written(stream) for stream in (out, err)))

    def trials(self, run: str) -> dict[str, Trial]:
        """The trials of a run folder, by item id (the first repeat)."""
        with RunStore(self.folder / run) as store:
            return {t.item_id: t for t in store.trials() if t.repeat == 0}
