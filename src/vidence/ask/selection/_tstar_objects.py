"""Which objects T* looks for: named by an option, by the item, by a model, or the question itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vidence.ask.selection import scored
from vidence.ask.selection.seeking import Objects, names_model
from vidence.contracts import Ask, Flow, Words
from vidence.errors import DataError, UsageError
from vidence.records import ImagePart, Item, Prompt, Sampling, TextPart

QUESTION, TAGS = "question", "tags"
TARGETS, CUES = "targets", "cues"
NOTHING = "none"
# The released code shows the model as many uniform frames.
N_OVERVIEW = 8
TEMPLATE = "tstar-objects"


@dataclass(frozen=True, kw_only=True)
class Naming:
    """Who names the objects: `source` is ``question``, ``tags`` or a model; `fixed` are those of the options.

    Source: T* asks a model.
    Departs: no.
    """

    source: str
    query: str
    fixed: Objects | None = None

    @property
    def asks(self) -> bool:
        """Whether a model names them."""
        return self.fixed is None and names_model(self.source)

    def flow(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[Objects]:
        """The objects of one question; `images` are what a model sees of the video, `words` what it is asked.

        Raises:
            DataError: the item has no such tags, or the model did not keep to the form.
        """
        if self.fixed is not None:
            return self.fixed
        if self.source == QUESTION:
            return Objects(targets=(scored.query_text(item, self.query),))
        if self.source == TAGS:
            return _of_tags(item)
        return (yield from _asked(item, images, query=self.query, words=words))


def naming(own: Mapping[str, object], *, query: str, has_file: bool) -> Naming:
    """Who names the objects, by the options ``objects``, ``targets`` and ``cues``.

    Args:
        own: the options that were given.
        query: how the question is put into words.
        has_file: whether the confidences are known beforehand; then nothing is looked for.

    Raises:
        UsageError: options that exclude each other.
    """
    given = {key: str(own[key]) for key in ("objects", TARGETS, CUES) if key in own}
    if given and has_file:
        raise UsageError(
            f"the selector tstar: {', '.join(given)} with a file of scores, which says what was found; leave "
            "one of them out"
        )
    if CUES in given and TARGETS not in given:
        raise UsageError("the selector tstar: cues without targets; a search ends when its targets are found")
    if TARGETS in given and "objects" in given:
        raise UsageError(f"the selector tstar: targets and objects={given['objects']}; give one of them")
    fixed = None
    if TARGETS in given:
        fixed = Objects(targets=_listed(given[TARGETS], "|"), cues=_listed(given.get(CUES, ""), "|"))
        if not fixed.targets:
            raise UsageError(f"the selector tstar: targets={given[TARGETS]!r} names nothing; expected a|b|c")
    return Naming(source=given.get("objects", QUESTION), query=query, fixed=fixed)


def source_of_objects(text: str) -> str:
    """Read the option ``objects``: ``question``, ``tags``, ``model`` or ``model:SPEC``.

    Raises:
        ValueError: something else.
    """
    if text not in (QUESTION, TAGS) and not names_model(text):
        raise ValueError("expected question, tags, model (the model under test) or model:SPEC")
    return text


def _listed(text: str, separator: str) -> tuple[str, ...]:
    """The names between separators, each once."""
    return tuple(dict.fromkeys(name for part in text.split(separator) if (name := part.strip())))


def _of_tags(item: Item) -> Objects:
    found = Objects(
        targets=_listed(item.tags.get(TARGETS, ""), ","), cues=_listed(item.tags.get(CUES, ""), ",")
    )
    if not found.targets:
        raise DataError(
            f"item {item.item_id!r} has no tag 'targets' with names in it; expected, for example, "
            '"targets": "red cup, table". Add it, or let a model name them: objects=model'
        )
    return found


def _asked(item: Item, images: Sequence[ImagePart], *, query: str, words: Words) -> Flow[Objects]:
    values = {"n_frames": len(images), "question": scored.query_text(item, query)}
    text = words.say(TEMPLATE, values)
    prompt = Prompt(parts=(*images, TextPart(text=text)), template=words.label(TEMPLATE))
    (reply,) = yield [Ask(prompt=prompt, sampling=Sampling(temperature=0.0, max_tokens=512))]
    return read_objects(reply.text, item_id=item.item_id)


def read_objects(text: str, *, item_id: str) -> Objects:
    r"""The objects in a reply: two lines, ``Targets: a, b`` and ``Cues: c`` (or ``Cues: none``).

    Source: T*, released code (two lines, anything else is an error).
    Departs: the lines begin with a word that says which is which.

    Raises:
        DataError: any other form, or no target.

    >>> read_objects("Targets: red cup, a man\nCues: none", item_id="q").targets
    ('red cup', 'a man')
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    parted = [line.partition(":") for line in lines]
    heads = [head.strip().lower() for head, _, _ in parted]
    names = [_listed(rest, ",") for _, _, rest in parted]
    if heads != [TARGETS, CUES] or not all(names) or [n.lower() for n in names[0]] == [NOTHING]:
        raise DataError(
            f"item {item_id!r}: the model named no objects for T*: {text[:200]!r}; expected two lines, "
            "'Targets: a, b' and 'Cues: c, d'. Use another model, or name them with targets=a|b"
        )
    cues = () if [n.lower() for n in names[1]] == [NOTHING] else names[1]
    return Objects(targets=names[0], cues=cues)
