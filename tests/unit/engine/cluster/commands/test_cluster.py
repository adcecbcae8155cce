"""``vidence cluster``: what it prints."""

import pytest
from click.testing import CliRunner

from vidence.engine.cluster.commands.cluster import cluster
from vidence.errors import UsageError


def test_the_script_is_printed():
    words = ["slurm", "--nodes", "2", "--", "run", "table", "--data", "q.jsonl", "--model", "openai:m"]
    said = CliRunner().invoke(cluster, words, catch_exceptions=False).stdout
    assert "#SBATCH --nodes=2\n" in said
    assert "vidence run table --data q.jsonl --model openai:m" in said


def test_the_job_names_its_image():
    words = ["k8s", "--image", "lab/vidence:1", "--claim", "data", "--", "resume", "/data/runs/a"]
    said = CliRunner().invoke(cluster, words, catch_exceptions=False).stdout
    assert '"vidence resume /data/runs/a"' in said
    assert said.count('image: "lab/vidence:1"') == 2
    with pytest.raises(UsageError, match="k8s needs --image"):
        CliRunner().invoke(cluster, ["k8s", "--image", "i", "resume", "a"], catch_exceptions=False)
