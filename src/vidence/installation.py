"""What this installation is: its version, its data files, how something is added, where its pages lie."""

import functools
import importlib.metadata
import importlib.util
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable
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
    """What an extra makes possible, and the modules that show that it is there.

    `command` gives the command that adds it, where that is not the usual one (`adding`).
    """

    purpose: str
    modules: tuple[str, ...]
    command: Callable[[], str] | None = None


def pip() -> str:
    """The pip of this Python, as it is called from the shell that started it.

    It is ``pip`` where that is the one beside this Python, else Python's module by its full path.
    """
    text = shutil.which("pip")
    is_ours = text is not None and Path(text).parent == Path(sys.executable).parent
    return "pip" if is_ours else f"{shlex.quote(sys.executable)} -m pip"


@functools.cache
def entry_points() -> importlib.metadata.EntryPoints:
    """Those of all distributions, whose files are read once in a process."""
    groups = importlib.metadata.entry_points()
    return cast("importlib.metadata.EntryPoints", groups)  # in Python 3.11 of another type


def requirements(*extras: str) -> tuple[str, ...]:
    """What some extras of this installation ask for, each once; empty where it is not installed."""
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


def is_importable(module: str) -> bool:
    """Whether a module is installed; it is not imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is a part of
        return False


def adding(*extras: str) -> str:
    """The command that adds what some extras need to this installation, wherever it came from.

    The packages are named, not the extra: an installation from a clone or a wheel has no name at an index.
    """
    wanted = requirements(*extras)
    if not wanted:  # Python runs the sources, which no pip has installed
        return f"{pip()} install '.[{','.join(extras)}]' in the folder of its pyproject.toml"
    return f"{pip()} install {shlex.join(wanted)}"


def install_trackers() -> str:
    """The commands that install the library of trackers and measures."""
    return (
        f"{adding('build', 'trackers')} && {pip()} install --no-deps 'trackers>=2.6,<2.7' (--no-deps: "
        "that package requires opencv-python, which would replace opencv-python-headless)"
    )


def toml_of(text: str) -> dict[str, object]:
    """What a text in TOML holds.

    Raises:
        TOMLDecodeError: it is none, is nested too deeply, or has a number of thousands of digits or a key of
            more than 64 parts, whose time grows with their square.
    """
    if _LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError("a key has more than 64 parts")
    try:
        return tomllib.loads(text)
    except (RecursionError, ValueError) as error:  # the standard library raises them as they are
        raise tomllib.TOMLDecodeError(str(error)) from error


def packaged(room: str, name: str, kind: type[T]) -> T:
    """A TOML file that lies beside the modules of a room, such as ``vidence.engine``."""
    return msgspec.convert(tomllib.loads(packaged_text(room, name)), kind)


def packaged_schema(room: str, name: str) -> dict[str, object]:
    """A JSON Schema that lies beside the modules of a room."""
    return msgspec.json.decode(packaged_text(room, name), type=dict[str, object])


def packaged_text(room: str, name: str) -> str:
    """The text of a file that lies beside the modules of a room."""
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
