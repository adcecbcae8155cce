"""The words in which writers of cards are asked: ``card_*.txt``, which files of the user can replace."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from vidence.ask.prompting.templates import TemplateFile, digest_of, own_files
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
    """A template in effect: its file, ours or the user's own, and what fills it."""

    file: TemplateFile
    fill: Callable[[Mapping[str, object]], str]

    @classmethod
    def load(cls, name: str, *, variables: Mapping[str, str], folder: Path | None = None) -> Self:
        """Read a template and try it once.

        Args:
            name: the name of its file without ``.txt``.
            variables: what it can use, and what that means.
            folder: a file of that name in it replaces the packaged one.

        Raises:
            UsageError: there is no such folder, the file cannot be read, has an error, or does not show what
                it must show.
        """
        from vidence.ask.prompting.parsing import parse_template

        brought = resources.files("vidence.make") / "templates" / f"{name}.txt"
        file = TemplateFile(brought.name, "vidence", name, brought.read_text("utf-8"))
        if folder is not None:
            file = own_files(folder, [name], is_shared=True).get(name, file)
        fill = parse_template(file.text, place=file.place, variables=variables)
        said = fill({variable: _PROBES.get(variable, f"<{variable}>") for variable in variables})
        for shown in _SHOWN & variables.keys():
            if (n_times := said.count(f"<{shown}>")) != 1:
                raise UsageError(
                    f"{file.place} shows {{{{ {shown} }}}} {n_times} times; it must stand there once"
                )
        return cls(file=file, fill=fill)


@dataclass(frozen=True, kw_only=True)
class CardWording:
    """The templates for cards, as functions that fill them.

    `digest` is the SHA-256 over the names and texts that are in effect.
    """

    digest: str
    _templates: Mapping[str, Template]

    @classmethod
    def load(cls, folder: Path | None = None) -> Self:
        """Read the templates and try each once; files in `folder` replace packaged ones of the same name.

        Raises:
            UsageError: as for `Template.load`.
        """
        templates = {n: Template.load(n, variables=known, folder=folder) for n, known in VARIABLES.items()}
        digest = digest_of(template.file for template in templates.values())
        return cls(digest=digest, _templates=MappingProxyType(templates))

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """The words of a template with values filled in.

        Raises:
            UsageError: it cannot be filled with them.
        """
        return self._templates[name].fill(values)

    def label(self, name: str) -> str:
        """What a stored prompt says of its template: whose it is, its name, the SHA-256 of its text."""
        return self._templates[name].file.label
