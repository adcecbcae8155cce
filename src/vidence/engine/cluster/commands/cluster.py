"""Write a job file for Slurm or Kubernetes that runs a command on several machines."""

from typing import Annotated, Literal

import click

from vidence.console.flags import argument, command, flag
from vidence.engine.cluster import submitting
from vidence.errors import UsageError
from vidence.records import Record

SECTION = "Ask"


class Cluster(Record):
    """The scheduler, the machines to request, and the command to run on them."""

    scheduler: Annotated[Literal["slurm", "k8s"], argument()]
    words: Annotated[tuple[str, ...], argument("COMMAND...", type=click.UNPROCESSED)]
    machines: submitting.ResourceRequest
    time_limit: Annotated[str, flag("Slurm: as for sbatch.", "--time")] = "24:00:00"
    partition: Annotated[str, flag("Slurm: as for sbatch (default: that of the site).")] = ""
    image: Annotated[str, flag("Kubernetes: container with vidence and its extra ray.")] = ""
    claim: Annotated[str, flag("Kubernetes: volume claim with questions, videos and runs.")] = ""
    mount: Annotated[str, flag("Kubernetes: where the claim is mounted.")] = "/data"
    secret: Annotated[str, flag("Kubernetes: secret with the keys of hosted models.")] = ""


@command(context_settings={"ignore_unknown_options": True})
def cluster(given: Cluster) -> None:
    """Write a job file that requests machines and runs a command on them; review it before use.

    For Slurm a batch script, for Kubernetes a RayJob of KubeRay:

    \b
    vidence cluster slurm --nodes 8 -- run herbench --model openai:NAME > job.sh
    vidence cluster k8s --image lab/vidence:0.1 --claim videos -- run herbench --model openai:NAME > job.yaml
    """  # noqa: D301 - click wants the sign itself
    words, machines = given.words, given.machines
    if given.scheduler == "slurm":
        text = submitting.slurm(words, machines, time_limit=given.time_limit, partition=given.partition)
    elif given.image and given.claim:
        text = submitting.kubernetes(
            words, machines, image=given.image, claim=given.claim, mount=given.mount, secret=given.secret
        )
    else:
        raise UsageError("k8s needs --image, a container with vidence, and --claim, a volume claim")
    click.echo(text, nl=False)
