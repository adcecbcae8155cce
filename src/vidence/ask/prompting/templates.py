"""The sentences of the prompts: sets of templates, each of which a user can replace by a text file.

A set is a file ``templates/<set>.toml`` with the texts ``<kind>-<style>`` (kind ``choice`` or ``open``,
style ``direct`` or ``cot``), ``frame`` (the words before a frame when frame times are on) and perhaps
``system``; a user's set is a folder with such texts in files ``<name>.txt``. What selectors and diagnostics
ask besides is the same in all sets, in ``templates/_in_every_set.toml``; see `ASIDES`. They are Jinja
templates; see `VARIABLES` for what they can use. What a question says is filled in as it is: braces in it
mean nothing.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Self

from vidence.ask.prompting.origin import ORIGIN_FILE, read_origin
from vidence.errors import UnknownNameError, UsageError, cause
from vidence.installation import packaged
from vidence.media.bounded import text_bounded
from vidence.records import Item

QUESTION_NAMES = ("choice-cot", "choice-direct", "open-cot", "open-direct")

# What the words around a question can use, and what they mean.
VARIABLES: Mapping[str, str] = {
    "question": "the question",
    "choices": "a list with .letter and .text for each choice; empty for open questions",
    "letters": "a list of the letters",
    "n_frames": "how many frames are shown",
    "columns": "of a montage; 1 where frames come one by one",
    "rows": "of a montage; 1 where frames come one by one",
    "duration_s": "how long the media are, in seconds",
    "modality": "the kind of media: image, multiple images or video",
    "frames": "where the frames stand; before the words if it is left out",
}
FRAMES_HERE = "\0frames\0"
"""Placeholder for `frames`, which the prompter replaces by the frames."""
# ... and what the words before a frame can use.
FRAME_VARIABLES: Mapping[str, str] = {
    "number": "the number of the frame, from 1",
    "time_s": "its time in seconds",
}
_JUDGED: Mapping[str, str] = {
    "reply": "the replies to look at, each in a block",
    "block_id": "the id on the lines around them",
}
_TRAIL: Mapping[str, str] = {"trail": "the answers and reviews so far, in their order"}
# What selectors, strategies and diagnostics ask beside the questions: what each can use, and what that means.
ASIDES: Mapping[str, Mapping[str, str]] = {
    "frag-scores": {"question": "the question, as the selector's option query puts it"},
    "tstar-objects": {
        "question": "the question, as the selector's option query puts it",
        "n_frames": "how many frames are shown",
    },
    "reward-score": {**VARIABLES, **_JUDGED},
    "reward-list": {**VARIABLES, **_JUDGED, "n_replies": "how many replies stand in the block"},
    "reward-repair": {"block_id": _JUDGED["block_id"], "problem": "what was wrong with the first answer"},
    "critique": {**VARIABLES, **_TRAIL},
    "rewrite": {**_TRAIL, "has_review": "yes where a review stands in the trail"},
    "forced": {},
    "forced-frame": {},
    "hints": {"hints": "help on where to look, one line for each level"},
    "subtitles": {
        "subtitles": "the text of the subtitles, one per line",
        "is_all": "yes where these are all there are",
    },
}
# Every template that a set can hold, with the variables that it can use.
KNOWN: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(QUESTION_NAMES, VARIABLES),
    "system": {name: what for name, what in VARIABLES.items() if name != "frames"},
    "frame": FRAME_VARIABLES,
    **ASIDES,
}
NAMES = tuple(KNOWN)
_ROOM = "vidence.ask.prompting"
_ASIDES_SET, _OURS = "_in_every_set", "vidence"


def sets() -> tuple[str, ...]:
    """Return the names of the built-in sets, sorted."""
    names = (file.name.removesuffix(".toml") for file in (resources.files(_ROOM) / "templates").iterdir())
    return tuple(sorted(name for name in names if name != _ASIDES_SET))


@dataclass(frozen=True, kw_only=True)
class Template:
    """A template with its path for messages, its set, name, text and variables."""

    place: str
    origin: str
    name: str
    text: str
    uses: frozenset[str]
    """The variables it uses."""

    @classmethod
    def parse(
        cls, text: str, *, place: str, variables: Mapping[str, str], origin: str = "", name: str = ""
    ) -> Self:
        """Parse a template.

        The template cannot reach Python's internals, change what it is given, leave out a variable
        silently, or go on without end (`language`). What is filled in is not read as a template again.

        Args:
            text: the template.
            place: its file, for messages.
            variables: the names that it may use, with what they mean.
            origin: the set that it counts to.
            name: its name.

        Raises:
            UsageError: its syntax is wrong, or it uses another variable or what no template can.
        """
        from jinja2 import TemplateSyntaxError

        from vidence.ask.prompting.language import parsed

        try:
            uses = parsed(text)[1]
        except TemplateSyntaxError as error:
            raise UsageError(f"{place}, line {error.lineno}: {error.message}") from error
        for unknown in sorted(uses - variables.keys()):
            there = ", ".join(variables)
            raise UsageError(
                f"{place}, line {uses[unknown]}: there is no variable {unknown!r}; there are {there}"
            )
        return cls(place=place, origin=origin, name=name, text=text, uses=frozenset(uses))

    @functools.cached_property
    def label(self) -> str:
        """Return its label in stored prompts: set, name, and the SHA-256 of its text."""
        return f"{self.origin}/{self.name}.txt sha256:{hashlib.sha256(self.text.encode()).hexdigest()}"

    def fill(self, values: Mapping[str, object]) -> str:
        """Fill in the template.

        Raises:
            UsageError: it cannot be filled with these values.
        """
        from jinja2 import TemplateError

        from vidence.ask.prompting.language import filled

        try:
            return filled(self.text, values).strip("\n")
        except (TemplateError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            given = f"{dict(values)!s:.2000}"
            raise UsageError(f"{self.place} cannot be filled: {error}; values given: {given}") from error


def brought(
    texts: Mapping[str, str], origin: str, known: Mapping[str, Mapping[str, str]]
) -> dict[str, Template]:
    """The templates of a set that vidence or a package brings, by name; `known` says what each can use."""
    return {
        name: Template.parse(
            text, place=f"{origin}/{name}.txt", variables=known[name], origin=origin, name=name
        )
        for name, text in texts.items()
    }


def own_files(
    folder: Path, known: Mapping[str, Mapping[str, str]], *, what: str = "prompts", is_shared: bool = False
) -> dict[str, Template]:
    """Return the templates in a user's folder by name.

    Args:
        folder: the folder.
        known: the names of the templates that it may hold, with the variables that each can use.
        what: what the folder is one of, for messages.
        is_shared: whether other files in it are left alone.

    Raises:
        UsageError: no folder, a file that is no such template, none at all, one that cannot be read, or
            one with an error; the message names the file and the line.
    """
    expected = ", ".join(f"{name}.txt" for name in known)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; expected a folder with some of: {expected}")
    imported = read_origin(folder)
    paths = sorted(p for p in folder.iterdir() if not p.name.startswith(".") and p.name != ORIGIN_FILE)
    unknown = [path.name for path in paths if path.suffix != ".txt" or path.stem not in known]
    if is_shared:
        paths = [path for path in paths if path.name not in unknown]
    elif unknown or not paths:
        own_files = ", ".join(unknown) or "no file"
        raise UsageError(f"{folder} holds {own_files}; a folder of {what} holds only some of: {expected}")
    files = {}
    for path in paths:
        try:
            text = text_bounded(path)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read as UTF-8 text: {cause(error)}") from error
        label = imported.label(path.stem, hashlib.sha256(text.encode()).hexdigest()) if imported else ""
        files[path.stem] = Template.parse(
            text, place=str(path), variables=known[path.stem], origin=label or "own", name=path.stem
        )
    return files


def digest_of(files: Iterable[Template]) -> str:
    """Return the SHA-256 over the names and texts of templates."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        text = file.text.encode()
        digest.update(f"{file.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def choices_of(item: Item) -> list[dict[str, str]]:
    """Return a question's choices in the form for templates."""
    return [{"letter": a, "text": b} for a, b in zip(item.letters, item.choices, strict=True)]


def modality_of(item: Item) -> str:
    """Return a question's modality, in the terms of HumanPCR's prompts.

    Source: HumanPCR, figures 17 and 18 (``modality``).
    """
    if not item.media or any(media.kind == "video" and not media.is_still for media in item.media):
        return "video"
    return "image" if len(item.media) == 1 else "multiple images"


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The templates that one run uses; it is a `contracts.Words`.

    `digest` is the SHA-256 over the names and texts that are in effect, without those of `ASIDES` that
    vidence brings, which belong to the version of what asks them; two runs with the same digest say the
    same.
    """

    set_name: str
    digest: str
    _files: Mapping[str, Template]

    @classmethod
    def load(cls, set_name: str, *, override: Path | None = None, is_shared: bool = False) -> Self:
        """Read a set.

        Args:
            set_name: one of `sets`.
            override: a folder whose files replace those of the set, or add to them.
            is_shared: whether the folder may also hold templates for something else.

        Raises:
            UnknownNameError: there is no such set.
            UsageError: the folder is not one of templates, or a template has an error; the message
                names the file and the line.
        """
        if set_name not in sets():
            raise UnknownNameError("set of prompts", set_name, sets())
        files: dict[str, Template] = {}
        for name, origin in ((_ASIDES_SET, _OURS), (set_name, set_name)):
            files |= brought(packaged(_ROOM, f"templates/{name}.toml", dict[str, str]), origin, KNOWN)
        if override is not None:
            files |= own_files(override, KNOWN, is_shared=is_shared)
        result = cls(
            set_name=set_name,
            digest=digest_of(file for file in files.values() if file.origin != _OURS),
            _files=MappingProxyType(files),
        )
        for name in ASIDES if override is not None else ():  # those that vidence brings have it
            if "question" in ASIDES[name]:
                result.check_question(name)
        return result

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def label(self, name: str) -> str:
        """Return a template's label in stored prompts: set, file and the SHA-256 of the file's text.

        The set of a file that a user brought is ``own``, or that of `origin.ImportedSet.label`.
        """
        return self._file(name).label

    def fill(
        self,
        name: str,
        item: Item,
        *,
        n_frames: int,
        duration_s: float,
        grid: tuple[int, int] = (1, 1),
        said: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """Fill in a template for a question.

        Args:
            name: one of `NAMES` but ``frame``, for example ``choice-direct``.
            item: the question.
            n_frames: how many frames are shown, 0 for none.
            duration_s: the length of the media in seconds.
            grid: columns and rows of a montage.
            said: what a template of `ASIDES` uses beside that.

        Raises:
            UsageError: the set has no such template, or it cannot be filled for this item.
        """
        values = {
            "question": item.question,
            "choices": choices_of(item),
            "letters": list(item.letters),
            "n_frames": n_frames,
            "columns": grid[0],
            "rows": grid[1],
            "duration_s": duration_s,
            "modality": modality_of(item),
            "frames": FRAMES_HERE,
            **said,
        }
        return self.say(name, values)

    def say(self, name: str, values: Mapping[str, object]) -> str:
        """Fill in a template such as one of `ASIDES`.

        Raises:
            UsageError: there is no such template, or it cannot be filled with these values.
        """
        return self._file(name).fill(values)

    def left_out(self, variable: str, *names: str) -> str:
        """Return why a model would not see a required variable; empty if it does."""
        there = [self._files[name] for name in names if name in self]
        if any(variable in file.uses for file in there):
            return ""
        return (
            f"{' nor '.join(file.place for file in there)} does not use {{{{ {variable} }}}}, so "
            f"that no model would see the {variable}"
        )

    def check_question(self, *names: str) -> None:
        """Reject templates that omit the question; one of these must contain it.

        Raises:
            UsageError: none of those that are there uses it.
        """
        if why := self.left_out("question", *names):
            raise UsageError(
                f"{why}; put it in. To omit it on purpose, write {{% set left_out = question %}} there"
            )

    def _file(self, name: str) -> Template:
        file = self._files.get(name)
        if file is None:
            there = ", ".join(f"{n}.txt" for n in sorted(self._files))
            raise UsageError(
                f"the set of prompts {self.set_name!r} has no {name}.txt; it has {there}. Choose another "
                "style or set, or bring the file in a folder of your own (--prompts-dir DIR)"
            )
        return file
