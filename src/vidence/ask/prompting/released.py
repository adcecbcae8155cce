"""The authors' prompts, imported from a user's copy of their release.

vidence ships none of these texts. ``released.toml`` states their location in the authors' repositories, how
question and choices are marked, and the SHA-256 of each text, by which a copy is recognised. The authors'
code is read, never run.
"""

import ast
import hashlib
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
import tomli_w

from vidence.ask.prompting.origin import ORIGIN_FILE, UNCHECKED, ImportedSet, ImportedText
from vidence.ask.prompting.templates import KNOWN, VARIABLES, Template
from vidence.errors import UnknownNameError, UsageError, cause
from vidence.installation import packaged
from vidence.media.whole import own_folder, write_into
from vidence.records import Record

Wording: TypeAlias = Literal["own", "authors", "unchecked"]
_LABEL = re.compile(r"(?P<set>.*)/(?P<name>[^/]+)\.txt sha256:(?P<sha256>[0-9a-f]{64})", re.DOTALL)
# Stands where a loop or a condition adds to the text.
_ADDED = "{...}"


class Choices(Record):
    """How the authors format choices: each by `each`, separated by `between`."""

    each: str
    between: str


class KnownText(Record):
    """A released text: its SHA-256, that of its template, and the revision."""

    sha256: str
    template_sha256: str
    revision: str


class ReleasedPrompt(Record):
    """One prompt of a set: the template that it becomes, and the variable of the file that holds it.

    `form` says how the variable marks what is filled in: ``template`` as `string.Template`, ``f-string`` as
    Python does, ``plain`` where nothing is. `fill` maps each mark, as it stands in the text, to ``question``
    or to `Choices`.
    """

    template: str
    file: str
    variable: str
    form: Literal["template", "f-string", "plain"]
    fill: dict[str, Literal["question"] | Choices]
    known: tuple[KnownText, ...]


class ReleasedSet(Record):
    """The prompts of one group of authors: for asking, or for the judge of that name."""

    name: str
    paper: str
    repository: str
    judge: str = ""
    prompts: tuple[ReleasedPrompt, ...]

    @property
    def flag(self) -> str:
        """Return the flag that accepts a folder of these templates."""
        return "--judge-prompts-dir" if self.judge else "--prompts-dir"


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Templates made from the authors' prompts, by name, and their origin."""

    templates: Mapping[str, str]
    about: ImportedSet


@cache
def released() -> Mapping[str, ReleasedSet]:
    """Return the sets whose location in the authors' repositories is known, by name."""
    file = packaged("vidence.ask.prompting", "released.toml", dict[str, tuple[ReleasedSet, ...]])
    return {released_set.name: released_set for released_set in file["sets"]}


def wording_of(label: str) -> Wording:
    """Return whose prompt a stored prompt is, by its label: a template's set, name and SHA-256.

    >>> wording_of("plain/choice-direct.txt sha256:" + 64 * "0")
    'own'
    """
    match = _LABEL.fullmatch(label)
    if match is None:
        return "own"
    if match["sha256"] in _known_templates():
        return "authors"
    return "unchecked" if match["set"].startswith(UNCHECKED) else "own"


@cache
def _known_templates() -> frozenset[str]:
    prompts = (prompt for released_set in released().values() for prompt in released_set.prompts)
    return frozenset(text.template_sha256 for prompt in prompts for text in prompt.known)


