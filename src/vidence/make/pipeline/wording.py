"""The words in which writers of cards are asked: ``card_*.txt``, which files of the user can replace."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from vidence.errors import UsageError

APPEARANCE, PATH, SCENE, FALSE = "card_appearance", "card_path", "card_scene", "card_false"
SYSTEM, REPAIR = "card_system", "card_repair"

# What each template can use, and what it means.
VARIABLES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        SYSTEM: {},
        APPEARANCE: {"n_pictures": "how many crops are shown"},
        PATH: {
            "n_moments": "how many moments are shown, each as a crop and as a whole frame",
            "times_s": "a list of their times in seconds",
        },
        SCENE: {"n_pictures": "how many frames are shown"},
        FALSE: {
            "text": "the faithful description, as a JSON string",
            "fewest": "the smallest number of changes",
            "most": "the largest number of changes",
        },
        REPAIR: {
            "earlier": "the reply that cannot be used, as a JSON string",
            "problem": "what is wrong with it",
        },
    }
)
# What must stand in a template once: it is data of others.
_SHOWN: Final = {FALSE: "text", REPAIR: "earlier"}
_PROBES: Final[Mapping[str, object]] = MappingProxyType(
    {"n_pictures": 3, "n_moments": 2, "times_s": [0.5, 1.0], "fewest": 2, "most": 5}
)


@dataclass(frozen=True)
class _File:
    origin: str
    place: str
    text: str


@dataclass(frozen=True, kw_only=True)
class CardWording:
    """The templates for cards, as functions that fill them.

    `digest` is the SHA-256 over the names and texts that are in effect.
    """

    digest: str
    _files: Mapping[str, _File]
    _fillers: Mapping[str, Callable[[Mapping[str, object]], str]]

    @classmethod
    def load(cls, folder: Path | None = None) -> Self:
        """Read the templates and try each once.

        Args:
            folder: files in it replace ours of the same name; others are left alone. None for ours.

        Raises:
            UsageError: there is no such folder, a file cannot be read, a template has an error, or it does
                not show what it must show.
        """
        from vidence.ask.prompting.parsing import parse_template

        if folder is not None and not folder.is_dir():
            raise UsageError(f"{folder} is not a folder; expected one with some of {', '.join(_names())}")
        files = {name: _file(name, folder) for name in VARIABLES}
        digest = hashlib.sha256()
        fillers = {}
        for name, file in sorted(files.items()):
            text = file.text.encode()
            digest.update(f"{name} {len(text)}\n".encode() + text)
            fillers[name] = parse_template(file.text, place=file.place, variables=VARIABLES[name])
            _check(name, file, fillers[name])
        return cls(
            digest=digest.hexdigest(), _files=MappingProxyType(files), _fillers=MappingProxyType(fillers)
        )

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """The words of a template with values filled in.

        Raises:
            UsageError: it cannot be filled with them.
        """
        return self._fillers[name](values)

    def label(self, name: str) -> str:
        """What a stored prompt says of its template: whose it is, its name, the SHA-256 of its text."""
        file = self._files[name]
        return f"{file.origin}/{name}.txt sha256:{hashlib.sha256(file.text.encode()).hexdigest()}"


def _names() -> list[str]:
    return [f"{name}.txt" for name in VARIABLES]


def _file(name: str, folder: Path | None) -> _File:
    own = None if folder is None else folder / f"{name}.txt"
    if own is None or not own.is_file():
        brought = resources.files("vidence.make") / "templates" / f"{name}.txt"
        return _File("vidence", f"{name}.txt", brought.read_text("utf-8"))
    try:
        return _File("own", str(own), own.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{own} cannot be read as UTF-8 text: {error}") from error


def _check(name: str, file: _File, fill: Callable[[Mapping[str, object]], str]) -> None:
    probe = {variable: _PROBES.get(variable, f"<{variable}>") for variable in VARIABLES[name]}
    text = fill(probe)
    shown = _SHOWN.get(name)
    if shown is not None and text.count(f"<{shown}>") != 1:
        raise UsageError(
            f"{file.place} shows {{{{ {shown} }}}} {text.count(f'<{shown}>')} times; it must stand there once"
        )
