"""Adds to a wheel a bill of materials (``.dist-info/sboms/vidence.cdx.json``, PEP 770) and the documentation.

The wheel holds nobody else's code. What it asks for is listed as in its metadata, each with the version that
the lock file names, which is the one that the tests passed with. The format is CycloneDX 1.6.
"""

import bz2
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SBOM_FILE = "vidence.cdx.json"
DOCS_FILE = "docs.json.bz2"
DESIGN_PAGES = ("numbers", "trust")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LOCKED = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;\\]+)", re.MULTILINE)


def locked_versions(text: str) -> dict[str, list[str]]:
    """The versions of each package in a lock file; a package has several where Pythons differ."""
    found: dict[str, list[str]] = {}
    for one in _LOCKED.finditer(text):
        found.setdefault(one["name"], []).append(one["version"])
    return found


def bill(
    *,
    name: str,
    version: str,
    licence: str,
    needed: Sequence[str],
    extras: Mapping[str, Sequence[str]],
    locked: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """The bill of materials of a distribution.

    Args:
        name: the distribution.
        version: its version.
        licence: its SPDX expression.
        needed: the requirements that are always installed.
        extras: those of each extra.
        locked: the versions that were tested, by normalized name.
    """
    me = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [{"license": {"id": licence}}],
    }
    parts = list(_components(needed, extras, locked, own=name))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"lifecycles": [{"phase": "build"}], "component": me},
        "components": parts,
        "dependencies": [
            {"ref": me["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]},
            *({"ref": part["bom-ref"]} for part in parts),
        ],
    }


def _components(
    needed: Sequence[str],
    extras: Mapping[str, Sequence[str]],
    locked: Mapping[str, Sequence[str]],
    *,
    own: str,
) -> Iterator[dict[str, Any]]:
    """One component for each package that is asked for, in the order of their names."""
    asked: dict[str, dict[str, list[str]]] = {}
    for extra, requirements in {"": needed, **extras}.items():
        for requirement in requirements:
            found = _NAME.match(requirement)
            if found is None:
                raise ValueError(f"{requirement!r} is no requirement that begins with a name")
            package = re.sub(r"[-_.]+", "-", found[0]).lower()
            if package != own:  # an extra that is made of other extras
                asked.setdefault(package, {}).setdefault(requirement[found.end() :].strip(), []).append(extra)
    for package, ranges in sorted(asked.items()):
        is_core = any("" in named for named in ranges.values())
        said = [("vidence:range", text) for text in sorted(ranges)]
        said += [("vidence:extra", extra) for extra in sorted({e for es in ranges.values() for e in es if e})]
        said += [("vidence:tested", version) for version in locked.get(package, ())]
        yield {
            "type": "library",
            "bom-ref": f"pkg:pypi/{package}",
            "name": package,
            "purl": f"pkg:pypi/{package}",
            "scope": "required" if is_core else "optional",
            "properties": [{"name": name, "value": value} for name, value in said if value],
        }


class SbomHook(BuildHookInterface):  # type: ignore[type-arg]
    """Writes the bill, and names it to the builder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the bill before the wheel is made; an editable install needs none."""
        if version == "editable":
            return
        core = self.metadata.core
        lock = Path(self.root, "constraints", "lock.txt").read_text(encoding="utf-8")
        whole = bill(
            name=core.name,
            version=self.metadata.version,
            licence=core.license_expression,
            needed=core.dependencies,
            extras=core.optional_dependencies,
            locked=locked_versions(lock),
        )
        path = Path(self.root, "build", SBOM_FILE)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(path))
        # The pages that `vidence help` shows, but those for developers; packed together they take two thirds
        # of what they would as files of a wheel.
        packed = path.with_name(DOCS_FILE)
        packed.write_bytes(bz2.compress(json.dumps(pages(Path(self.root, "docs"))).encode()))
        build_data["force_include"][str(packed)] = f"{core.name}/{DOCS_FILE}"


def pages(folder: Path) -> dict[str, str]:
    """The text of each page of the documentation that a wheel brings, by its name."""
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.md"))
        if path.parent.name != "design" or path.stem in DESIGN_PAGES
    }


def get_build_hook() -> type[BuildHookInterface]:  # type: ignore[type-arg]
    """What hatchling looks for."""
    return SbomHook
