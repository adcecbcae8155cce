"""Prompt templates for card writers, replaceable by the user's files ``card_*.txt``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import msgspec

from vidence.ask.prompting.templates import Template, digest_of, own_files
from vidence.errors import UsageError
from vidence.installation import packaged
from vidence.records import Prompt, TextPart

APPEARANCE, PATH, SCENE, FALSE = "card_appearance", "card_path", "card_scene", "card_false"
IDENTIFY: Final = "card_identify"
SYSTEM, REPAIR = "card_system", "card_repair"
_MOST_EARLIER: Final = 4_000

# What each template can use, and what it means.
VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
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
    IDENTIFY: {
        "text": "the description, as a JSON string",
        "n_people": "how many people are shown",
        "n_pictures": "how many pictures there are of them together",
    },
    REPAIR: {
        "earlier": "the reply that cannot be used, as a JSON string",
        "problem": "what is wrong with it",
    },
}
# What must stand in a template once, as it is: it is data of others.
_SHOWN: Final = frozenset({"text", "earlier", "notes"})
_PROBES: Final[Mapping[str, object]] = {
    "n_pictures": 3,
    "n_people": 2,
    "n_moments": 2,
    "times_s": [0.5, 1.0],
    "fewest": 2,
    "most": 5,
}


def load_template(name: str, *, variables: Mapping[str, str], folder: Path | None = None) -> Template:
    """The template in effect, ours or the user's, filled once as a check.

    Args:
        name: the name of its file without ``.txt``.
        variables: what it can use, and what that means.
        folder: a file of that name in it replaces the packaged one.

    Raises:
        UsageError: there is no such folder, the file cannot be read, has an error, or does not show what it
            must show.
    """
    files = {} if folder is None else own_files(folder, {name: variables}, is_shared=True)
    if name not in files:
        text = packaged("vidence.make", "templates/prompts.toml", dict[str, str])[name]
        files[name] = Template.parse(
            text, place=f"{name}.txt", variables=variables, origin="vidence", name=name
        )
    message = files[name].fill({variable: _PROBES.get(variable, f"<{variable}>") for variable in variables})
    for result in _SHOWN & variables.keys():
        if (n_times := message.count(f"<{result}>")) != 1:
            raise UsageError(
                f"{files[name].place} shows {{{{ {result} }}}} {n_times} times; it must stand there once"
            )
    return files[name]


@dataclass(frozen=True, kw_only=True)
class CardWording:
    """The templates for cards, as functions that fill them.

    `digest` is the SHA-256 over the names and texts that are in effect.
    """

    digest: str
    _templates: Mapping[str, Template]

    @classmethod
    def load(cls, folder: Path | None = None) -> Self:
        """Read the templates and try each once; files in `folder` replace packaged ones by name.

        Raises:
            UsageError: as for `load_template`.
        """
        templates = {n: load_template(n, variables=known, folder=folder) for n, known in VARIABLES.items()}
        digest = digest_of(templates.values())
        return cls(digest=digest, _templates=MappingProxyType(templates))

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """A template with values filled in.

        Raises:
            UsageError: it cannot be filled with them.
        """
        return self._templates[name].fill(values)

    def repaired(self, prompt: Prompt, message: str, *, problem: str) -> Prompt:
        """The prompt with the unusable reply, as data, and its fault."""
        kept = message if len(message) <= _MOST_EARLIER else f"{message[:_MOST_EARLIER]} ..."
        values = {"earlier": json.dumps(kept, ensure_ascii=False), "problem": problem}
        more = TextPart(text=self.fill(REPAIR, values))
        return msgspec.structs.replace(prompt, parts=(*prompt.parts, more))

    def label(self, name: str) -> str:
        """Return the template label stored with a prompt: origin, name, SHA-256."""
        return self._templates[name].label
