"""Write docs/design/licences.md: the licence of every package that vidence asks for, of all its extras.

    python scripts/licences.py [--check]

Licences are read from the metadata of the packages that are installed here. What is locked but not installed
(other systems, a GPU) is listed by its name. With --check it is only said whether the page names every locked
package.
"""

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "design" / "licences.md"
BESIDE = str(Path(sys.prefix) / "beside")  # where `make test` puts what only the tests of RF-DETR see
LOCKS = ("lock.txt", "torch-cpu.txt", "beside.txt", "apart.txt")
HEAD = """# Licences of dependencies

Made by `python scripts/licences.py` from the metadata of the packages; do not edit by hand. vidence itself is
under Apache-2.0 and its wheel holds only its own code: these packages are installed beside it, each from its
own maker, under the licence that it states. In brackets stands what asks for a package: *core* is always
installed, the others are extras (`vidence doctor` lists them); packages without brackets are asked for by
other packages or only by tests.

Wheels can hold libraries under other licences than their own: that of `av` has FFmpeg with x264 and x265
(GPL-2.0 or later), that of `opencv-python-headless` FFmpeg (LGPL-2.1). Packages of NVIDIA, which torch asks
for on Linux with a GPU, are proprietary.

| licence | packages |
|---|---|
"""
_LOCKED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)", re.MULTILINE)
_EXTRA = re.compile(r"""extra == ['"](?P<name>[^'"]+)['"]""")
_SHORT = 40


def normal(name: str) -> str:
    """A name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """The packages of the lock files, and their versions."""
    found: dict[str, str] = {}
    for lock in LOCKS:
        for one in _LOCKED.finditer((ROOT / "constraints" / lock).read_text(encoding="utf-8")):
            found.setdefault(normal(one["name"]), one["version"])
    return dict(sorted(found.items()))


def needed_by() -> dict[str, list[str]]:
    """For each package that vidence itself asks for, the extras that do; ``core`` is always installed."""
    found: dict[str, list[str]] = {}
    for requirement in importlib.metadata.requires("vidence") or ():
        name = normal(re.match(r"[\w.-]+", requirement)[0])  # type: ignore[index]
        extra = _EXTRA.search(requirement)
        if extra is None or extra["name"] != "all":
            found.setdefault(name, []).append(extra["name"] if extra else "core")
    return found


def licence(metadata: importlib.metadata.PackageMetadata) -> str:
    """The licence that a package states: an SPDX expression, a short word, or its classifiers."""
    stated = metadata.get("License-Expression") or ""
    if stated:
        return stated
    classifiers = [
        one.rpartition(" :: ")[2]
        for one in metadata.get_all("Classifier") or ()
        if one.startswith("License ::")
    ]
    classifiers = [one for one in classifiers if one != "OSI Approved"]
    text = (metadata.get("License") or "").strip().removeprefix("UNKNOWN")
    if text and "\n" not in text and len(text) <= _SHORT:
        return text
    if files := metadata.get_all("License-File"):
        return ", ".join(classifiers) or f"in its file {files[0]}"
    return ", ".join(classifiers) or (text.splitlines() or ["not stated in its metadata"])[0][:_SHORT]


def rows() -> Iterator[str]:
    """One row for each licence, with its packages."""
    asked, found_under = needed_by(), dict[str, list[str]]()
    for name, version in dict(sorted((dict.fromkeys(asked, "not locked") | locked()).items())).items():
        places = importlib.metadata.distributions(name=name, path=[*sys.path, BESIDE])
        found = next(iter(places), None)
        said = licence(found.metadata) if found else "not installed where this page was made"
        by = f" ({', '.join(asked[name])})" if name in asked else ""
        found_under.setdefault(said.replace("|", "/"), []).append(f"{name} {version}{by}")
    for said, packages in sorted(found_under.items(), key=lambda row: row[0].lower()):
        yield f"| {said} | {', '.join(packages)} |"


def main() -> int:
    """Write the page, or see that it names every locked package."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(HEAD + "\n".join(rows()) + "\n", encoding="utf-8")
        print(f"wrote {PAGE.name}")
        return 0
    listed = set(re.findall(r"[|,] ([^\s,|]+ [^\s,|()]+)(?=,| \(| \|)", PAGE.read_text(encoding="utf-8")))
    absent = [one for name, version in locked().items() if (one := f"{name} {version}") not in listed]
    if absent:
        print(f"{PAGE.name} lacks {', '.join(absent)}; run: python scripts/licences.py")
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
