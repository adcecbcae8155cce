"""The sentences of the prompts: one folder of text files per set, which a user can replace.

A set is a folder ``templates/<set>/`` with files ``<kind>-<style>.txt`` (kind ``choice`` or
``open``, style ``direct`` or ``cot``), ``frame.txt`` (the words before a frame when frame times are
on) and perhaps ``system.txt``. What selectors and diagnostics ask besides is the same in all sets, in
``templates/_in_every_set/``; see `ASIDES`. They are Jinja templates; see `VARIABLES` for what they can
use. What a question says is filled in as it is: braces in it mean nothing.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from vidence.errors import UnknownNameError, UsageError
from vidence.records import Item

if TYPE_CHECKING:
    from vidence.ask.prompting.parsing import Filler

QUESTION_NAMES = ("choice-cot", "choice-direct", "open-cot", "open-direct")

# What the words around a question can use, and what they mean.
VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "question": "the question",
        "choices": "a list with .letter and .text for each choice; empty for open questions",
        "letters": "a list of the letters",
        "n_frames": "how many frames are shown",
        "duration_s": "how long the media are, in seconds",
    }
)
# ... and what the words before a frame can use.
FRAME_VARIABLES: Mapping[str, str] = MappingProxyType(
    {"number": "the number of the frame, from 1", "time_s": "its time in seconds"}
)
# What selectors and diagnostics ask beside the questions: what each can use, and what that means.
ASIDES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "frag-scores": MappingProxyType({"question": "the question, as the selector's option query puts it"}),
        "tstar-objects": MappingProxyType(
            {
                "question": "the question, as the selector's option query puts it",
                "n_frames": "how many frames are shown",
            }
        ),
        "forced": MappingProxyType({}),
        "forced-frame": MappingProxyType({}),
    }
)
NAMES = (*QUESTION_NAMES, "frame", "system", *ASIDES)
_ASIDES_FOLDER, _OURS = "_in_every_set", "vidence"


def _root() -> Traversable:
    return resources.files("vidence.ask.prompting") / "templates"


def sets() -> tuple[str, ...]:
    """The names of the sets that vidence brings, sorted."""
    folders = [folder.name for folder in _root().iterdir() if folder.is_dir()]
    return tuple(sorted(name for name in folders if name != _ASIDES_FOLDER))


@dataclass(frozen=True)
class TemplateFile:
    """One template file: where it is, for messages; the set it counts to; its name and its text."""

    place: str
    origin: str
    name: str
    text: str

    @property
    def label(self) -> str:
        """What a stored prompt says of it: its set, its name, the SHA-256 of its text."""
        return f"{self.origin}/{self.name}.txt sha256:{hashlib.sha256(self.text.encode()).hexdigest()}"


def brought_files(folder: Traversable, origin: str) -> dict[str, TemplateFile]:
    """The template files of a folder that vidence brings, by name."""
    files = {}
    for entry in folder.iterdir():
        name = entry.name.removesuffix(".txt")
        if name == entry.name:
            continue  # a package of another author may hold more than templates
        files[name] = TemplateFile(f"{origin}/{entry.name}", origin, name, entry.read_text("utf-8"))
    return files


def own_files(
    folder: Path, known: Sequence[str], *, what: str = "prompts", is_shared: bool = False
) -> dict[str, TemplateFile]:
    """The template files of a user's folder, by name.

    Args:
        folder: the folder.
        known: the names of the templates that it may hold.
        what: what the folder is one of, for messages.
        is_shared: whether other files in it are left alone.

    Raises:
        UsageError: no folder, a file that is no such template, none at all, or one that cannot be read.
    """
    expected = ", ".join(f"{name}.txt" for name in known)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; expected a folder with some of: {expected}")
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    unknown = [path.name for path in paths if path.suffix != ".txt" or path.stem not in known]
    if is_shared:
        paths = [path for path in paths if path.name not in unknown]
    elif unknown or not paths:
        found = ", ".join(unknown) or "no file"
        raise UsageError(f"{folder} holds {found}; a folder of {what} holds only some of: {expected}")
    files = {}
    for path in paths:
        try:
            files[path.stem] = TemplateFile(str(path), "own", path.stem, path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read as UTF-8 text: {error}") from error
    return files


def digest_of(files: Iterable[TemplateFile]) -> str:
    """The SHA-256 over the names and texts of templates."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        text = file.text.encode()
        digest.update(f"{file.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def choices_of(item: Item) -> list[dict[str, str]]:
    """The choices of a question as templates see them."""
    return [{"letter": a, "text": b} for a, b in zip(item.letters, item.choices, strict=True)]


def _brought(set_name: str) -> dict[str, TemplateFile]:
    """The files of a set that vidence brings, by name."""
    if set_name not in sets():
        raise UnknownNameError("set of prompts", set_name, sets())
    return brought_files(_root() / _ASIDES_FOLDER, _OURS) | brought_files(_root() / set_name, set_name)


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The templates that one run uses; it is a `contracts.Words`.

    `digest` is the SHA-256 over the names and texts that are in effect, without those of `ASIDES` that
    vidence brings, which belong to the version of what asks them; two runs with the same digest say the
    same.
    """

    set_name: str
    digest: str
    _files: Mapping[str, TemplateFile]
    _fillers: Mapping[str, "Filler"]

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
        from vidence.ask.prompting.parsing import parse_template

        files = _brought(set_name)
        if override is not None:
            files |= own_files(override, NAMES, is_shared=is_shared)
        known = {**ASIDES, "frame": FRAME_VARIABLES}
        fillers = {
            name: parse_template(file.text, place=file.place, variables=known.get(name, VARIABLES))
            for name, file in files.items()
        }
        made = cls(
            set_name=set_name,
            digest=digest_of(file for file in files.values() if file.origin != _OURS),
            _files=MappingProxyType(files),
            _fillers=MappingProxyType(fillers),
        )
        for name, variables in ASIDES.items():
            if "question" in variables:
                made.check_question(name)
        return made

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def label(self, name: str) -> str:
        """What a stored prompt says of its template: set, file and the SHA-256 of the file's text.

        The set of a file that a user brought is ``own``.
        """
        return self._file(name).label

    def fill(self, name: str, item: Item, *, n_frames: int, duration_s: float) -> str:
        """The words of a template with a question filled in.

        Args:
            name: one of `NAMES` but ``frame``, for example ``choice-direct``.
            item: the question.
            n_frames: how many frames are shown, 0 for none.
            duration_s: the length of the media in seconds.

        Raises:
            UsageError: the set has no such template, or it cannot be filled for this item.
        """
        values = {
            "question": item.question,
            "choices": choices_of(item),
            "letters": list(item.letters),
            "n_frames": n_frames,
            "duration_s": duration_s,
        }
        return self.say(name, values)

    def frame_words(self, number: int, *, time_s: float) -> str:
        """The words before a frame.

        Args:
            number: which frame of the question it is, from 1.
            time_s: its presentation time in seconds.

        Raises:
            UsageError: the set has no ``frame.txt``, or it cannot be filled.
        """
        return self.say("frame", {"number": number, "time_s": time_s})

    def say(self, name: str, values: Mapping[str, object]) -> str:
        """The words of a template, such as one of `ASIDES`.

        Raises:
            UsageError: there is no such template, or it cannot be filled with these values.
        """
        self._file(name)
        return self._fillers[name](values)

    def left_out(self, variable: str, *names: str) -> str:
        """Why no model would see a variable that must stand in one of these templates; empty if it does."""
        there = [name for name in names if name in self]
        if any(variable in self._fillers[name].uses for name in there):
            return ""
        return (
            f"{' nor '.join(self._file(name).place for name in there)} does not use {{{{ {variable} }}}}, so "
            f"that no model would see the {variable}"
        )

    def check_question(self, *names: str) -> None:
        """Refuse words that leave out the question; it must stand in one of these templates.

        Raises:
            UsageError: none of those that are there uses it.
        """
        why = self.left_out("question", *names)
        if why:
            raise UsageError(
                f"{why}; put it in. To leave it out on purpose, write {{% set left_out = question %}} there"
            )

    def _file(self, name: str) -> TemplateFile:
        file = self._files.get(name)
        if file is None:
            there = ", ".join(f"{n}.txt" for n in sorted(self._files))
            raise UsageError(
                f"the set of prompts {self.set_name!r} has no {name}.txt; it has {there}. Choose another "
                "style or set, or bring the file in a folder of your own (--prompts DIR)"
            )
        return file
