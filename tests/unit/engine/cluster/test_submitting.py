"""Files for schedulers: what they ask for, and that a shell and Kubernetes read them as they are meant."""

import os
import re
import subprocess

import pytest

from vidence.engine.cluster.submitting import ResourceRequest, command_line, kubernetes, slurm
from vidence.errors import UsageError

WORDS = [
    "run",
    "table",
    "--data",
    "/data/my questions.jsonl",
    "--model",
    "openai:m?base_url=http://s:8/v1&x='1'",
]
TOOLS = {
    "scontrol": 'printf "n1\\nn2\\nn3\\n"',
    "ray": (
        '[ "$1" = health-check ] && { grep -q -e --head "$SAID"; exit; }\n'
        'echo "ray $*" >> "$SAID"; [ "$2" = --head ] || exit 0\n'
        "trap 'echo ray ended >> \"$SAID\"; exit' TERM; while true; do sleep 0.1; done"
    ),
    "srun": 'echo "srun $*" >> "$SAID"',
    "vidence": (
        'echo "vidence [$4] [$6] on $VIDENCE_ON at $RAY_ADDRESS with $RAY_AUTH_MODE ${#RAY_AUTH_TOKEN}" '
        '>> "$SAID"; exit "$CODE"'
    ),
}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing cannot run on a cluster"),
        (["report", "DIR"], "report cannot run"),
        (["run", "--on", "ray"], "omit --on"),
    ],
)
def test_what_does_not_work_on_a_cluster_is_refused(words, said):
    with pytest.raises(UsageError, match=said):
        command_line(words)


@pytest.mark.parametrize("name", ["Run", "a b", "-a", "1a", "a;b"])
def test_names_that_schedulers_refuse_are_refused(name):
    with pytest.raises(UsageError, match="expected small letters, digits and -"):
        ResourceRequest(nodes=1, cpus=1, name=name)


@pytest.mark.parametrize(("nodes", "code"), [(3, 0), (1, 0), (3, 3)])
def test_the_script_starts_the_cluster_runs_the_command_and_ends_with_its_code(tmp_path, nodes, code):
    for name, does in TOOLS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{does}\n")
        (tmp_path / name).chmod(0o755)
    text = slurm(
        WORDS, ResourceRequest(nodes=nodes, cpus=16, gpus=8), time_limit="12:00:00", partition="a100"
    )
    said = tmp_path / "said"
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SAID": str(said), "CODE": str(code)}
    env |= {"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_NUM_NODES": str(nodes), "SLURM_JOB_ID": "7"}
    env["TMPDIR"] = str(tmp_path)
    done = subprocess.run(
        ["bash", "-c", text], env=env, capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (code, "")
    lines = said.read_text().splitlines()
    begun = re.fullmatch(
        r"ray start --head --block --node-ip-address=n1 --port=(\d+) --ray-client-server-port=(\d+)"
        rf" --temp-dir={tmp_path}/ray-7-\w+ --num-cpus=16 --include-dashboard=false",
        next(line for line in lines if line.startswith("ray start")),
    )
    assert begun
    assert begun[1] != begun[2]
    assert f"vidence [{WORDS[3]}] [{WORDS[5]}] on ray at n1:{begun[1]} with token 64" in lines
    others = [line for line in lines if line.startswith("srun")]
    assert len(others) == (nodes > 1)
    joins = f"--nodes=2 --ntasks=2 --exclude=n1 ray start --address=n1:{begun[1]}"
    assert all(joins in line for line in others)
    assert lines[-1] == "ray ended"  # and no other job's, as `ray stop` would
    assert "ray stop" not in text
    assert not list(tmp_path.glob("ray-7-*"))
    assert all(len(line) <= 120 for line in text.splitlines())
    for asked in (f"--nodes={nodes}", "--gpus-per-node=8", "--partition=a100", "--time=12:00:00"):
        assert f"#SBATCH {asked}\n" in text


def test_the_job_of_kubernetes_says_what_was_asked_for():
    yaml = pytest.importorskip("yaml")
    wanted = ResourceRequest(nodes=5, cpus=8, gpus=2, memory_gb=64, name="big-run")
    named = {"image": "lab/vidence:1", "claim": "videos", "mount": "/data", "secret": "keys"}
    text = kubernetes(WORDS, wanted, **named)
    job = yaml.safe_load(text)
    assert (job["kind"], job["metadata"]["name"]) == ("RayJob", "big-run")
    assert job["spec"]["entrypoint"] == command_line(WORDS)
    assert job["spec"]["rayClusterSpec"]["authOptions"] == {"mode": "token"}
    (group,) = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (5, 5, 5)
    pod = group["template"]["spec"]
    assert pod["containers"][0]["resources"]["limits"] == {
        "cpu": "8",
        "memory": "64Gi",
        "nvidia.com/gpu": "2",
    }
    assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "keys"}}]
    assert pod["containers"][0]["env"] == [{"name": "VIDENCE_ON", "value": "ray"}]
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == "videos"
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]
    assert head["rayStartParams"]["num-cpus"] == "0"  # the driver works there, and nobody else
    assert "nvidia.com/gpu" not in str(head)
    bare = yaml.safe_load(kubernetes(WORDS, wanted, image="i", claim="c", mount="/m"))
    assert "envFrom" not in str(bare)
