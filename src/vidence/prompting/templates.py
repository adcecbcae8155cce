"""The sentences of the prompts: one folder of text files per set, which a user can replace.

A set is a folder ``templates/<set>/`` with files ``<kind>-<style>.txt`` (kind ``choice`` or
``open``, style ``direct`` or ``cot``), ``frame.txt`` (the words before a frame when frame times are
on) and perhaps ``system.txt``. They are Jinja templates; see `VARIABLES` for what they can use. What
a question says is filled in as it is: braces in it mean nothing.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Self

from vidence.errors import UnknownNameError, UsageError
from vidence.records import Item

QUESTION_NAMES = ("choice-cot", "choice-direct", "open-cot", "open-direct")
NAMES = (*QUESTION_NAMES, "frame", "system")

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


def _root() -> Traversable:
    return resources.files("vidence.prompting") / "templates"


def sets() -> tuple[str, ...]:
    """The names of the sets that vidence brings, sorted."""
    return tuple(sorted(folder.name for folder in _root().iterdir() if folder.is_dir()))


@dataclass(frozen=True)
class _File:
    """One template file: where it is, for messages; the set it counts to; its text."""

    place: str
    origin: str
    text: str


def _brought(set_name: str) -> dict[str, _File]:
    """The files of a set that vidence brings, by name."""
    if set_name not in sets():
        raise UnknownNameError("set of prompts", set_name, sets())
    files = {}
    for entry in (_root() / set_name).iterdir():
        name = entry.name.removesuffix(".txt")
        files[name] = _File(f"{set_name}/{entry.name}", set_name, entry.read_text("utf-8"))
    return files


def _own(folder: Path) -> dict[str, _File]:
    """The files of a user's folder, by name."""
    expected = ", ".join(f"{name}.txt" for name in NAMES)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; expected a folder with some of: {expected}")
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    unknown = [path.name for path in paths if path.suffix != ".txt" or path.stem not in NAMES]
    if unknown or not paths:
        found = ", ".join(unknown) or "no file"
        raise UsageError(f"{folder} holds {found}; a folder of prompts holds only some of: {expected}")
    files = {}
    for path in paths:
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read as UTF-8 text: {error}") from error
        files[path.stem] = _File(str(path), "own", text)
    return files


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The templates that one run uses.

    `digest` is the SHA-256 over the names and texts that are in effect; two runs with the same digest
    say the same.
    """

    set_name: str
    digest: str
    _files: Mapping[str, _File]
    _fillers: Mapping[str, Callable[[Mapping[str, object]], str]]

    @classmethod
    def load(cls, set_name: str, *, override: Path | None = None) -> Self:
        """Read a set.

        Args:
            set_name: one of `sets`.
            override: a folder whose files replace those of the set, or add to them.

        Raises:
            UnknownNameError: there is no such set.
            UsageError: the folder is not one of templates, or a template has an error; the message
                names the file and the line.
        """
        from vidence.prompting.parsing import parse_template

        files = _brought(set_name)
        if override is not None:
            files |= _own(override)
        digest = hashlib.sha256()
        for name in sorted(files):
            text = files[name].text.encode()
            digest.update(f"{name} {len(text)}\n".encode() + text)
        return cls(
            set_name=set_name,
            digest=digest.hexdigest(),
            _files=MappingProxyType(files),
            _fillers=MappingProxyType(
                {
                    name: parse_template(
                        file.text,
                        place=file.place,
                        variables=FRAME_VARIABLES if name == "frame" else VARIABLES,
                    )
                    for name, file in files.items()
                }
            ),
        )

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def label(self, name: str) -> str:
        """What a stored prompt says of its template: set, file and the SHA-256 of the file's text.

        The set of a file that a user brought is ``own``.
        """
        file = self._file(name)
        return f"{file.origin}/{name}.txt sha256:{hashlib.sha256(file.text.encode()).hexdigest()}"

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
        choices = [{"letter": a, "text": b} for a, b in zip(item.letters, item.choices, strict=True)]
        values = {
            "question": item.question,
            "choices": choices,
            "letters": list(item.letters),
            "n_frames": n_frames,
            "duration_s": duration_s,
        }
        return self._filled(name, values)

    def frame_words(self, number: int, *, time_s: float) -> str:
        """The words before a frame.

        Args:
            number: which frame of the question it is, from 1.
            time_s: its presentation time in seconds.

        Raises:
            UsageError: the set has no ``frame.txt``, or it cannot be filled.
        """
        return self._filled("frame", {"number": number, "time_s": time_s})

    def _file(self, name: str) -> _File:
        file = self._files.get(name)
        if file is None:
            there = ", ".join(f"{n}.txt" for n in sorted(self._files))
            raise UsageError(
                f"the set of prompts {self.set_name!r} has no {name}.txt; it has {there}. Choose another "
                "style or set, or bring the file in a folder of your own (--prompts DIR)"
            )
        return file

    def _filled(self, name: str, values: Mapping[str, object]) -> str:
        self._file(name)
        return self._fillers[name](values)
