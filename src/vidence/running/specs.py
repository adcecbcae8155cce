"""Specs as plans keep them: how replies are drawn apart, and the paths of files whole."""

from pathlib import Path
from urllib.parse import unquote

import msgspec

from vidence.catalog import Spec, find, names
from vidence.errors import UsageError
from vidence.running.plan import Plan
from vidence.selection._seeking import FIRST_OF_SPEC

_DRAWN = {"temperature": float, "top_p": float, "max_tokens": int}
# Paths with these could not be read back out of a spec.
_MARKS = "?"


def without_sampling(spec: Spec) -> tuple[str, dict[str, object]]:
    """The spec of a model without what says how replies are drawn, and that: fields of `Sampling`.

    Raises:
        UsageError: a value that is no number.
    """
    drawn: dict[str, object] = {}
    kept: list[str] = []
    for key, text in spec.options.items():
        if key not in _DRAWN:
            kept.append(f"{key}={_escaped(text)}")
            continue
        try:
            drawn[key] = _DRAWN[key](text)
        except ValueError as error:
            raise UsageError(f"{key}={text!r} in the model spec is not a number") from error
    head = f"{spec.name}:{spec.argument}" if spec.argument else spec.name
    return head + ("?" + "&".join(kept) if kept else ""), drawn


def with_whole_paths(plan: Plan) -> Plan:
    """The plan with the whole paths of the files that its specs name: a run is taken up from any folder."""
    return msgspec.structs.replace(
        plan,
        model=whole_model(plan.model),
        judge_models=tuple(map(whole_model, plan.judge_models)),
        selector=whole_selector(plan.selector),
    )


def whole_model(spec_text: str) -> str:
    """The spec of a model that is read from files here, with their whole path; others as they are.

    >>> whole_model("openai:gpt-4.1"), whole_model("replay:/said/answers.jsonl?id=key")
    ('openai:gpt-4.1', 'replay:/said/answers.jsonl?id=key')
    """
    head, mark, query = spec_text.partition("?")
    name, _, argument = head.partition(":")
    if name not in names("model") or not getattr(find("model", name), "READS_FILES", False):
        return spec_text
    return f"{name}:{_whole(argument)}{mark}{query}" if argument else spec_text


def whole_selector(spec_text: str) -> str:
    """The spec of a selector with the whole paths of its file of scores and of its embedder's weights.

    >>> whole_selector("aks?mode=official&scores=/s/scores.jsonl")
    'aks?mode=official&scores=/s/scores.jsonl'
    """
    head, mark, query = spec_text.partition("?")
    name, colon, argument = head.partition(":")
    embedder, _, weights = argument.partition(":")
    if argument.startswith(FIRST_OF_SPEC):
        argument = FIRST_OF_SPEC + whole_model(argument.removeprefix(FIRST_OF_SPEC))
    elif weights and embedder in names("embedder"):
        argument = f"{embedder}:{_whole(weights)}"
    pairs = [pair.partition("=") for pair in filter(None, query.split("&"))]
    whole = [
        f"{key}={_escaped(str(Path(unquote(value)).resolve()))}"
        if key == "scores" and value
        else f"{key}{equals}{value}"
        for key, equals, value in pairs
    ]
    return f"{name}{colon}{argument}{mark}{'&'.join(whole)}"


def _whole(path: str) -> str:
    """The path from the root where there is such a file or folder; otherwise as it was written."""
    place = Path(path)
    whole = str(place.absolute())
    return whole if place.exists() and _MARKS not in whole else path


def _escaped(text: str) -> str:
    """A value that `parse_spec` reads as it is."""
    return text.replace("%", "%25").replace("&", "%26")
