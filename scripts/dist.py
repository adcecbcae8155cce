"""Build the sdist and, out of it, the wheel; install the wheel into clean environments and use it there.

    python scripts/dist.py [--into build/dist] [--extra NAME]... [PYTHON ...]

Without names every Python from 3.11 to 3.14 is tried that is on the PATH or that pyenv has; one that is
not there is skipped, with the reason. The pages of docs/paths are followed in each environment; every --extra
is installed into one more. Packages come from the index that pip is configured for.
"""

import argparse
import email
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from follow import PATHS, extras, follow

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
MOST_BYTES = 3_000_000  # of the wheel
_LONGEST_S = 1800
_QUESTION = {"item_id": "q", "question": "?", "choices": ["a", "b"], "answer": "A"}


def build(into: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from what stands in it and nothing else."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    _run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(into)], cwd=ROOT)
    (sdist,) = into.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as packed:
            packed.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)], cwd=source)
    (wheel,) = into.glob("*.whl")
    return sdist, wheel


def project_urls(wheel: Path) -> dict[str, str]:
    """The addresses that the metadata of a wheel names: what each is called -> where it is."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (one for one in packed.namelist() if one.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(packed.read(name))
    pairs = (str(one).partition(", ") for one in metadata.get_all("Project-URL", []))
    return {label: address for label, _, address in pairs}


def python_of(version: str, *, pyenv: Path | None = None) -> Path | None:
    """An interpreter of a version, from the PATH or out of the folder of pyenv; None where there is none."""
    places = [Path(found)] if (found := shutil.which(f"python{version}")) else []
    if pyenv is not None:
        places += sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True)
    for place in places:
        done = subprocess.run(
            [str(place), "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0 and done.stdout.strip() == version:
            return place
    return None


def check(python: Path, wheel: Path) -> None:
    """Install a wheel into a new environment, away from the sources, and use it as a stranger would."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "VIDENCE"))
        }
        clean |= {"VIDENCE_CACHE": str(folder / "cache"), "VIDENCE_STATE": str(folder / "state")}
        inside = _environment(folder, python, env=clean)
        _install(inside, str(wheel), cwd=folder, env=clean)
        (folder / "questions.jsonl").write_text(json.dumps(_QUESTION) + "\n", encoding="utf-8")
        run = ["run", "table", "--data", "questions.jsonl", "--model", "baseline:constant?letter=A"]
        for words in (
            ["python", "-W", "error", "-c", "import vidence; print(vidence.__version__, vidence.Video)"],
            ["vidence", "--help"],
            ["vidence", "doctor"],
            ["vidence", "help", "item-format"],
            ["vidence", *run, "--out", "run"],
            ["vidence", "report", "run"],
        ):
            _run([str(inside / words[0]), *words[1:]], cwd=folder, env=clean)
        if not (folder / "run" / "report.html").is_file():
            sys.exit("dist: the run of the installed wheel wrote no report.html")
        pages = sorted(PATHS.glob("*.md"), key=lambda page: len(extras(page.read_text(encoding="utf-8"))))
        for page in pages:  # those that need no extra before one is installed
            if named := extras(page.read_text(encoding="utf-8")):
                _install(inside, f"{wheel}[{','.join(named)}]", cwd=folder, env=clean)
            (folder / page.stem).mkdir()
            for _ in follow(page, folder / page.stem, python=str(inside / "python")):
                pass


def check_extra(python: Path, wheel: Path, extra: str) -> None:
    """Install a wheel with an extra into a new environment; what it asks for goes together and loads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inside = _environment(folder, python, env=os.environ)
        _install(inside, f"{wheel}[{extra}]", cwd=folder, env=os.environ)
        _run([str(inside / "python"), "-m", "pip", "check"], cwd=folder)
        _run([str(inside / "vidence"), "doctor"], cwd=folder)


def _environment(folder: Path, python: Path, *, env: Mapping[str, str]) -> Path:
    _run([str(python), "-m", "venv", str(folder / "venv")], cwd=folder, env=env)
    return folder / "venv" / "bin"


def _install(inside: Path, requirement: str, *, cwd: Path, env: Mapping[str, str]) -> None:
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run([str(inside / "python"), *pip, requirement], cwd=cwd, env=env)


def _run(words: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=_LONGEST_S
    )
    if done.returncode:
        sys.exit(f"dist: {' '.join(words)} failed ({done.returncode}):\n{done.stdout}\n{done.stderr}")


def main() -> int:
    """Build, then check on each Python."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "dist")
    parser.add_argument("--extra", action="append", default=[], dest="extras", metavar="NAME")
    parser.add_argument("pythons", nargs="*", type=Path, metavar="PYTHON")
    asked = parser.parse_args()
    sdist, wheel = build(asked.into.resolve())
    for path in (sdist, wheel):
        print(f"dist: {path.name}, {path.stat().st_size / 1e6:.1f} MB")
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"dist: the wheel has {wheel.stat().st_size:,} bytes; expected {MOST_BYTES:,} or fewer")
    if not project_urls(wheel):
        print(
            "dist: no project URLs; before an upload name the public ones: [project.urls] in pyproject.toml"
        )
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    pythons = asked.pythons or [python_of(version, pyenv=pyenv) for version in VERSIONS]
    names = [str(one) for one in asked.pythons] or [f"Python {version}" for version in VERSIONS]
    for name, python in zip(names, pythons, strict=True):
        if python is None:
            print(f"dist: {name}: skipped, neither on the PATH nor in {pyenv}")
            continue
        check(python, wheel)
        print(f"dist: {name}: installed, imported, run, pages followed ({python})", flush=True)
        for extra in asked.extras:
            check_extra(python, wheel, extra)
            print(f"dist: {name}: installed with {extra}", flush=True)
    if not any(pythons):
        sys.exit("dist: no Python to try; name one: python scripts/dist.py /path/to/python3.12")
    return 0


if __name__ == "__main__":
    sys.exit(main())
