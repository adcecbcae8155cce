"""Specs as plans store them: sampling options moved out, file paths made absolute."""

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
    """Split a model's spec into the spec without sampling options, and these: fields of `Sampling`.

    Raises:
        UsageError: a value is not a number.
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
    """Yield a spec, and the models and embedders that it names, each with its kind.

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
    """Return the specs of all models whose replies a plan pays for as answers, its own first."""
    further = _models_of(parse_spec(strategy)).values()
    options = parse_spec(selector)
    inner = [_inner(text) for text in (options.argument, *options.options.values())]
    return (
        model,
        *(model_spec(model, text) for text in further),
        *(s for kind, s in inner if kind == "model"),
    )


def _models_of(spec: Spec) -> dict[str, str]:
    """Return the specs of the models that a strategy names, by option, without the model under test."""
    settings = settings_type("strategy", spec.name) if spec.name in names("strategy") else None
    wanted = fields_of(settings, "is_model") if settings is not None else frozenset()
    return {key: text for key, text in spec.options.items() if key in wanted and text not in ("", SELF)}


def _inner(text: str) -> tuple[str, str]:
    """Return kind and spec of the thing that a selector's text names; empty if there is none."""
    if text.startswith(FIRST_OF_SPEC):
        return "model", text.removeprefix(FIRST_OF_SPEC)
    return ("embedder", text) if text.partition(":")[0] in names("embedder") else ("", "")


def check_secrets(kind: str, spec_text: str, *, base: str = "") -> None:
    """Check that a spec can be shown and stored: no part is, or may contain, a key; `base` as above.

    Raises:
        UsageError: it cannot; the message does not repeat any possible key.
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
    """Run `check_secrets` on the specs among a plan's overrides, and on its name."""
    for judge in given.get("judge_models") or ():
        check_secrets("model", judge)
    parts = {kind: given.get(kind) for kind in ("selector", "strategy", "parser")}
    for kind, spec in parts.items():
        if isinstance(spec, str):
            check_secrets(kind, spec, base=model)
    if looks_like_key(given.get("name") or ""):
        raise UsageError("the name of the run looks like a key (not shown); it would stand in every table")


def with_whole_paths(plan: Plan) -> Plan:
    """Make the file paths in a plan's specs absolute, so that the run can be resumed from any folder."""
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
    """Make the path in a spec absolute if it takes a file name (`catalog.FilePath`).

    An argument that is not an existing file is kept, because it may be a name on a hub. Models and embedders
    that a selector names are specs themselves.

    Raises:
        UsageError: the absolute path contains a ``?``.

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
    """Make the path of the model or embedder that a selector names absolute."""
    inner, spec_text = _inner(text)
    return text.removesuffix(spec_text) + whole_spec(inner, spec_text) if inner else text


def fields_of(settings: type[Record], message: str) -> frozenset[str]:
    """Return the settings fields whose types carry this message, such as ``is_path``."""
    return frozenset(
        field.name for field in msgspec.structs.fields(settings) if plain_type(field.type)[1].get(message)
    )


def code_file(argument: str) -> str:
    """Return the file in ``FILE.py:NAME``; empty for a function without a file.

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
    """Return the absolute path if the file or folder exists; otherwise the text as written.

    Raises:
        UsageError: the absolute path contains a ``?``, which a spec cannot express.
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
    """Escape a value for `parse_spec`."""
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
    """Return a plan without its label and without settings that affect only speed or cost."""
    return msgspec.structs.replace(with_whole_paths(plan), **_NO_ANSWER)


def differing(earlier: Plan, now: Plan) -> dict[str, tuple[object, object]]:
    """Return the fields in which two plans differ, with both values; `sampling` field by field.

    Values are as in ``plan.toml``; fields that do not affect answers are ignored (`what_is_asked`).
    """
    before, after = (_flat(what_is_asked(plan)) for plan in (earlier, now))
    return {name: (value, after[name]) for name, value in before.items() if value != after[name]}


def _flat(plan: Plan) -> dict[str, object]:
    built: dict[str, object] = msgspec.to_builtins(plan)
    sampling: dict[str, object] = msgspec.to_builtins(plan.sampling)
    del built["sampling"]
    return built | {f"sampling.{name}": value for name, value in sampling.items()}


def short_name(model: str, *, with_provider: bool = False) -> str:
    """Return a model's name without options and folders, short enough for a table.

    The provider is left out if the rest is clear, as the name of a checkpoint is.

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
    """Return short names of models, without server addresses; duplicates are numbered.

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
    """Return a run's label for tables, figures and pages: its name, or its model's short name."""
    return plan.name or short_name(plan.model)


def model_spec(base: str, spec: str) -> str:
    """Return another model's spec; ``+key=value`` is the plan's own model with this option.

    >>> model_spec("openai:gpt-5?api=chat", "+thinking_budget=1024")
    'openai:gpt-5?api=chat&thinking_budget=1024'
    """
    if not spec.startswith("+"):
        return spec
    head, _, query = base.partition("?")
    changed = dict(pair.partition("=")[::2] for pair in filter(None, query.split("&")))
    changed |= dict(pair.partition("=")[::2] for pair in spec[1:].split("&"))
    return head + "?" + "&".join(f"{key}={value}" for key, value in changed.items())
