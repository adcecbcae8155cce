"""Job files that request machines: a batch script for Slurm, a KubeRay job for Kubernetes."""

import json
import shlex
from collections.abc import Sequence
from typing import Annotated

import click
import jinja2

from vidence.console.flags import flag
from vidence.errors import UsageError
from vidence.records import Record

COMMANDS = (
    *("run", "resume", "diagnose", "panel", "make"),
    *("videos track", "videos select", "replies judge", "replies judges"),
)
"""Commands that can run on a cluster."""
_TERM_S = 120  # before the end of a job, so that the run ends what is under way


class ResourceRequest(Record):
    """The machines to request, per machine and in total."""

    nodes: Annotated[int, flag("Machines.", type=click.IntRange(1))] = 4
    cpus: Annotated[int, flag("Processors of each machine.", type=click.IntRange(1))] = 16
    gpus: Annotated[int, flag("GPUs of each machine.", type=click.IntRange(0))] = 0
    memory_gb: Annotated[int, flag("Memory of each machine in gigabytes.", type=click.IntRange(1))] = 32
    name: Annotated[str, flag("Name of the job.")] = "vidence"

    def __post_init__(self) -> None:
        """Reject names that schedulers do not accept."""
        plain = self.name.replace("-", "")
        if not (plain.isascii() and plain.isalnum() and plain.islower() and self.name[0].isalpha()):
            raise UsageError(
                f"the name of the job is {self.name!r}; expected small letters, digits and -, a letter first"
            )


def command_line(words: Sequence[str]) -> str:
    """Return the command, quoted for a shell.

    Raises:
        UsageError: it does not work on a cluster, or says itself where it works.

    >>> command_line(["run", "table", "--model", "replay:said file.jsonl"])
    "vidence run table --model 'replay:said file.jsonl'"
    """
    if not {" ".join(words[:1]), " ".join(words[:2])} & set(COMMANDS):
        message = " ".join(words[:1]) or "nothing"
        raise UsageError(f"{message} cannot run on a cluster; expected one of {', '.join(COMMANDS)}")
    if any(word == "--on" or word.startswith("--on=") for word in words):
        raise UsageError("omit --on: the job has its own cluster")
    return shlex.join(["vidence", *words])


def slurm(words: Sequence[str], wanted: ResourceRequest, *, time_limit: str, partition: str = "") -> str:
    """Return a batch script: the first machine is the head and runs the command, the others are workers.

    Args:
        words: the command without ``vidence``.
        wanted: the machines.
        time_limit: in the format of ``sbatch --time``.
        partition: the partition; empty: the site's default.
    """
    asked = [
        f"--job-name={wanted.name}",
        f"--nodes={wanted.nodes}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={wanted.cpus}",
        f"--mem={wanted.memory_gb}G",
        f"--time={time_limit}",
        f"--signal=B:TERM@{_TERM_S}",
        *([f"--gpus-per-node={wanted.gpus}"] if wanted.gpus else []),
        *([f"--partition={partition}"] if partition else []),
    ]
    return _filled("slurm.sh", wanted, asked=asked, command=command_line(words), term_s=_TERM_S)


def kubernetes(
    words: Sequence[str], wanted: ResourceRequest, *, image: str, claim: str, mount: str, secret: str = ""
) -> str:
    """Return a RayJob for the KubeRay operator: a head that does no work, and workers.

    Args:
        words: the command without ``vidence``; its paths are below `mount`.
        wanted: the machines.
        image: a container image with vidence and its extra ``ray``.
        claim: name of a volume claim, readable by all machines, with questions, videos and runs.
        mount: where the claim is mounted.
        secret: name of a secret with the keys of hosted models; empty: none.
    """
    sizes = {"cpu": str(wanted.cpus), "memory": f"{wanted.memory_gb}Gi"}
    if wanted.gpus:
        sizes["nvidia.com/gpu"] = str(wanted.gpus)
    named = {"image": image, "claim": claim, "mount": mount, "secret": secret}
    return _filled("kubernetes.yaml", wanted, sizes=sizes, command=command_line(words), **named)


def _filled(template: str, wanted: ResourceRequest, **values: object) -> str:
    """Fill in a file of ``templates/``; `json` quotes a text for YAML, `quoted` for a shell."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("vidence.engine.cluster"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - a script and a job, no page
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"json": json.dumps, "quoted": shlex.quote}
    return environment.get_template(f"{template}.j2").render(wanted=wanted, **values)
