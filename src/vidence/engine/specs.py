"""Specs as plans keep them: how replies are drawn apart, and the paths of files whole."""

from pathlib import Path
from urllib.parse import unquote

import msgspec

from vidence.ask.selection.seeking import FIRST_OF_SPEC
from vidence.catalog import Spec, find, names
from vidence.engine.plan import Plan
from vidence.errors import UsageError

_DRAWN = {"temperature": float, "top_p": float, "max_tokens": int}
_MARK = "?"  # begins the options of a spec, so that no path before them can hold it
# Models that read a file; all others that read anything here read folders.
_OF_ONE_FILE = ("replay",)


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

    Raises:
        UsageError: the whole path holds a ``?``.

    >>> whole_model("openai:gpt-4.1"), whole_model("replay:/said/answers.jsonl?id=key")
    ('openai:gpt-4.1', 'replay:/said/answers.jsonl?id=key')
    """
    head, mark, query = spec_text.partition("?")
    name, _, argument = head.partition(":")
    if name not in names("model") or not getattr(find("model", name), "READS_FILES", False):
        return spec_text
    if not argument:
        return spec_text
    return f"{name}:{_whole(argument, is_folder=name not in _OF_ONE_FILE)}{mark}{query}"


def whole_selector(spec_text: str) -> str:
    """The spec of a selector with the whole paths of its scores, its embedder's weights, and of its models.

    Raises:
        UsageError: a whole path holds a ``?`` where options begin with it.

    >>> whole_selector("aks?mode=official&scores=/s/scores.jsonl")
    'aks?mode=official&scores=/s/scores.jsonl'
    """
    head, mark, query = spec_text.partition("?")
    name, colon, argument = head.partition(":")
    embedder, _, weights = argument.partition(":")
    if argument.startswith(FIRST_OF_SPEC):
        argument = _whole_named(argument)
    elif weights and embedder in names("embedder"):
        argument = f"{embedder}:{_whole(weights, is_folder=True)}"
    pairs = [pair.partition("=") for pair in filter(None, query.split("&"))]
    whole = [f"{key}{equals}{_whole_value(key, value)}" for key, equals, value in pairs]
    return f"{name}{colon}{argument}{mark}{'&'.join(whole)}"


def _whole_value(key: str, value: str) -> str:
    """The value of a selector's option with whole paths, as a spec holds it."""
    text = unquote(value)
    if key == "scores" and text:
        return _escaped(str(Path(text).resolve()))
    if key == "objects" and text.startswith(FIRST_OF_SPEC):
        return _escaped(_whole_named(text))
    return value


def _whole_named(text: str) -> str:
    """``model:SPEC`` with the whole path of what that model is read from."""
    return FIRST_OF_SPEC + whole_model(text.removeprefix(FIRST_OF_SPEC))


def _whole(path: str, *, is_folder: bool) -> str:
    """The path from the root where there is such a file or folder; otherwise as it was written.

    Raises:
        UsageError: the whole path holds a ``?``, so that no spec can name it.
    """
    place = Path(path)
    try:
        is_there = place.is_dir() if is_folder else place.exists()
    except OSError:  # too long for a path, or in a folder that is closed: whoever opens it says so
        is_there = False
    if not is_there:
        return path
    whole = str(place.resolve())
    if _MARK in whole:
        raise UsageError(
            f"{path} is {whole}, and a spec cannot hold a path with '?', where its options begin; rename "
            "the folder, or put the files where no name has one"
        )
    return whole


def _escaped(text: str) -> str:
    """A value that `parse_spec` reads as it is."""
    return text.replace("%", "%25").replace("&", "%26")


def what_is_asked(plan: Plan) -> Plan:
    """A plan without the fields that change how fast or how dear a run is, but no answer."""
    return msgspec.structs.replace(
        with_whole_paths(plan),
        concurrency=1,
        timeout_s=1,
        attempts=1,
        decode_timeout_s=1,
        max_cost=None,
        price_in=0,
        price_out=0,
        judge_price_in=0,
        judge_price_out=0,
        memory="",
    )
