"""Write the lock files: every package that development and CI install, its version and its hashes.

    python scripts/lock.py [--upgrade]

What is locked is in GROUPS; `uv` (group ``lock`` of pyproject.toml) resolves for every Python from 3.11 on,
with the index that it is configured for. No index is written down: a hash is the same everywhere.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "constraints"
CPU_BUILDS = FOLDER / "cpu-builds.sha256"
EXTRAS = ("transformers", "select", "build", "trackers", "studio", "studio-postgres", "ray", "remote")
GROUPS = ("test", "check", "docs", "package")
# Torch, and what only its build with CUDA asks for, which is the one on PyPI.
TORCH = re.compile(r"torch==|nvidia-|cuda-|triton==")
# Installed beside the rest, for some tests alone: with a torch for the CPU it loads only by a plugin.
BESIDE = re.compile(r"torchvision==")
_BUILD = re.compile(r"(?P<sha256>[0-9a-f]{64})  (?P<name>\w+)-(?P<version>[0-9.]+)\+cpu-\S+\.whl")
HEADS = {
    "lock.txt": "What development and CI install, but for torch, with the hashes that it must have.",
    "torch-cpu.txt": "Torch for the CPU, where an index or a folder of wheels offers it.",
    "torch-pypi.txt": "Torch as PyPI has it, with CUDA, where no other is offered.",
    "pip.txt": "The installer itself.",
    "apart.txt": "Installed without what they ask for: a second OpenCV, which replaces the first, and stubs.",
    "beside.txt": "Installed into a folder of their own, which only the tests of RF-DETR see.",
}


def blocks(text: str) -> list[str]:
    """The requirements of a file, each with its hashes; comments and options are left out."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith((" ", "\t")) and found:
            found[-1] += f"\n{line.rstrip()}"
        elif line.strip() and not line.startswith(("#", "-")):
            found.append(line.rstrip())
    return found


def cpu_builds(builds: str, *, pypi: Sequence[str]) -> list[str]:
    """The requirements that take builds for the CPU, which PyPI does not have, where an index offers them.

    Args:
        builds: lines of ``sha256sum``, one for each wheel.
        pypi: the requirements that were resolved, whose versions these must have.
    """
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, builds.splitlines())):
        if line.startswith("#"):
            continue
        build = _BUILD.fullmatch(line)
        if build is None:
            sys.exit(f"lock: {CPU_BUILDS.name}: {line!r}; expected what sha256sum says of a wheel +cpu")
        wanted = f"{build['name']}=={build['version']}"
        if not any(re.match(re.escape(wanted) + r"[\s;\\]", f"{one}\n") for one in pypi):
            sys.exit(
                f"lock: {CPU_BUILDS.name} has {wanted}, which is not the version that was resolved: write "
                "the hashes of the new builds there"
            )
        found.setdefault(f"{wanted}+cpu", []).append(f"    --hash=sha256:{build['sha256']}")
    return [" \\\n".join((name, *sorted(hashes))) for name, hashes in found.items()]


def write(name: str, requirements: Sequence[str]) -> None:
    """Write one lock file; a line that names an address is refused."""
    text = "\n".join([f"# {HEADS[name]}", "# Made by `make lock`; do not edit.", *requirements, ""])
    if found := re.search(r"\S*://\S*", text):
        sys.exit(f"lock: {found[0]} in {name}; expected names, versions and hashes only")
    (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"lock: {name}: {len(requirements)} packages")


def resolved(name: str, *inputs: str, upgrade: bool) -> list[str]:
    """What `uv` makes of some inputs; versions that the file has already stay, unless all are renewed."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / name
        if not upgrade and (FOLDER / name).exists():
            shutil.copy(FOLDER / name, output)
        command = ["uv", "pip", "compile", "--universal", "--python-version=3.11", "--generate-hashes"]
        command += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--quiet"]
        done = subprocess.run(
            [*command, "--output-file", str(output), *inputs],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"lock: uv failed:\n{done.stderr.strip()}")
        return blocks(output.read_text(encoding="utf-8"))


def main() -> int:
    """Resolve, part and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that are allowed")
    upgrade = parser.parse_args().upgrade
    if shutil.which("uv") is None:
        sys.exit("lock: uv is not there; `make lock` installs it")
    chosen = [f"--extra={name}" for name in EXTRAS] + [f"--group={name}" for name in GROUPS]
    every = resolved(
        "lock.txt", "pyproject.toml", *chosen, "--constraint=constraints/test.txt", upgrade=upgrade
    )
    torch = [one for one in every if TORCH.match(one)]
    write("lock.txt", [one for one in every if not (TORCH.match(one) or BESIDE.match(one))])
    write("torch-pypi.txt", torch)
    write("torch-cpu.txt", cpu_builds(CPU_BUILDS.read_text(encoding="utf-8"), pypi=torch))
    for group in ("pip", "apart", "beside"):
        name = f"{group}.txt"
        locked = resolved(name, f"--group=pyproject.toml:{group}", "--no-deps", upgrade=upgrade)
        write(name, locked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
