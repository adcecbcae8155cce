"""The files with which a cluster is asked for: a batch script for Slurm, a job of KubeRay for Kubernetes."""

import json
import shlex
from collections.abc import Sequence
from typing import Annotated

import click

from vidence.console.flags import flag
from vidence.errors import UsageError
from vidence.records import Record

COMMANDS = ("run", "resume", "diagnose", "panel", "make", "track", "select", "judge", "judges")
"""What works on a cluster."""
_TERM_S = 120  # before the end of a job, so that the run ends what is under way


class ResourceRequest(Record):
    """What is asked for, for each machine and in all."""

    nodes: Annotated[int, flag("Machines.", type=click.IntRange(1))] = 4
    cpus: Annotated[int, flag("Processors of each machine.", type=click.IntRange(1))] = 16
    gpus: Annotated[int, flag("GPUs of each machine.", type=click.IntRange(0))] = 0
    memory_gb: Annotated[int, flag("Memory of each machine in gigabytes.", type=click.IntRange(1))] = 32
    name: Annotated[str, flag("Name of the job.")] = "vidence"

    def __post_init__(self) -> None:
        """Refuse what no scheduler takes for a name."""
        plain = self.name.replace("-", "")
        if not (plain.isascii() and plain.isalnum() and plain.islower() and self.name[0].isalpha()):
            raise UsageError(
                f"the name of the job is {self.name!r}; expected small letters, digits and -, a letter first"
            )


def command_line(words: Sequence[str]) -> str:
    """The command as a shell takes it.

    Raises:
        UsageError: it does not work on a cluster, or says itself where it works.

    >>> command_line(["run", "table", "--model", "replay:said file.jsonl"])
    "vidence run table --model 'replay:said file.jsonl'"
    """
    if not words or words[0] not in COMMANDS:
        said = words[0] if words else "nothing"
        raise UsageError(f"{said} is no command for a cluster; expected one of {', '.join(COMMANDS)}")
    if any(word == "--on" or word.startswith("--on=") for word in words):
        raise UsageError("leave --on out: the job is on its own cluster")
    return shlex.join(["vidence", *words])


def slurm(words: Sequence[str], wanted: ResourceRequest, *, time_limit: str, partition: str = "") -> str:
    """A batch script: the first machine is the head and runs the command, the others work.

    Args:
        words: the command without ``vidence``.
        wanted: the machines.
        time_limit: as ``sbatch --time`` takes it.
        partition: where the site has several; empty: its default.
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
    head = "\n".join(f"#SBATCH {shlex.quote(one)}" for one in asked)
    return f"""#!/bin/bash
{head}
# Written by vidence cluster slurm. Everything below needs the same environment on every machine: load or
# activate it here, and set the keys of hosted models here or before sbatch.
set -euo pipefail

export VIDENCE_ON=ray
hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${{hosts%%$'\n'*}}
cpus={wanted.cpus}

# A token of this job, without which nothing reaches its cluster; ports and a folder that no other job has.
umask 077
export RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(python3 -c 'import secrets; print(secrets.token_hex(32))') && export RAY_AUTH_TOKEN
read -r port clients < <(python3 - <<'END'
import socket
both = [socket.socket() for _ in range(2)]
for one in both:
    one.bind(("", 0))
print(*(one.getsockname()[1] for one in both))
END
)
export RAY_ADDRESS="$head:$port"
folder=$(mktemp -d "${{TMPDIR:-/tmp}}/ray-$SLURM_JOB_ID-XXXX")

ray start --head --block --node-ip-address="$head" --port="$port" --ray-client-server-port="$clients" \
    --temp-dir="$folder" --num-cpus="$cpus" --include-dashboard=false >/dev/null &
ray=$!
end() {{ kill "$ray" 2>/dev/null && wait "$ray" || true; rm -rf "$folder"; }}
trap end EXIT
until ray health-check --address "$RAY_ADDRESS" >/dev/null 2>&1; do
    kill -0 "$ray" 2>/dev/null || {{ echo "Ray did not start on $head; see above" >&2; exit 1; }}
    sleep 1
done
if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
    srun --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --exclude="$head" \
        ray start --address="$RAY_ADDRESS" --num-cpus="$cpus" --block &
fi

# SIGTERM comes {_TERM_S} s before the time is up: the run ends what is under way; the same script goes on.
{command_line(words)} &
run=$!
trap 'kill -TERM "$run"' TERM
wait "$run" || {{ code=$?; wait "$run" 2>/dev/null || true; exit "$code"; }}
"""


def kubernetes(
    words: Sequence[str], wanted: ResourceRequest, *, image: str, claim: str, mount: str, secret: str = ""
) -> str:
    """A RayJob for the operator of KubeRay: a head without work of its own, and as many workers.

    Args:
        words: the command without ``vidence``; its paths are below `mount`.
        wanted: the machines.
        image: a container with vidence and its extra ``ray``.
        claim: the name of a volume claim with questions, videos and runs, which all machines may read.
        mount: where it is mounted.
        secret: the name of a secret with the keys of hosted models; empty: none.
    """
    sizes = {"cpu": str(wanted.cpus), "memory": f"{wanted.memory_gb}Gi"}
    if wanted.gpus:
        sizes["nvidia.com/gpu"] = str(wanted.gpus)
    head_sizes = {"cpu": "2", "memory": "8Gi"}
    job = {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": wanted.name},
        "spec": {
            "entrypoint": command_line(words),
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": {
                "authOptions": {"mode": "token"},
                "headGroupSpec": {
                    "rayStartParams": {"num-cpus": "0"},
                    "template": _pod(
                        "head", head_sizes, image=image, claim=claim, mount=mount, secret=secret
                    ),
                },
                "workerGroupSpecs": [
                    {
                        "groupName": "workers",
                        "replicas": wanted.nodes,
                        "minReplicas": wanted.nodes,
                        "maxReplicas": wanted.nodes,
                        "rayStartParams": {},
                        "template": _pod(
                            "worker", sizes, image=image, claim=claim, mount=mount, secret=secret
                        ),
                    }
                ],
            },
        },
    }
    return (
        "# Written by vidence cluster k8s; kubectl apply -f FILE, where KubeRay 1.5.1 or newer is.\n"
        + _yaml(job)
    )


def _pod(
    name: str, sizes: dict[str, str], *, image: str, claim: str, mount: str, secret: str
) -> dict[str, object]:
    container: dict[str, object] = {
        "name": f"ray-{name}",
        "image": image,
        "env": [{"name": "VIDENCE_ON", "value": "ray"}],
        "resources": {"requests": dict(sizes), "limits": dict(sizes)},
        "volumeMounts": [{"name": "data", "mountPath": mount}],
    }
    if secret:
        container["envFrom"] = [{"secretRef": {"name": secret}}]
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    return {"spec": {"containers": [container], "volumes": [volume]}}


def _yaml(value: object, indent: int = 0) -> str:
    """Mappings, lists and plain values as YAML; texts are quoted as in JSON, which YAML reads."""
    lines = []
    space = " " * indent
    match value:
        case dict():
            for key, inner in value.items():
                if isinstance(inner, dict | list) and inner:
                    lines.append(f"{space}{key}:\n{_yaml(inner, indent + 2)}")
                else:
                    lines.append(f"{space}{key}: {json.dumps(inner)}\n")
        case list():
            for inner in value:
                lines.append(f"{space}- {_yaml(inner, indent + 2).lstrip()}")
        case _:
            lines.append(f"{json.dumps(value)}\n")
    return "".join(lines)
