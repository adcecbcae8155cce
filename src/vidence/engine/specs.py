"""Specs as plans keep them: how replies are sampled apart, and the paths of files whole."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import msgspec

from vidence.ask.files import json_or_none
from vidence.ask.models.http import HttpSettings, check_address, read_key
from vidence.ask.models.keys import check_no_key, looks_like_key
from vidence.ask.models.weights import WeightSettings
from vidence.ask.selection.search import FIRST_OF_SPEC
from vidence.catalog import (
    SELF,
    Spec,
    argument_field,
    names,
    parse_spec,
    plain_type,
    settings_type,
    spelled_out,
)
from vidence.engine.plan import Plan, PlanOverrides
from vidence.errors import UsageError
from vidence.records import Record

_SAMPLED = {"temperature": float, "top_p": float, "max_tokens": int}
_PASSED_ON = "embedder."  # begins the options that a selector passes on (`ScoredSettings`)
_ENDINGS = (".gz", ".jsonl", ".json", ".csv")  # of files of replies
_MARK = "?"  # begins the options of a spec, so that no path before them can hold it


def without_sampling(spec: Spec) -> tuple[str, dict[str, float]]:
    """The spec of a model without what says how replies are sampled, and that: fields of `Sampling`.

    Raises:
        UsageError: a value that is no number.
    """
    sampled: dict[str, float] = {}
    kept: list[str] = []
    for key, text in spec.options.items():
        if key not in _SAMPLED:
            kept.append(f"{key}={_escaped(text)}")
            continue
        try:
            sampled[key] = _SAMPLED[key](text)
        except ValueError as error:
            raise UsageError(f"{key}={text!r} in the model spec is not a number") from error
    head = f"{spec.name}:{spec.argument}" if spec.argument else spec.name
    return head + ("?" + "&".join(kept) if kept else ""), sampled


def named_specs(kind: str, spec_text: str, *, base: str = "") -> Iterator[tuple[str, Spec]]:
    """A spec, and the models and embedders that it names, each with its kind.

    Args:
        kind: of the spec.
        spec_text: the spec.
        base: the spec of the plan's model, which that of a further one may change by ``+key=value``.

    >>> [(kind, spec.name) for kind, spec in named_specs("selector", "frag-scores:model:openai:m")]
    [('selector', 'frag-scores'), ('model', 'openai')]
    """
    spec = parse_spec(spec_text)
    yield kind, spec
    if kind == "strategy" and spec.options:
        for text in _models_of(spec).values():
            yield "model", parse_spec(model_spec(base, text))
    if kind != "selector" or not (spec.argument or spec.options):
        return
    passed = {key: value for key, value in spec.options.items() if key.startswith(_PASSED_ON)}
    for option, text in (("embedder", spec.argument), *spec.options.items()):
        inner_kind, whole = _inner(text)
        if inner_kind:
            inner = parse_spec(whole)
            own = {key.removeprefix(_PASSED_ON): value for key, value in passed.items()}
            options = {**inner.options, **(own if option == "embedder" else {})}
            yield inner_kind, Spec(name=inner.name, argument=inner.argument, options=options)


def models_asked(model: str, *, strategy: str, selector: str) -> tuple[str, ...]:
    """The specs of all models whose replies a plan pays for as answers: its own first, then further ones."""
    further = _models_of(parse_spec(strategy)).values()
    options = parse_spec(selector)
    inner = [_inner(text) for text in (options.argument, *options.options.values())]
    return (
        model,
        *(model_spec(model, text) for text in further),
        *(s for kind, s in inner if kind == "model"),
    )


def _models_of(spec: Spec) -> dict[str, str]:
    """The specs of the models that a strategy names, by its options; without the model under test."""
    settings = settings_type("strategy", spec.name) if spec.name in names("strategy") else None
    wanted = fields_of(settings, "is_model") if settings is not None else frozenset()
    return {key: text for key, text in spec.options.items() if key in wanted and text not in ("", SELF)}


def _inner(text: str) -> tuple[str, str]:
    """The kind and the spec of what a selector names in a text; two empty texts where it names nothing."""
    if text.startswith(FIRST_OF_SPEC):
        return "model", text.removeprefix(FIRST_OF_SPEC)
    return ("embedder", text) if text.partition(":")[0] in names("embedder") else ("", "")


def check_secrets(kind: str, spec_text: str, *, base: str = "") -> None:
    """See that a spec can be shown and stored: no part of it is, or may hold, a key; `base` as above.

    Raises:
        UsageError: it cannot; the message shows nothing of what may be a key.
    """
    for inner, spec in named_specs(kind, spec_text, base=base):
        known = settings_type(inner, spec.name) if spec.name in names(inner) else None
        if known is not None and issubclass(known, HttpSettings):
            if spec.options.get("base_url"):
                check_address(spec.options["base_url"], stops_before=())
            own, given = known.own_keys, spec.options.get("api_key_env")
            for variable in (given,) if given else own:
                read_key(variable, example=own[0] if own else "SERVER_KEY")
            # Where `extra` is no JSON object, what reads the options says so.
            check_no_key(spec.name, json_or_none(spec.options.get("extra", ""), dict[str, object]) or {})
        if any(map(looks_like_key, (spec.argument, *spec.options.values()))):
            raise UsageError(
                f"the {inner} {spec.name!r} is given what looks like a key (not shown); put the key into an "
                "environment variable, and name that with api_key_env=NAME"
            )


def check_overrides(given: PlanOverrides, *, model: str) -> None:
    """`check_secrets` for the specs among overrides of a plan that asks `model`, and for its name."""
    for judge in given.get("judge_models") or ():
        check_secrets("model", judge)
    parts = {kind: given.get(kind) for kind in ("selector", "strategy", "parser")}
    for kind, spec in parts.items():
        if isinstance(spec, str):
            check_secrets(kind, spec, base=model)
    if looks_like_key(given.get("name") or ""):
        raise UsageError("the name of the run looks like a key (not shown); it would stand in every table")


def with_whole_paths(plan: Plan) -> Plan:
    """The plan with the whole paths of the files that its specs name: a run is taken up from any folder."""
    return msgspec.structs.replace(
        plan,
        benchmark=whole_spec("benchmark", plan.benchmark),
        model=whole_spec("model", plan.model),
        judge_models=tuple(whole_spec("model", spec) for spec in plan.judge_models),
        selector=whole_spec("selector", plan.selector),
        strategy=whole_spec("strategy", plan.strategy),
        parser=whole_spec("parser", plan.parser),
        text_parser=whole_spec("parser", plan.text_parser),
    )


def whole_spec(kind: str, spec_text: str) -> str:
    """A spec with whole paths where its thing takes the name of a file (`catalog.FilePath`).

    An argument stays as it is where there is no such file, since it may name something on a hub. The models
    and embedders that a selector names are specs themselves.

    Raises:
        UsageError: the whole path holds a ``?``.

    >>> whole_spec("model", "openai:gpt-4.1"), whole_spec("model", "replay:/said/answers.jsonl?id=key")
    ('openai:gpt-4.1', 'replay:/said/answers.jsonl?id=key')
    """
    head, mark, query = spelled_out(spec_text).partition("?")
    name, colon, argument = head.partition(":")
    settings = settings_type(kind, name) if name in names(kind) else None
    if settings is None:
        return spec_text
    paths, codes = fields_of(settings, "is_path"), fields_of(settings, "is_code")
    models = fields_of(settings, "is_model")
    if argument and argument_field(settings) in codes:
        argument = _whole_code(argument)
    elif argument and argument_field(settings) in paths:
        argument = _whole_argument(argument)
    elif argument and kind == "selector":
        argument = _whole_inner(argument)
    pairs = []
    for pair in filter(None, query.split("&")):
        key, equals, value = pair.partition("=")
        text = unquote(value)
        if key in codes:
            whole = _whole_code(text)
        elif key in models:
            whole = text if text == SELF or text.startswith("+") else whole_spec("model", text)
        else:
            whole = _whole_inner(text) if kind == "selector" else text
            if key in paths and text:
                whole = str(Path(text).resolve())
        pairs.append(f"{key}{equals}{value if whole == text else _escaped(whole)}")
    return f"{name}{colon}{argument}{mark}{'&'.join(pairs)}"


def _whole_inner(text: str) -> str:
    """The text with the whole path of the model or embedder that a selector names in it."""
    inner, spec_text = _inner(text)
    return text.removesuffix(spec_text) + whole_spec(inner, spec_text) if inner else text


def fields_of(settings: type[Record], message: str) -> frozenset[str]:
    """The fields of a record of settings whose types say something of themselves, such as ``is_path``."""
    return frozenset(
        field.name for field in msgspec.structs.fields(settings) if plain_type(field.type)[1].get(message)
    )


def code_file(argument: str) -> str:
    """The file in ``FILE.py:NAME``; empty for a function that is in no file.

    >>> code_file("models.py:answer"), code_file("answer@1f0c5e")
    ('models.py', '')
    """
    path, colon, _ = argument.rpartition(":")
    file = path if colon else argument
    return file if file.endswith(".py") else ""


def _whole_code(argument: str) -> str:
    path = code_file(argument)
    return _whole_argument(path) + argument.removeprefix(path) if path else argument


def _whole_argument(path: str) -> str:
    """The path from the root where there is such a file or folder; otherwise as it was written.

    Raises:
        UsageError: the whole path holds a ``?``, so that no spec can name it.
    """
    place = Path(path)
    try:
        is_there = place.exists()
    except OSError:  # too long for a path, or in a folder that is closed: whoever opens it says so
        is_there = False
    if not is_there:
        return path
    whole = str(place.resolve())
    if _MARK in whole:
        raise UsageError(f"{path} is {whole}, and no spec can hold a path with '?'; rename or move it")
    return whole


def _escaped(text: str) -> str:
    """A value that `parse_spec` reads as it is."""
    return text.replace("%", "%25").replace("&", "%26")


# What changes no answer: the name of a run, its speed and its cost. The values are part of digests.
_NO_ANSWER: Mapping[str, object] = {
    **dict.fromkeys(("name", "memory"), ""),
    **dict.fromkeys(("batch", "media_inside"), False),
    **dict.fromkeys(("patience_s", "price_in", "price_out", "judge_price_in", "judge_price_out"), 0),
    **dict.fromkeys(("concurrency", "batch_poll_s", "timeout_s", "attempts", "decode_timeout_s"), 1),
    **dict.fromkeys(("requests_per_minute", "tokens_per_minute", "max_cost", "listed", "judge_listed")),
}


def what_is_asked(plan: Plan) -> Plan:
    """A plan without what it is called, and without what changes its speed or cost but no answer."""
    return msgspec.structs.replace(with_whole_paths(plan), **_NO_ANSWER)


def differing(earlier: Plan, now: Plan) -> dict[str, tuple[object, object]]:
    """The fields in which two plans ask otherwise, each with both values; `sampling` field by field.

    What the fields hold is as in ``plan.toml``; what changes no answer is left out (`what_is_asked`).
    """
    before, after = (_flat(what_is_asked(plan)) for plan in (earlier, now))
    return {name: (value, after[name]) for name, value in before.items() if value != after[name]}


def _flat(plan: Plan) -> dict[str, object]:
    built: dict[str, object] = msgspec.to_builtins(plan)
    sampling: dict[str, object] = msgspec.to_builtins(plan.sampling)
    del built["sampling"]
    return built | {f"sampling.{name}": value for name, value in sampling.items()}


def short_name(model: str, *, with_provider: bool = False) -> str:
    """A model without its options and folders, short enough for a table.

    Who serves it is left out where what follows says enough: it is the name of a checkpoint.

    >>> short_name("openai:Qwen/Qwen2.5-VL-7B?base_url=http://localhost:8000/v1"), short_name("scripted:A")
    ('Qwen2.5-VL-7B', 'scripted:A')
    >>> short_name("replay:said/human.jsonl?id=key"), short_name("gemini:g-2", with_provider=True)
    ('replay:human', 'gemini:g-2')
    """
    spec = parse_spec(model)
    argument = spec.argument.rstrip("/").rpartition("/")[2]
    for ending in _ENDINGS:
        argument = argument.removesuffix(ending)
    if not argument:
        return spec.name
    settings = settings_type("model", spec.name) if spec.name in names("model") else None
    is_checkpoint = settings is not None and issubclass(settings, HttpSettings | WeightSettings)
    return argument if is_checkpoint and not with_provider else f"{spec.name}:{argument}"


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Short names of models, without the address of their server; those that share a name are numbered.

    >>> short_names(["openai:m?base_url=http://a/v1", "", "openai:m?base_url=http://b/v1"]).values()
    dict_values(['m', 'not named', 'm (2)'])
    """
    seen, values = Counter[str](), dict[str, str]()
    for model in dict.fromkeys(models):
        name = short_name(model) if model else "not named"
        seen[name] += 1
        values[model] = f"{name} ({seen[name]})" if seen[name] > 1 else name
    return values


def label(plan: Plan) -> str:
    """What tables, figures and pages call the run of a plan: its name, or a short one of its model."""
    return plan.name or short_name(plan.model)


def model_spec(base: str, spec: str) -> str:
    """The spec of another model; ``+key=value`` is the plan's own model with this option.

    >>> model_spec("openai:gpt-5?api=chat", "+thinking_budget=1024")
    'openai:gpt-5?api=chat&thinking_budget=1024'
    """
    if not spec.startswith("+"):
        return spec
    head, _, query = base.partition("?")
    changed = dict(pair.partition("=")[::2] for pair in filter(None, query.split("&")))
    changed |= dict(pair.partition("=")[::2] for pair in spec[1:].split("&"))
    return head + "?" + "&".join(f"{key}={value}" for key, value in changed.items())
