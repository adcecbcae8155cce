"""Look every locked package up in PyPI's database of known vulnerabilities, with pip-audit.

    python scripts/vulnerabilities.py INSTALL...

INSTALL is the command that installs pip-audit. Where the database cannot be reached, or knows none of the
packages (a mirror of the files alone), nothing was audited: that is said, and is no failure.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

LOCKS = ("lock.txt", "torch-pypi.txt", "pip.txt", "apart.txt", "beside.txt")
FOLDER = Path(__file__).parents[1] / "constraints"


def verdict(answer: str) -> tuple[int, str]:
    """The exit status and what to say, from the JSON that pip-audit writes.

    A package that the database does not know was not looked at; where it knows none, nothing was audited.
    """
    packages = json.loads(answer)["dependencies"]
    unknown = [one["name"] for one in packages if "skip_reason" in one]
    known = [one for one in packages if "skip_reason" not in one]
    if not known:
        return 0, f"skipped: the database that answers knows none of the {len(packages)} packages"
    bad = [
        f"{one['name']} {one['version']}: {found['id']}, "
        f"mended in {', '.join(found['fix_versions']) or 'no version'}"
        for one in known
        for found in one["vulns"]
    ]
    said = f"{len(known)} packages looked up" + (
        f", not known there: {', '.join(unknown)}" if unknown else ""
    )
    return int(bool(bad)), "\n".join([said, *(bad or ["no known vulnerability"])])


def main(install: Sequence[str]) -> int:
    """Install, ask, and say what came back."""
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    if installed.returncode:
        print(f"audit: skipped: pip-audit cannot be installed ({_last(installed.stderr)})")
        return 0
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--format=json"]
    locks = [f"--requirement={FOLDER / name}" for name in LOCKS]
    asked = subprocess.run([*command, *locks], capture_output=True, text=True, check=False)
    if not asked.stdout.strip():
        if "ConnectionError" in asked.stderr or "Timeout" in asked.stderr or "resolve" in asked.stderr:
            print(f"audit: skipped: the database cannot be reached ({_last(asked.stderr)})")
            return 0
        print(f"audit: pip-audit failed: {_last(asked.stderr)}")
        return 1
    status, said = verdict(asked.stdout)
    print(f"audit: {said}")
    return status


def _last(text: str) -> str:
    """The last line of what a command said."""
    return next(reversed(text.strip().splitlines()), "it said nothing")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
