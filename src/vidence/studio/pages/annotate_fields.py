"""The form of an item as a template draws it: groups of fields with what stands in them and what is said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from vidence.make.expert.config import REASONING
from vidence.studio.rules.faults import SKILLS, Said, Shape
from vidence.studio.rules.forms import Form, Kind, fields_of, rows_to_show
from vidence.studio.rules.wording import BOX, HINTS, Wording

_HINTS: Final = (
    "Level 1: a general relation",
    "Level 2: what is meant, and that something is linked",
    "Level 3: a vague pointer to the evidence that has to be looked for",
)
_SIDES: Final = ("left", "top", "right", "bottom")
_WHY: Final = "; of oracle frames, why these"
_REVIEWED: Final[Mapping[str, tuple[str, ...]]] = {
    "answer": ("answer", "wrong"),
    "choices": ("wrong",),
    "tags": ("reasoning", "category", "concept"),
    "media": ("clip", "media"),
    "rationale": ("steps",),
}
_WHOLE: Final = {
    "start": "clip",
    "end": "clip",
    "subject": "concept",
    "textbook": "concept",
    "chapter": "concept",
    "right-category": "wrong",
    "right-text": "wrong",
    "language": "question",
}
NUMBER: Final = "__n__"
"""In the place of the number, from 0, of a row that a script adds."""
COUNTED: Final = "__m__"
"""In the place of the same number from 1."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field: a list where it has `choices`, an area of text where it has `lines`, else one line."""

    name: str
    label: str
    value: str = ""
    lines: int = 0
    choices: tuple[tuple[str, str], ...] = ()
    said: tuple[Said, ...] = ()
    is_hidden: bool = False
    fill: str = ""
    """What a button takes from the player: ``start`` or ``end`` of the marked range, ``frame`` its time, or
    ``frames``: the painted frame is added to those that stand there."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """Fields that belong together, such as those of one piece of evidence."""

    title: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """One part of the form. `fresh` is the row that a script adds; `marks` are what reviewers said of it."""

    name: str
    title: str
    help: str = ""
    rows: tuple[Row, ...]
    fresh: Row | None = None
    add: str = ""
    said: tuple[Said, ...] = ()
    marks: tuple[str, ...] = field(default=())


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What a form is drawn with beside its words.

    `media` are the names of the media, `shapes` what they are, `said` is what machines say by field, `marks`
    what reviewers say by field of an item; `new_id` draws the names of options that nobody has written yet.
    """

    media: Sequence[str]
    shapes: Sequence[Shape]
    new_id: Callable[[], str]
    said: tuple[Said, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()


def groups_of(written: Wording, form: Form, kind: Kind, *, beside: Beside) -> tuple[Group, ...]:
    """The parts of the form of an item, in their order.

    Args:
        written: what stands in it.
        form: which parts it has.
        kind: whether there are options.
        beside: the media, and what is said of it.
    """
    drawn = _Drawn(fields_of(written), beside.said, beside.new_id)
    by_part = {
        "concept": _concept,
        "category": _category,
        "reasoning": _reasoning,
        "clip": _clip,
        "steps": lambda one: _steps(one, written),
        "evidence": lambda one: _evidence(one, written, beside),
        "conditions": lambda one: _conditions(one, written),
        "knowledge": lambda one: _knowledge(one, written),
        "hints": _hints,
    }
    parts = [
        name for name in by_part if name in form.parts and not (name == "category" and form.name == "actpld")
    ]
    groups = [_question(drawn), _answer(drawn) if kind == "open" else _options(drawn, written, form)]
    groups += [by_part[name](drawn) for name in parts]
    if "conditions" in parts:
        groups.append(_program(drawn))
    told: dict[str, list[str]] = {}
    for item_field, words in beside.marks:
        for name in _REVIEWED.get(item_field, (item_field,)):
            told.setdefault(name, []).append(words)
    return tuple(
        replace(one, said=drawn.of_group(one.name), marks=tuple(told.get(one.name, ()))) for one in groups
    )


@dataclass(frozen=True)
class _Drawn:
    """Makes fields with what stands in them and what is said of them."""

    values: Mapping[str, str]
    said: tuple[Said, ...]
    new_id: Callable[[], str]

    def field(
        self,
        name: str,
        label: str,
        *,
        lines: int = 0,
        choices: tuple[tuple[str, str], ...] = (),
        fill: str = "",
    ) -> Field:
        said = tuple(one for one in self.said if one.field == name)
        return Field(
            name=name,
            label=label,
            value=self.values.get(name, ""),
            lines=lines,
            choices=choices,
            said=said,
            fill=fill,
        )

    def hidden(self, name: str) -> Field:
        return Field(name=name, label="", value=self.values.get(name, ""), is_hidden=True)

    def of_group(self, name: str) -> tuple[Said, ...]:
        fields = {"question", "answer", "category", "reasoning", "concept", "program"}
        return () if name in fields else tuple(one for one in self.said if one.field == name)


def group_of(name: str) -> str:
    """The part of the form that something said of a field belongs to; for links to it."""
    bare = name.split("-", maxsplit=1)[0]
    several = {"step": "steps", "condition": "conditions", "hint": "hints"}
    return _WHOLE.get(name) or several.get(bare, bare)


def _question(drawn: _Drawn) -> Group:
    fields = (drawn.field("question", "Question", lines=3), drawn.field("language", "Language, such as en"))
    return Group(name="question", title="Question", rows=(Row(title="", fields=fields),))


def _answer(drawn: _Drawn) -> Group:
    row = Row(title="", fields=(drawn.field("answer", "Answer", lines=2),))
    return Group(name="answer", title="Answer", rows=(row,))


def _options(drawn: _Drawn, written: Wording, form: Form) -> Group:
    has_why = form.name in ("mmvu", "humanpcr-pc", "actpld")
    has_category = "category" in form.parts

    def row(name: str, title: str) -> Row:
        named = drawn.hidden(f"{name}-id")
        if not named.value and NUMBER not in name:
            named = replace(named, value=drawn.new_id())
        fields = [named, drawn.field(f"{name}-text", "Option")]
        if has_category:
            label = form.categories if form.name == "actpld" else "Kind, where it is another"
            fields.append(drawn.field(f"{name}-category", label))
        if has_why and name != "right":
            fields.append(drawn.field(f"{name}-why", "Why somebody would take it", lines=2))
        return Row(title=title, fields=tuple(fields))

    n = rows_to_show(written.wrong, spare=0, least=form.wrong)
    wrong = [row(f"wrong-{i}", f"Wrong option {i + 1}") for i in range(n)]
    return Group(
        name="wrong",
        title="Options",
        help="The right one stands apart; the order that others see is drawn when it is handed in.",
        rows=(row("right", "Right option"), *wrong),
        fresh=row(f"wrong-{NUMBER}", f"Wrong option {COUNTED}"),
        add="Add a wrong option",
    )


def _category(drawn: _Drawn) -> Group:
    row = Row(title="", fields=(drawn.field("category", "Kind of answer: colour, place, person, number, …"),))
    return Group(name="category", title="Category of the answer", rows=(row,))


def _reasoning(drawn: _Drawn) -> Group:
    choices = (("", "choose"), *((one, one) for one in REASONING))
    row = Row(title="", fields=(drawn.field("reasoning", "Type of reasoning", choices=choices),))
    return Group(name="reasoning", title="Type of reasoning", rows=(row,))


def _clip(drawn: _Drawn) -> Group:
    fields = (
        drawn.field("start", "From, in seconds", fill="start"),
        drawn.field("end", "To, in seconds", fill="end"),
    )
    return Group(
        name="clip",
        title="Clip",
        help="The part of the first medium that is shown; empty: all of it.",
        rows=(Row(title="", fields=fields),),
    )


def _steps(drawn: _Drawn, written: Wording) -> Group:
    def row(n: int | str, title: str) -> Row:
        return Row(title="", fields=(drawn.field(f"step-{n}", title, lines=2),))

    n = rows_to_show(written.steps, spare=1, least=2)
    return Group(
        name="steps",
        title="Steps of reasoning",
        help="In their order, from what is seen to the answer.",
        rows=tuple(row(i, f"Step {i + 1}") for i in range(n)),
        fresh=row(NUMBER, f"Step {COUNTED}"),
        add="Add a step",
    )


def _evidence(drawn: _Drawn, written: Wording, beside: Beside) -> Group:
    kinds = tuple((one, one) for one in ("referred", "proactive", "oracle"))
    is_still = [one.kind == "image" for one in beside.shapes]
    has_frames, has_pictures = not all(is_still) or not is_still, any(is_still)
    names = tuple(
        (str(i), f"picture {i + 1}: {name}" if i < len(is_still) and is_still[i] else name)
        for i, name in enumerate(beside.media)
    )

    def row(n: int | str, title: str) -> Row:
        name = f"evidence-{n}"
        fields = (
            drawn.field(f"{name}-medium", "Medium", choices=names)
            if len(names) > 1
            else drawn.hidden(f"{name}-medium"),
            drawn.field(f"{name}-kind", "Kind", choices=kinds),
            *(_places_in_time(drawn, name) if has_frames else ()),
            *(_places_on_picture(drawn, name) if has_pictures else ()),
            drawn.field(f"{name}-text", "What is seen" + _WHY * has_frames, lines=2),
            drawn.field(f"{name}-steps", "For the steps, such as 1, 3"),
        )
        return Row(title=title, fields=fields)

    n = rows_to_show(written.evidence, spare=1)
    more = ["Oracle: the frames that show what the answer needs, and why these."] if has_frames else []
    more += ["On a picture it has a box, or is all of the picture."] if has_pictures else []
    return Group(
        name="evidence",
        title="Evidence",
        help=" ".join(["Referred: the question names it; proactive: it has to be looked for.", *more]),
        rows=tuple(row(i, f"Piece {i + 1}") for i in range(n)),
        fresh=row(NUMBER, f"Piece {COUNTED}"),
        add="Add evidence from the marked range" if has_frames else "Add evidence",
    )


def _places_in_time(drawn: _Drawn, name: str) -> tuple[Field, ...]:
    return (
        drawn.field(f"{name}-start", "From, in seconds", fill="start"),
        drawn.field(f"{name}-end", "To, in seconds", fill="end"),
        drawn.field(f"{name}-frames", "Frames, the best first, such as 40, 7", fill="frames"),
    )


def _places_on_picture(drawn: _Drawn, name: str) -> tuple[Field, ...]:
    return tuple(
        drawn.field(f"{name}-{part}", f"Box: {side}, in pixels")
        for part, side in zip(BOX, _SIDES, strict=True)
    )


def _conditions(drawn: _Drawn, written: Wording) -> Group:
    skills = (("", "choose"), *((one, one) for one in SKILLS))

    def row(n: int | str, title: str) -> Row:
        name = f"condition-{n}"
        fields = (
            drawn.field(f"{name}-text", "Condition", lines=2),
            drawn.field(f"{name}-skill", "Skill", choices=skills),
            drawn.field(f"{name}-depends", "Depends on conditions, such as 1"),
            drawn.field(f"{name}-hands", "Hands on"),
            drawn.field(f"{name}-at", "Without it, when is another candidate seen", fill="frame"),
            drawn.field(f"{name}-note", "Which candidate", lines=2),
            drawn.field(f"{name}-otherwise", "The answer would be"),
        )
        return Row(title=title, fields=fields)

    n = rows_to_show(written.conditions, spare=1)
    return Group(
        name="conditions",
        title="Conditions",
        help="In their order. Each is needed: say what the answer would be without it.",
        rows=tuple(row(i, f"Condition {i + 1}") for i in range(n)),
        fresh=row(NUMBER, f"Condition {COUNTED}"),
        add="Add a condition",
    )


def _program(drawn: _Drawn) -> Group:
    row = Row(title="", fields=(drawn.field("program", "Program of the composition", lines=5),))
    return Group(
        name="program",
        title="Proof",
        help="As vidence prove reads it; where the project has the scene, it is proved beside the form.",
        rows=(row,),
    )


def _knowledge(drawn: _Drawn, written: Wording) -> Group:
    def row(n: int | str, title: str) -> Row:
        fields = (
            drawn.field(f"knowledge-{n}-title", "What one must know"),
            drawn.field(f"knowledge-{n}-url", "Page, such as https://en.wikipedia.org/wiki/Lens"),
        )
        return Row(title=title, fields=fields)

    n = rows_to_show(written.knowledge, spare=1)
    return Group(
        name="knowledge",
        title="Knowledge",
        rows=tuple(row(i, f"Piece {i + 1}") for i in range(n)),
        fresh=row(NUMBER, f"Piece {COUNTED}"),
        add="Add knowledge",
    )


def _hints(drawn: _Drawn) -> Group:
    fields = tuple(drawn.field(f"hint-{i}", _HINTS[i], lines=2) for i in range(HINTS))
    return Group(
        name="hints",
        title="Hints",
        help="Each is given with those before it. None may hold the answer or a step.",
        rows=(Row(title="", fields=fields),),
    )


def _concept(drawn: _Drawn) -> Group:
    labels = {"subject": "Subject", "textbook": "Textbook", "chapter": "Chapter", "concept": "Concept"}
    fields = tuple(drawn.field(name, label) for name, label in labels.items())
    return Group(name="concept", title="Subject and concept", rows=(Row(title="", fields=fields),))