def sha256(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, without surrounding empty lines."""
    return hashlib.sha256(text.strip("\n").encode()).hexdigest()


# --------------------------------------------------------------------------- taking over


def take(name: str, source: Path, *, template: str = "", is_unchecked: bool = False) -> Imported:
    """Import the prompts of a released set from a user's copy.

    Args:
        name: one of `released`.
        source: the folder of the repository, or a text file with one prompt as the authors' file has it,
            marks included.
        template: for a text file, which template it is.
        is_unchecked: take texts that are not those whose SHA-256 is known.

    Raises:
        UnknownNameError: no such set, or the set has no such template.
        UsageError: a file is not there or cannot be read, holds no such prompt, has other marks than
            expected, or its text is not one that is known.
    """
    if name not in released():
        raise UnknownNameError("released set of prompts", name, released())
    released_set = released()[name]
    if source.is_dir():
        entries = [(prompt, _in_folder(prompt, source)) for prompt in released_set.prompts]
    else:
        entries = [(_named(released_set, template), (source, [_read(source)]))]
    texts, templates = [], {}
    for prompt, (path, candidates) in entries:
        known = {text.sha256: text for text in prompt.known}
        text = next((text for text in candidates if sha256(text) in known), candidates[0])
        digest = sha256(text)
        if digest not in known and not is_unchecked:
            raise UsageError(_does_not_fit(released_set, prompt, path=path, digest=digest))
        result = as_template(text, prompt, place=str(path))
        Template.parse(result, place=str(path), variables=KNOWN.get(prompt.template, VARIABLES))
        templates[prompt.template] = result
        texts.append(
            ImportedText(
                template=prompt.template,
                file=prompt.file if source.is_dir() else source.name,
                sha256=digest,
                template_sha256=hashlib.sha256(result.encode()).hexdigest(),
                revision=known[digest].revision if digest in known else "",
            )
        )
    about = ImportedSet(
        name=released_set.name,
        paper=released_set.paper,
        repository=released_set.repository,
        texts=tuple(texts),
    )
    return Imported(templates=templates, about=about)


def write(imported: Imported, folder: Path) -> tuple[Path, ...]:
    """Write templates and ``origin.toml`` to a new or empty folder, for ``--prompts-dir``.

    Raises:
        UsageError: the folder holds something already.
        StoreError: it cannot be written.
    """
    own_folder(folder)
    contents = {f"{name}.txt": text for name, text in imported.templates.items()}
    return write_into(folder, contents | {ORIGIN_FILE: tomli_w.dumps(msgspec.to_builtins(imported.about))})


def _named(released_set: ReleasedSet, template: str) -> ReleasedPrompt:
    there = {prompt.template: prompt for prompt in released_set.prompts}
    if not template:
        raise UsageError(f"a text file holds one prompt; choose it with --as: {', '.join(there)}")
    if template not in there:
        raise UnknownNameError(f"template of {released_set.name}", template, there)
    return there[template]


def _in_folder(prompt: ReleasedPrompt, folder: Path) -> tuple[Path, list[str]]:
    """Return a prompt's file in a clone, and every text assigned to its variable."""
    path = folder / prompt.file
    if not path.is_file():
        raise UsageError(f"{path} is not there; expected the folder of the authors' repository")
    try:
        tree = ast.parse(_read(path))
    except SyntaxError as error:
        raise UsageError(f"{path}, line {error.lineno}: not Python: {error.msg}") from error
    names = list(dict.fromkeys(_texts(tree, prompt.variable)))
    if not names:
        raise UsageError(f"{path} gives no text to {prompt.variable!r}; expected the file as it was released")
    return path, names


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as UTF-8 text: {cause(error)}") from error


def _does_not_fit(released_set: ReleasedSet, prompt: ReleasedPrompt, *, path: Path, digest: str) -> str:
    expected = ", ".join(f"{text.sha256} ({text.revision})" for text in prompt.known)
    return (
        f"{path}: the text for {prompt.template}.txt has the SHA-256 {digest}; known of "
        f"{released_set.repository}: {expected}. Take the file as the authors released it, or accept this "
        "one with --unchecked; every report then says that the wording was not checked"
    )


# --------------------------------------------------------------------------- texts in their code


def _texts(tree: ast.AST, variable: str) -> Iterator[str]:
    """Yield every text assigned to a variable in a file, including later additions in the same block."""
    known: dict[str, str] = {}
    for statement in getattr(tree, "body", ()):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if (text := _text_of(value, known)) is not None:
                    known[name] = text
    for node in ast.walk(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and (text := _text_in(block, variable, known)) is not None:
                yield text


def _text_in(block: Sequence[ast.stmt], variable: str, known: Mapping[str, str]) -> str | None:
    text: str | None = None
    for statement in block:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == variable:
                text = _text_of(value, known)
            case ast.AugAssign(target=ast.Name(id=name), value=value) if (
                name == variable and text is not None
            ):
                added = _text_of(value, known)
                text = None if added is None else text + added
            case ast.If() | ast.For() if text is not None and _gives(statement, variable):
                text += _ADDED
    return text


def _gives(statement: ast.stmt, variable: str) -> bool:
    return any(
        isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == variable
        for node in ast.walk(statement)
    )


def _text_of(value: ast.expr, known: Mapping[str, str]) -> str | None:
    """Return a text with its placeholders, or None if the value is not a text.

    Texts that are joined may be names of texts of the file, which are in `known`.
    """
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_piece(part) for part in parts)
        case ast.Call(func=ast.Name(id="Template"), args=[ast.Constant(value=str(text))]):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = (
                known.get(side.id) if isinstance(side, ast.Name) else _text_of(side, known)
                for side in (left, right)
            )
            return None if first is None or second is None else first + second
        case _:
            return None


def _piece(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return f"{{{ast.unparse(part.value)}}}"
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""


# --------------------------------------------------------------------------- templates of them


def as_template(text: str, prompt: ReleasedPrompt, *, place: str) -> str:
    """Convert an authors' text to a template: their placeholders become variables, the text stays.

    Args:
        text: the text, with their marks.
        prompt: what the marks mean.
        place: its file, for messages.

    Raises:
        UsageError: a mark is missing.
    """
    text = text.strip("\n")
    if not prompt.fill:
        return _literal(text, prompt.form)
    if missing := [mark for mark in prompt.fill if mark not in text]:
        raise UsageError(
            f"{place}: the text for {prompt.template}.txt lacks {', '.join(missing)}; expected "
            f"{', '.join(prompt.fill)} where the question and its choices are filled in"
        )
    marks = "|".join(re.escape(mark) for mark in sorted(prompt.fill, key=len, reverse=True))
    return "".join(
        _filled(prompt.fill[piece]) if piece in prompt.fill else _literal(piece, prompt.form)
        for piece in re.split(f"({marks})", text)
    )


def _literal(text: str, form: str) -> str:
    """Escape text for Jinja."""
    if form == "template":
        text = text.replace(string.Template.delimiter * 2, string.Template.delimiter)
    return re.sub(r"\{(?=[{%#])", '{{ "{" }}', text)


def _filled(what: str | Choices) -> str:
    if isinstance(what, str):
        return f"{{{{ {what} }}}}"
    each = what.each.format(letter="{{ choice.letter }}", text="{{ choice.text }}")
    between = what.between.replace("\n", "\\n")
    return f'{{%+ for choice in choices +%}}{each}{{{{ "" if loop.last else "{between}" }}}}{{%+ endfor +%}}'
