"""Judges' prompts: one set of templates per judge, each of which a user's text file can replace.

A set is a file ``templates/<set>.toml`` of Jinja templates. ``question`` shows the text under judgement
(`reply`, a block made by `fence`), ``repair`` follows an invalid verdict, and the others, such as ``system``,
are system messages. ``sign`` next to the sets asks for the id of the block if a user's templates do not.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Self

from vidence.ask.prompting.origin import read_origin
from vidence.ask.prompting.released import Wording, released, wording_of
from vidence.ask.prompting.templates import Template, brought, choices_of, digest_of, own_files
from vidence.errors import UsageError
from vidence.installation import packaged
from vidence.records import Item

QUESTION, REPAIR, SIGN, SYSTEM = "question", "repair", "sign", "system"
_ID_ASKED = re.compile("[\"'\u201c`]id[\"'\u201d`]")

# What every template can use, and what it means.
VARIABLES: Mapping[str, str] = {
    "question": "the question",
    "choices": "a list with .letter and .text for each choice; empty for open questions",
    "answer": "the right answer: a letter for choices",
    "rationale": "the reasoning behind the right answer; empty where it is not given to the judge",
    "block_id": "the id on the marker lines of the block",
}
# What one template shows besides; it must stand there once, as it is.
SHOWN: Mapping[str, Mapping[str, str]] = {
    QUESTION: {"reply": "the text under judgement, as a block"},
    REPAIR: {"earlier": "what the judge said, as a block"},
}
REPAIR_VARIABLES: Mapping[str, str] = {"problem": "why no verdict could be read"}
_PROBE = Item(item_id="probe", question="Which?", choices=("this", "that"), answer="A", rationale="So.")


def item_values(item: Item, *, block_id: str) -> dict[str, object]:
    """The values of `VARIABLES` for one item."""
    return {
        "question": item.question,
        "choices": choices_of(item),
        "answer": item.answer,
        "rationale": item.rationale,
        "block_id": block_id,
    }


def known_of(set_name: str) -> dict[str, dict[str, str]]:
    """Return the templates of a packaged set, with each one's variables."""
    return _known(_texts(set_name), {})


def _known(names: Iterable[str], more: Mapping[str, str]) -> dict[str, dict[str, str]]:
    known = {SIGN: dict(VARIABLES)}
    for name in names:
        known[name] = {**VARIABLES, **more, **SHOWN.get(name, {})}
        if name == REPAIR:
            known[name] |= REPAIR_VARIABLES
    return known


def _check_judge(folder: Path, set_name: str) -> None:
    """Reject what was imported for another judge, or for asking: its verdicts have other keys."""
    about = read_origin(folder)
    released_set = released().get(about.name) if about is not None else None
    if released_set is not None and released_set.judge != set_name:
        meant = f"the judge {released_set.judge!r}" if released_set.judge else "asking (--prompts-dir)"
        raise UsageError(
            f"{folder} holds {released_set.name}, which is for {meant}, not for the judge {set_name!r}"
        )


def _texts(set_name: str, folder: Traversable | None = None) -> dict[str, str]:
    """Return a set's templates by name: a packaged one, or another package's text files."""
    if folder is None:
        return packaged("vidence.ask.judging", f"templates/{set_name}.toml", dict[str, str])
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; expected the templates of the judge {set_name!r}")
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda file: file.name
    )
    texts = {file.name.removesuffix(".txt"): file.read_text("utf-8") for file in files}
    if absent := [f"{name}.txt" for name in (QUESTION, REPAIR) if name not in texts]:
        raise UsageError(
            f"the templates of the judge {set_name!r} in {folder} lack {' and '.join(absent)}; expected "
            f"{QUESTION}.txt, {REPAIR}.txt and the system messages that the judge names"
        )
    return texts


@dataclass(frozen=True, kw_only=True)
class JudgeTemplates:
    """The templates that one judge uses.

    `digest` is the SHA-256 over the names and texts that are in effect.
    """

    digest: str
    _files: Mapping[str, Template]

    @classmethod
    def load(
        cls,
        set_name: str,
        *,
        override: Path | None,
        more: Mapping[str, str] = MappingProxyType({}),
        folder: Traversable | None = None,
    ) -> Self:
        """Read a set and try every template once.

        Args:
            set_name: a file of ``judging/templates``, or the name of the set in `folder`.
            override: a folder whose files replace those of the set.
            more: variables that these templates can use beside `VARIABLES`, with what they mean.
            folder: the set of a judge of another package, such as
                ``importlib.resources.files("my_package") / "templates"``; its files end in ``.txt``.

        Raises:
            UsageError: the folder is not one of templates, or a template has an error, cannot be
                filled, or does not show the block it must show exactly once.
        """
        texts = _texts(set_name, folder)
        known = _known(texts, more)
        files = brought(_texts(SIGN), "vidence", known) | brought(texts, set_name, known)
        if override is not None:
            _check_judge(override, set_name)
            files |= own_files(override, known, what=f"prompts for the judge {set_name!r}")
        result = cls(digest=digest_of(files.values()), _files=MappingProxyType(files))
        probe = {**item_values(_PROBE, block_id="0"), **dict.fromkeys(more, "x"), "problem": "x"}
        if "block_id" not in files[SIGN].uses:
            raise UsageError(
                f"{files[SIGN].place} does not use {{{{ block_id }}}}, which the verdict must repeat"
            )
        for name in files:
            result.fill(name, {**probe, **{text: f"<{text} 0>" for text in SHOWN.get(name, {})}})
        return result

    def label(self, name: str) -> str:
        """What a stored prompt says of its template: set, file and the SHA-256 of the file's text."""
        return self._files[name].label

    def asks_for_id(self, *names: str) -> bool:
        """Whether one of these templates names the key ``id`` of the verdict."""
        return any(_ID_ASKED.search(self._files[name].text) for name in names)

    @property
    def wording(self) -> Wording:
        """Whose words the system messages are: the authors' where all of them are."""
        wordings = {wording_of(file.label) for name, file in self._files.items() if name.startswith(SYSTEM)}
        return "authors" if wordings == {"authors"} else "unchecked" if "unchecked" in wordings else "own"

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """The words of a template with values filled in.

        Raises:
            UsageError: it cannot be filled, or what it must show is not there exactly once.
        """
        text = self._files[name].fill(values)
        for result in SHOWN.get(name, {}):
            n_shown = text.count(str(values[result]))
            if n_shown != 1:
                raise UsageError(
                    f"{self._files[name].place} shows {{{{ {result} }}}} {n_shown} times; it must stand "
                    "there once, on lines of its own and without a filter"
                )
        return text
