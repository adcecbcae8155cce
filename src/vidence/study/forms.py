"""Forms of studies: allowed values of fields, and validation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vidence.explain.errors.labels import UncheckedLabel, checked, quote_fault, verdicts_of
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.study.replies import ShownTrial
from vidence.study.study import Field

PAIR: Final = ("first", "second", "tie")
"""What a field of the kind ``pair`` can be."""
_SPAN = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


def options_of(
    field: Field, *, letters: Sequence[str] = (), taxonomy: Taxonomy | None = None
) -> tuple[str, ...]:
    """Return all allowed values of a field; empty if any text is allowed.

    Args:
        field: the field.
        letters: those of the item's choices, in its own order.
        taxonomy: the kinds of errors, where the study labels them.
    """
    match field.kind:
        case "options":
            return field.options
        case "scale":
            return tuple(map(str, range(field.low, field.high + 1)))
        case "kinds":
            return tuple(kind.name for kind in taxonomy.labels) if taxonomy else ()
        case "pair":
            return PAIR
        case "answer":
            return tuple(letters)
        case _:
            return ()


def is_asked(field: Field, values: Mapping[str, str]) -> bool:
    """Return whether a field is shown, given the values so far and its `needs`."""
    name, _, wanted = field.needs.partition("=")
    return not name or values.get(name, "") == wanted


def span_of(text: str) -> tuple[float, float] | None:
    """Parse a span into two times in seconds; None if it is no span.

    >>> span_of("1.5-3.25"), span_of("3-1")
    ((1.5, 3.25), None)
    """
    match = _SPAN.fullmatch(text.replace(" ", ""))
    if match is None or float(match[1]) >= float(match[2]):
        return None
    return float(match[1]), float(match[2])


def faults_of(
    fields: Sequence[Field],
    values: Mapping[str, str],
    *,
    shown: ShownTrial,
    letters: Sequence[str] = (),
    taxonomy: Taxonomy | None = None,
) -> tuple[str, ...]:
    """Validate a filled-in form; return one sentence per problem.

    Args:
        fields: those that the phase asks for.
        values: what is filled in, by their names.
        shown: what the page shows: quotes are words of its replies.
        letters: those of the item's choices, in its own order.
        taxonomy: the kinds of errors, where the study labels them.
    """
    known = [field.name for field in fields]
    unknown = [f"{name}: no field; expected {', '.join(known)}" for name in values if name not in known]
    options = {field.name: options_of(field, letters=letters, taxonomy=taxonomy) for field in fields}
    faults = [
        *unknown,
        *(fault for field in fields for fault in _faults(field, values, options, shown=shown)),
    ]
    label = label_in(fields, values)
    if taxonomy and label.kind and not faults:
        read = checked(label, words=shown.words, n_conditions=len(shown.conditions), taxonomy=taxonomy)
        faults += [read] if isinstance(read, str) else []
    return tuple(faults)


def label_in(fields: Sequence[Field], values: Mapping[str, str], *, repeat: int = 0) -> UncheckedLabel:
    """Return the error label in a filled-in form; its kind is empty without a label.

    The first two fields of the kind ``kinds`` are the kind and the second, those of ``quote`` and
    ``verdicts`` what they are called; ``evidence`` and ``step`` are so by their names.
    """
    of: dict[str, list[str]] = {}
    for field in fields:
        of.setdefault(field.kind, []).append(values.get(field.name, "").strip())
    kind, second = (*of.get("kinds", ()), "", "")[:2]
    step = values.get("step", "")
    return UncheckedLabel(
        kind=kind,
        second=second,
        quote=(*of.get("quote", ()), "")[0],
        verdicts=(*of.get("verdicts", ()), "")[0],
        evidence=values.get("evidence", ""),
        step=int(step) if step.isdecimal() else None,
        repeat=repeat,
    )


def _faults(
    field: Field, values: Mapping[str, str], options: Mapping[str, Sequence[str]], *, shown: ShownTrial
) -> Iterator[str]:
    value, name = values.get(field.name, "").strip(), field.name
    if not is_asked(field, values):
        if value:
            yield f"{name}: filled in, but asked only with {field.needs}; leave it empty"
    elif not value:
        if not field.is_optional:
            yield f"{name}: empty; fill it in"
    elif options[name] and value not in options[name]:
        many = field.kind == "scale" and len(options[name]) > 5
        expected = f"{field.low} to {field.high}" if many else ", ".join(options[name])
        yield f"{name}: {value!r}; expected {'a whole number from ' if many else 'one of '}{expected}"
    elif field.kind == "quote" and (fault := quote_fault(value, shown.words)):
        yield f"{name}: {fault}"
    elif field.kind == "verdicts" and isinstance(read := verdicts_of(value, len(shown.conditions)), str):
        yield f"{name}: {read}"
    elif field.kind == "span" and span_of(value) is None:
        yield f"{name}: {value!r}; expected two times in seconds, the later one second, such as 1.5-3.25"
