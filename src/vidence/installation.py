"""Facts about this installation: version, data files, how to add packages, documentation."""

import functools
import importlib.metadata
import importlib.util
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeVar, cast

import msgspec

__version__ = "0.1.0"
_NAME = "vidence"
T = TypeVar("T")
_LONG_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){64}""")
_EXTRA = re.compile(r"""(?P<requirement>[^;]+);.*\bextra == ['"](?P<extra>[^'"]+)['"]""")


@dataclass(frozen=True)
class Extra:
    """What an extra enables, and the modules that show that it is installed.

    `command` returns the command that installs it, if it is not the usual one (`adding`).
    """

    purpose: str
    modules: tuple[str, ...]
    command: Callable[[], str] | None = None


def pip() -> str:
    """Return the pip command of this Python, as called from the shell that started it.

    This is ``pip`` if it belongs to this Python, else Python's module by full path, or the pip of uv, whose
    environments have none.
    """
    python, text = shlex.quote(sys.executable), shutil.which("pip")
    if text is not None and Path(text).parent == Path(sys.executable).parent:
        return "pip"
    is_uv = not is_importable("pip") and shutil.which("uv") is not None
    return f"UV_PYTHON={python} uv pip" if is_uv else f"{python} -m pip"


@functools.cache
def entry_points() -> importlib.metadata.EntryPoints:
    """Return all distributions' entry points, read once per process."""
    groups = importlib.metadata.entry_points()
    return cast("importlib.metadata.EntryPoints", groups)  # in Python 3.11 of another type


def requirements(*extras: str) -> tuple[str, ...]:
    """Return the distinct requirements of some extras; empty if vidence is not installed."""
    try:
        messages = importlib.metadata.requires(_NAME) or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    matches = [match for match in map(_EXTRA.match, messages) if match is not None]
    return tuple(
        dict.fromkeys(
            match["requirement"].strip() for extra in extras for match in matches if match["extra"] == extra
        )
    )


def versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of those of some packages that are installed."""
    installed: dict[str, str] = {}
    for name in names:
        with suppress(importlib.metadata.PackageNotFoundError):
            installed[name] = importlib.metadata.version(name)
    return installed


def is_importable(module: str) -> bool:
    """Whether a module is installed, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is a part of
        return False


def adding(*extras: str) -> str:
    """Return the command that installs the requirements of some extras, wherever vidence came from.

    It names the packages rather than the extra, because an installation from a clone or wheel has no name on
    an index.
    """
    wanted = requirements(*extras)
    if not wanted:  # Python runs the sources, which no pip has installed
        return f"{pip()} install '.[{','.join(extras)}]' in the folder of its pyproject.toml"
    return f"{pip()} install {shlex.join(wanted)}"


def install_trackers() -> str:
    """Return the commands that install the library of trackers and metrics."""
    return (
        f"{adding('build', 'trackers')} && {pip()} install --no-deps 'trackers>=2.6,<2.7' (--no-deps: "
        "that package requires opencv-python, which would replace opencv-python-headless)"
    )


def toml_of(text: str) -> dict[str, object]:
    """Parse a TOML text.

    Raises:
        ValueError: it is none, is nested too deeply, or has a number of thousands of digits or a key of
            more than 64 parts, whose time grows with their square.
    """
    if _LONG_KEY.search(text):
        raise ValueError("a key has more than 64 parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from error


def packaged(room: str, name: str, kind: type[T]) -> T:
    """Read a TOML file packaged with a room, such as ``vidence.engine``."""
    return msgspec.convert(tomllib.loads(packaged_text(room, name)), kind)


def packaged_schema(room: str, name: str) -> dict[str, object]:
    """Read a JSON Schema packaged with a room."""
    return msgspec.json.decode(packaged_text(room, name), type=dict[str, object])


def packaged_text(room: str, name: str) -> str:
    """Read a text file packaged with a room."""
    return (files(room) / name).read_text("utf-8")


def pages() -> dict[str, str]:
    """The texts of the documentation by name, which a wheel has packed and a checkout as files; or none.

    Raises:
        ImportError: they are packed, and this Python has no bz2.
    """
    package = Path(__file__).parent
    if (packed := package / "docs.json.bz2").is_file():
        import bz2

        return msgspec.json.decode(bz2.decompress(packed.read_bytes()), type=dict[str, str])
    folder = package.parents[1] / "docs"
    return {
        p.relative_to(folder).with_suffix("").as_posix(): p.read_text("utf-8") for p in folder.rglob("*.md")
    }
