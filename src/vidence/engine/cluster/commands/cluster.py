"""The file that asks Slurm or Kubernetes for machines and runs a command."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from vidence.console.files import STANDARD_OUTPUT, write_asked
from vidence.console.options import file_option

SECTION = "Ask"

F = TypeVar("F", bound=Callable[..., object])
_WORDS = {"ignore_unknown_options": True}


def _machines(function: F) -> F:
    """Give a command the options that say which machines are wanted."""
    for flag, kind, default, says in (
        ("--name", str, "vidence", "Name of the job."),
        ("--memory-gb", click.IntRange(1), 32, "Memory of each machine in gigabytes."),
        ("--gpus", click.IntRange(0), 0, "GPUs of each machine."),
        ("--cpus", click.IntRange(1), 16, "Processors of each machine."),
        ("--nodes", click.IntRange(1), 4, "Machines."),
    ):
        function = click.option(flag, type=kind, default=default, show_default=True, help=says)(function)
    words = click.argument("words", nargs=-1, required=True, metavar="COMMAND...", type=click.UNPROCESSED)
    return words(file_option("--out", "out", "Write it there, instead of to standard output.")(function))


@click.group()
def cluster() -> None:
    """Write the file that asks a scheduler for machines and runs a command on them; read it first."""


@cluster.command(context_settings=_WORDS)
@_machines
@click.option("--time", "time_limit", default="24:00:00", show_default=True, help="As for sbatch.")
@click.option("--partition", default="", help="As for sbatch (default: that of the site).")
def slurm(  # one flag is one argument
    *, words: tuple[str, ...], out: Path | None, time_limit: str, partition: str, **machines: object
) -> int:
    """A batch script for Slurm: vidence cluster slurm --nodes 8 -- run herbench --model ..."""
    import msgspec

    from vidence.engine.cluster import submitting

    wanted = msgspec.convert(machines, submitting.ResourceRequest)
    return _give(submitting.slurm(words, wanted, time_limit=time_limit, partition=partition), out)


@cluster.command(context_settings=_WORDS)
@_machines
@click.option("--image", required=True, help="Container with vidence and its extra ray.")
@click.option("--claim", required=True, help="Volume claim with questions, videos and runs.")
@click.option("--mount", default="/data", show_default=True, help="Where it is mounted.")
@click.option("--secret", default="", help="Secret with the keys of hosted models.")
def k8s(
    *,
    words: tuple[str, ...],
    out: Path | None,
    image: str,
    claim: str,
    mount: str,
    secret: str,
    **machines: object,
) -> int:
    """A RayJob for KubeRay: vidence cluster k8s --image ... --claim ... -- run herbench --model ..."""
    import msgspec

    from vidence.engine.cluster import submitting

    wanted = msgspec.convert(machines, submitting.ResourceRequest)
    text = submitting.kubernetes(words, wanted, image=image, claim=claim, mount=mount, secret=secret)
    return _give(text, out)


def _give(text: str, out: Path | None) -> int:
    write_asked((out or STANDARD_OUTPUT, lambda file: file.write_text(text, encoding="utf-8")))
    return 0
