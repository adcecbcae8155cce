"""The words in which writers of cards are asked: ``card_*.txt``, which files of the user can replace."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from vidence.ask.prompting import templates as prompting
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
# What must stand in a template once, as it is: it is data of others.
_SHOWN: Final = frozenset({"text", "earlier", "notes"})
_PROBES: Final[Mapping[str, object]] = MappingProxyType(
    {"n_pictures": 3, "n_moments": 2, "times_s": [0.5, 1.0], "fewest": 2, "most": 5}
)


@dataclass(frozen=True, kw_only=True)
class Template:
    """A template in effect: whose it is (``vidence`` or ``own``), its file, its text, what fills it."""

    origin: str
    file: str
    text: str
    fill: Callable[[Mapping[str, object]], str]

    @classmethod
    def load(cls, name: str, *, variables: Mapping[str, str], folder: Path | None = None) -> Self:
        """Read a template and try it once.

        Args:
            name: the name of its file without ``.txt``.
            variables: what it can use, and what that means.
            folder: a file of that name in it replaces the packaged one.

        Raises:
            UsageError: the file cannot be read, has an error, or does not show what it must show.
        """
        file = f"{name}.txt"
        own = None if folder is None else folder / file
        is_own = own is not None and own.is_file()
        place = str(own) if is_own else file
        source = own if own is not None and is_own else resources.files("vidence.make") / "templates" / file
        try:
            text = source.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{place} cannot be read as UTF-8 text: {error}") from error
        fill = prompting.Template.parse(text, place=place, variables=variables).fill
        said = fill({variable: _PROBES.get(variable, f"<{variable}>") for variable in variables})
        for shown in _SHOWN & variables.keys():
            if (n_times := said.count(f"<{shown}>")) != 1:
                raise UsageError(f"{place} shows {{{{ {shown} }}}} {n_times} times; it must stand there once")
        return cls(origin="own" if is_own else "vidence", file=file, text=text, fill=fill)


@dataclass(frozen=True, kw_only=True)
class CardWording:
    """The templates for cards, as functions that fill them.

    `digest` is the SHA-256 over the names and texts that are in effect.
    """

    digest: str
    _templates: Mapping[str, Template]

    @classmethod
    def load(cls, folder: Path | None = None) -> Self:
        """Read the templates and try each once.

        Args:
            folder: files in it replace the packaged ones of the same name. None for none.

        Raises:
            UsageError: there is no such folder, a file cannot be read, a template has an error, or it does
                not show what it must show.
        """
        if folder is not None and not folder.is_dir():
            names = ", ".join(f"{name}.txt" for name in VARIABLES)
            raise UsageError(f"{folder} is not a folder; expected one with some of {names}")
        templates = {n: Template.load(n, variables=known, folder=folder) for n, known in VARIABLES.items()}
        digest = hashlib.sha256()
        for name, template in sorted(templates.items()):
            text = template.text.encode()
            digest.update(f"{name} {len(text)}\n".encode() + text)
        return cls(digest=digest.hexdigest(), _templates=MappingProxyType(templates))

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """The words of a template with values filled in.

        Raises:
            UsageError: it cannot be filled with them.
        """
        return self._templates[name].fill(values)

    def label(self, name: str) -> str:
        """What a stored prompt says of its template: whose it is, its name, the SHA-256 of its text."""
        one = self._templates[name]
        return f"{one.origin}/{one.file} sha256:{hashlib.sha256(one.text.encode()).hexdigest()}"
