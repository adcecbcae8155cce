"""``vidence cluster``: what it prints and writes."""

from click.testing import CliRunner

from vidence.engine.cluster.commands.cluster import cluster


def test_the_script_is_printed_or_written(tmp_path):
    words = ["slurm", "--nodes", "2", "--", "run", "table", "--data", "q.jsonl", "--model", "openai:m"]
    said = CliRunner().invoke(cluster, words, standalone_mode=False)
    assert said.return_value == 0
    assert "#SBATCH --nodes=2\n" in said.stdout
    assert "vidence run table --data q.jsonl --model openai:m" in said.stdout
    path = tmp_path / "job.sh"
    CliRunner().invoke(
        cluster, ["slurm", "--nodes", "2", "--out", str(path), *words[3:]], standalone_mode=False
    )
    assert path.read_text() == said.stdout


def test_the_job_names_its_image():
    words = ["k8s", "--image", "lab/vidence:1", "--claim", "data", "--", "resume", "/data/runs/a"]
    said = CliRunner().invoke(cluster, words, standalone_mode=False)
    assert '"vidence resume /data/runs/a"' in said.stdout
    assert said.stdout.count('image: "lab/vidence:1"') == 2
