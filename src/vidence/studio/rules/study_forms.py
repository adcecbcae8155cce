"""The form of a trial as a page draws it: made of the fields of the study, with letters as they are shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import own_letter
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.records import Item
from vidence.study.forms import is_asked, options_of
from vidence.study.progress import Trial
from vidence.study.study import Field, PlannedTrial, Study

MOST_SIGNS: Final = 10_000
_MOST_ON_A_SCALE: Final = 11
_PAIR: Final = ("The first", "The second", "Neither is better")
"""How the values of `forms.PAIR` are called on the page."""
_HINTS: Final = {
    "scale": "A whole number from {} to {}",
    "span": "Two times in seconds, such as 1.5-3.25",
    "quote": "Copy the text exactly",
    "verdicts": "For each condition right, wrong, partial or not reached, separated by semicolons",
}
_LINES: Final = {"text": 4, "answer": 3, "quote": 3, "verdicts": 2}


@dataclass(frozen=True, kw_only=True)
class FormField:
    """A field of the form of a trial; `options` are their value, their mark and their words, if any.

    `is_fixed` cannot be changed any more; `freezes` is sent before the fields behind it are on the page.
    """

    name: str
    title: str
    value: str
    options: tuple[tuple[str, str, str], ...] = ()
    layout: str = "list"
    hint: str = ""
    lines: int = 1
    needs: str = ""
    is_fixed: bool = False
    is_optional: bool = False
    freezes: bool = False

    @property
    def needs_words(self) -> str:
        """When the field is to be filled in, for pages without scripts."""
        name, _, value = self.needs.partition("=")
        return f"Only where {name} is {value}" if name else ""


@dataclass(frozen=True, kw_only=True)
class FormContext:
    """What a form is drawn with: the study, the choices as they are shown, and the kinds of errors."""

    study: Study
    choices: tuple[str, ...]
    kinds: Taxonomy | None


def fields_of(step: Trial, values: Mapping[str, str], context: FormContext) -> Iterator[FormField]:
    """The fields of a trial up to the first that is to be frozen.

    Args:
        step: the trial.
        values: what is filled in, letters in the item's own order.
        context: what the form is drawn with.
    """
    study, planned, values = context.study, step.planned, {**values, **step.frozen}
    form = study.fields_of(study.phase(planned.phase))
    answers = {field.name for field in form if field.kind == "answer"}
    for field in form:
        name, _, wanted = field.needs.partition("=")
        if not is_asked(field, values) and (name in step.frozen or field.is_frozen):
            continue
        needs = f"{name}={shown_letter(planned, wanted)}" if name in answers else field.needs
        value = values.get(field.name, "")
        options = _options(field, context)
        is_fixed = field.name in step.frozen
        yield FormField(
            name=field.name,
            title=field.title or field.name,
            value=shown_letter(planned, value) if field.kind == "answer" and options else value,
            options=options,
            layout="scale" if field.kind == "scale" else "list",
            hint=_HINTS.get(field.kind, "").format(field.low, field.high) if not options else "",
            lines=_LINES.get(field.kind, 1),
            needs="" if name in step.frozen else needs,
            is_fixed=is_fixed,
            is_optional=field.is_optional,
            freezes=field.is_frozen and not is_fixed,
        )
        if field.is_frozen and not is_fixed:
            return


def _options(field: Field, context: FormContext) -> tuple[tuple[str, str, str], ...]:
    if field.kind == "scale" and field.high - field.low >= _MOST_ON_A_SCALE:
        return ()
    letters = [chr(ord("A") + i) for i in range(len(context.choices))]
    values = options_of(field, letters=letters, taxonomy=context.kinds)
    called = {
        "answer": context.choices,
        "kinds": [kind.title for kind in context.kinds.labels] if context.kinds else (),
        "pair": _PAIR,
    }
    marks = [f"{letter}." for letter in letters] if field.kind == "answer" else [""] * len(values)
    return tuple(zip(values, marks, called.get(field.kind, values), strict=True))


def entered(study: Study, planned: PlannedTrial, sent: Mapping[str, str]) -> dict[str, str]:
    """What a browser sent for the fields of a trial, with letters in the item's own order.

    Raises:
        UsageError: a text is too long.
    """
    values = {}
    for field in study.fields_of(study.phase(planned.phase)):
        value = sent.get(field.name, "").replace("\r\n", "\n")
        if len(value) > MOST_SIGNS:
            raise UsageError(
                f"{field.title or field.name}: {len(value):,} characters; {MOST_SIGNS:,} at most"
            )
        is_letter = field.kind == "answer" and len(value) == 1
        values[field.name] = own_letter(value, planned.choice_order) if is_letter else value
    return {name: value for name, value in values.items() if value}


def shown_letter(planned: PlannedTrial, own: str) -> str:
    """The letter under which a choice stands on the page; the inverse of `own_letter`.

    >>> trial = PlannedTrial(place=0, phase="p", item_id="q", condition="none", choice_order=(2, 0, 1))
    >>> shown_letter(trial, "C")
    'A'
    """
    place = ord(own) - ord("A") if len(own) == 1 else -1
    if place not in planned.choice_order:
        return own
    return chr(ord("A") + planned.choice_order.index(place))


def told_answers(
    study: Study, planned: PlannedTrial, item: Item, *, values: Mapping[str, str]
) -> tuple[tuple[str, str, str], ...]:
    """The answers of a trial of practice as they stood on the page: title, what was given, what is right."""
    asked = item.with_order(planned.choice_order)

    def words(letter: str) -> str:
        place = ord(letter) - ord("A") if len(letter) == 1 else -1
        return f"{letter}. {asked.choices[place]}" if 0 <= place < len(asked.choices) else letter

    return tuple(
        (
            field.title or field.name,
            words(shown_letter(planned, values.get(field.name, "")))
            if asked.choices
            else values.get(field.name, ""),
            words(asked.answer) if asked.choices else asked.answer,
        )
        for field in study.fields_of(study.phase(planned.phase))
        if field.kind == "answer" and asked.answer
    )
