"""From a user's request to a plan, and from a plan to everything a run needs."""

import functools
import hashlib
import re
import stat
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

import msgspec
import numpy as np

from vidence.ask.fetching.address import HubAddress, data_place, hub_cache, is_address, pinned
from vidence.ask.mapping.mapping import whole_map
from vidence.ask.models.http import HttpModel
from vidence.ask.models.prices import listed_prices
from vidence.ask.prompting.compose import Prompter
from vidence.ask.prompting.templates import Templates
from vidence.catalog import Spec, create, parse_spec, settings_type
from vidence.contracts import (
    Benchmark,
    ConstantModel,
    Loaded,
    Model,
    RecordedModel,
    Scorer,
    Selector,
    Strategy,
    View,
)
from vidence.engine.environment import cache_root
from vidence.engine.get import benchmark_at, command_for, fetched_from, media_folder, noted
from vidence.engine.plan import (
    MUST_AGREE,
    Facts,
    Plan,
    PlanOverrides,
    SamplingFlags,
    Stratum,
    machine_facts,
    read_overrides,
)
from vidence.engine.samples import StudyDraw, drawn, no_such_tag, read_draw, read_subset, strata_met
from vidence.engine.scoring import JudgePool
from vidence.engine.specs import (
    check_overrides,
    check_secrets,
    models_asked,
    with_whole_paths,
    without_sampling,
)
from vidence.engine.views import OpenView
from vidence.errors import DataError, MissingMediaError, StoreError, UnknownNameError, UsageError, cause
from vidence.media import address as media_address
from vidence.media.address import Address, MediaPath, place
from vidence.media.encode import Encoding, Size
from vidence.media.files import files_of, located, missing, outside
from vidence.records import Item, Media, Subtitling
from vidence.text import letter_index

_MOST_LISTED = 20
_NETWORK = re.compile("(?:https?|s3|gs):|hf:/", re.IGNORECASE)  # also where a path was made of it
_OWNER_AND_NAME = re.compile(
    r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w-]*"
)  # a path with an ending is that of a file

NOBODY = "baseline:random"
"""The model in plans that ask no model."""
MOST_FOLDERS = 1000  # of one plan where it is repeated
_QUOTES = re.compile(r"\bsubtitles?\b", re.IGNORECASE)
_SAMPLED = {"model_seed": "seed", "choice_logps": "want_choice_logps"}  # fields of `Sampling`
_UNSAMPLED = dict.fromkeys(("limit", "sample", "sample_by", "subset"))


def make_plan(
    benchmark_name: str, *, data: Path | None, model: str, overrides: PlanOverrides, cache: Path | None = None
) -> Plan:
    """Return the plan for a benchmark: its paper's protocol with the user's overrides.

    Args:
        benchmark_name: a name from the catalog, or questions as for `get.benchmark_at`.
        data: the file or folder of questions, or an address ``hf:OWNER/NAME@REVISION``, which is pinned to
            its commit; None: what ``vidence get`` fetched.
        model: a model spec; its ``temperature``, ``top_p`` and ``max_tokens`` are moved to the plan's
            sampling.
        overrides: fields of `Plan` and of `Sampling` (its `seed` as ``model_seed``, because the plan has a
            seed of its own), as in `PlanOverrides`; None keeps a field.
        cache: our cache folder; None: the environment's.

    Raises:
        DataError: an address that was not fetched; the message has the command that fetches it.
        UsageError: an unknown name (the closest is suggested) or an invalid value.
    """
    check_secrets("model", model)  # before anything of it is shown or stored
    given = read_overrides(overrides)
    mapping = given.get("map") or ""
    if data is None:
        benchmark_name, data = benchmark_at(benchmark_name, is_mapped=bool(mapping))
    benchmark = benchmark_of(benchmark_name, mapping)
    split = given.pop("split", None) or benchmark.splits[0]
    usual = split if split in benchmark.protocols else next(iter(benchmark.protocols))
    protocol = given.pop("protocol", None) or usual
    if protocol not in benchmark.protocols:
        raise UnknownNameError(f"protocol of {benchmark.name}", protocol, benchmark.protocols)
    _check_values(given)
    root = cache or cache_root()
    got = noted(root, benchmark_name) if data is None else None
    place = _whole_place(got.data if got else str(data))
    if (got := got or fetched_from(root, place)) is not None:
        given.setdefault("media", got.media)
    fields = {
        "benchmark": benchmark_name,
        "data": place,
        "model": model,
        "protocol": protocol,
        "split": split,
    }
    rules = msgspec.convert(msgspec.to_builtins(benchmark.protocols[protocol]) | fields, Plan)
    return _filled(rules, model=model, given=given)


def changed_plan(
    plan: Plan, *, data: Path | None = None, model: str | None = None, overrides: PlanOverrides
) -> Plan:
    """Return a plan with other settings.

    Args:
        plan: the plan to change.
        data: other questions; None keeps them.
        model: another model, as for `make_plan`; None keeps it.
        overrides: as for `make_plan`. An empty value keeps a setting; if ``limit`` or a sample is given, it
            replaces all of these.

    Raises:
        UsageError: an unknown name, an invalid value, or a protocol, which a plan cannot change.
    """
    given = read_overrides({k: v for k, v in overrides.items() if v not in ((), {})})
    if "protocol" in given:
        raise UsageError("a plan has the rules of its protocol written out; change them one by one")
    if given.keys() & _UNSAMPLED.keys():
        plan = msgspec.structs.replace(plan, **_UNSAMPLED)
    if data is not None:
        plan = msgspec.structs.replace(plan, data=_whole_place(str(data)))
    return _filled(plan, model=model, given=given)


def _filled(plan: Plan, *, model: str | None, given: PlanOverrides) -> Plan:
    """Return the plan with another model, including sampling options in its spec, and overrides."""
    spec, sampled = plan.model, dict[str, float]()
    if model is not None:
        check_secrets("model", model)  # before anything of it is shown or stored
        spec, sampled = without_sampling(parse_spec(model))
    check_overrides(given, model=spec)
    fields = dict[str, object](given)
    names = [name for name in SamplingFlags.__struct_fields__ if name in fields]
    flags = {_SAMPLED.get(name, name): fields.pop(name) for name in names}
    for name in flags.keys() & sampled.keys():
        if flags[name] != sampled[name]:
            raise UsageError(
                f"{name} is {sampled[name]} in the model spec and {flags[name]} as a flag; give one"
            )
    # A run is taken up from any folder.
    for name in ("prompts_dir", "judge_prompts_dir", "memory", "against", "subset"):
        if fields.get(name):
            fields[name] = str(Path(str(fields[name])).resolve())
    if (media := given.get("media")) is not None:
        fields["media"] = _media_place(media) if media else None
    if places := given.get("media_at"):
        fields["media_at"] = _named_addresses(places)
    if given.get("subtitles") == "paper":
        fields["subtitles"] = _as_in_the_paper(plan)
    if (mapping := given.get("map")) is not None:
        fields["map"] = whole_map(mapping) or None
    sampling = msgspec.structs.replace(plan.sampling, **sampled, **flags)
    strategy, selector = given.get("strategy") or plan.strategy, given.get("selector") or plan.selector
    judges = given.get("judge_models") or plan.judge_models
    fields |= {
        "listed": listed_prices(models_asked(spec, strategy=strategy, selector=selector)),
        "judge_listed": listed_prices(without_sampling(parse_spec(text))[0] for text in judges),
    }
    return with_whole_paths(msgspec.structs.replace(plan, model=spec, sampling=sampling, **fields))


def _as_in_the_paper(plan: Plan) -> Subtitling:
    """Return how the plan's protocol shows subtitles, or the benchmark's first protocol that does."""
    protocols = benchmark_of(plan.benchmark, plan.map or "").protocols
    rules = (protocols[name] for name in (plan.protocol, *protocols) if name in protocols)
    names = [rule.subtitles for rule in rules if rule.subtitles != "none"]
    if not names:
        raise UsageError(
            f"--subtitles paper: no protocol of {plan.benchmark} shows any; expected none, all, shown or "
            "interleaved"
        )
    return names[0]


def _media_place(text: str) -> str:
    """Return an absolute path as `_whole_place`, or the address of remote media (`media.address`)."""
    return str(place(text)) if media_address.is_address(text) else _whole_place(text)


def _named_addresses(texts: Sequence[str]) -> tuple[str, ...]:
    for text in texts:
        if not media_address.is_address(text):
            raise UsageError(
                f"--media-at {text}: expected an address, such as s3://BUCKET; --media takes a folder"
            )
    return tuple(map(_media_place, texts))


def _whole_place(text: str) -> str:
    """Return an absolute path, so that runs resume from any folder, or an address with its commit."""
    if is_address(text) and not _NETWORK.match(text):
        return str(pinned(HubAddress.parse(text), hub_cache()))
    if _NETWORK.match(text):
        written = re.sub(":/+", "://", text, count=1)  # a path has lost one of two strokes
        raise UsageError(
            f"{media_address.redacted(written)} is an address; fetch the file and give its path (only "
            "--media takes addresses)"
        )
    if _OWNER_AND_NAME.fullmatch(text) and not Path(text).exists():
        raise DataError(
            f"there is nothing at {Path(text).resolve()}; a data set of the hub is fetched with vidence get "
            f"hf:{text}, and then named with --data hf:{text}"
        )
    return str(Path(text).resolve())


def benchmark_of(name: str, mapping: str) -> Benchmark:
    """Return the benchmark of a plan, with the mapping for files in another layout.

    Raises:
        UsageError: no such benchmark or mapping, or a benchmark with a fixed layout.
    """
    if not mapping:
        benchmark: Benchmark = create("benchmark", name)
        return benchmark
    if settings_type("benchmark", name) is None:
        raise UsageError(
            f"{name} has its own layout and takes no --map; the benchmark table reads other layouts"
        )
    mapped: Benchmark = create("benchmark", Spec(name=name, options={"map": mapping}))
    return mapped


def load_questions(plan: Plan) -> Loaded:
    """Load the questions of a plan, with the folder of their media.

    Raises:
        DataError: the data has nothing usable, or an address was not fetched.
        UsageError: the split does not exist.
    """
    benchmark = benchmark_of(plan.benchmark, plan.map or "")
    loaded = benchmark.load(data_place(plan.data), split=plan.split, strict=plan.strict)
    if plan.media is None or media_address.is_address(plan.media):
        return loaded
    return replace(loaded, media_root=media_folder(data_place(plan.media), loaded.items))


def media_root_of(plan: Plan, loaded: Loaded) -> MediaPath:
    """Return where the plan's media are: the folder of its questions, or an address.

    Raises:
        UsageError: the address is invalid.
    """
    is_remote = plan.media is not None and media_address.is_address(plan.media)
    return place(plan.media or "") if is_remote else loaded.media_root


def _check_values(given: PlanOverrides) -> None:
    """Reject settings without effect, and a reply cache in a folder that does not exist."""
    judging = {
        "--judge": given.get("judge"),
        "--set judge_panel": given.get("judge_panel"),
        "--judge-prompts-dir": given.get("judge_prompts_dir"),
    }
    for flag, value in judging.items():
        if value and not given.get("judge_models"):
            raise UsageError(f"{flag} {value} needs a judge model; add --judge-model SPEC")
    folder = Path(memory).resolve().parent if (memory := given.get("memory")) else None
    if folder is not None and not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder} for the reply memory {memory}; make it, or name another file"
        )


def open_views(views: Mapping[str, View], plan: Plan) -> dict[str, OpenView]:
    """Open the selectors of views, each selector once."""
    own = None if plan.prompts_dir is None else Path(plan.prompts_dir)
    words = Templates.load(plan.prompts, override=own)
    picture: Literal["png", "jpeg"] = "png" if plan.layout.startswith("montage") else "jpeg"
    selectors: dict[str, Selector] = {
        spec: create("selector", spec) for spec in dict.fromkeys(v.selector for v in views.values())
    }
    return {
        name: OpenView(
            rules=view,
            selector=selectors[view.selector],
            encoding=Encoding(
                size=Size.parse(view.size or plan.size), format=picture, quality=plan.jpeg_quality
            ),
            words=words,
        )
        for name, view in views.items()
    }


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """Everything that a run needs, checked before anything is asked."""

    plan: Plan
    facts: Facts
    items: Sequence[Item]
    media_root: MediaPath
    model: Model
    strategy: Strategy
    prompter: Prompter
    parser: Scorer
    text_parser: Scorer

    def parser_for(self, item: Item) -> Scorer:
        """Return an item's parser: the plan's for choices, its text parser or none for texts."""
        return self.parser if item.answer_kind == "choice" else self.text_parser

    def choice_order(self, item: Item, repeat: int) -> tuple[int, ...]:
        """Return the order in which to show choices: the item's, or one drawn for item and repeat."""
        if not self.plan.shuffle_choices or item.answer_kind != "choice":
            return ()
        return shuffled(f"{self.plan.seed}/{item.item_id}/{repeat}", len(item.choices))


@functools.lru_cache(maxsize=1 << 14)  # a study wants the same orders at each request
def shuffled(words: str, n: int) -> tuple[int, ...]:
    """Return an order of `n` choices determined by the words."""
    rng = np.random.default_rng(list(hashlib.sha256(words.encode()).digest()))
    return tuple(int(i) for i in rng.permutation(n))


def prepare(  # noqa: PLR0913 - everything that a run needs; each stands for itself
    plan: Plan,
    *,
    strategy: Strategy,
    view: OpenView,
    models: Mapping[str, Model],
    pool: JudgePool | None = None,
    now: datetime,
    cache_root: Path | None = None,
) -> PreparedRun:
    """Check all names in a plan, and load its questions.

    Args:
        plan: what to ask.
        strategy: the plan's, opened.
        view: the plan's frames, with the selector opened.
        models: the model under test as ``""``, and the selector's models by spec.
        pool: the plan's judges, if any.
        now: recorded in the facts of the run.
        cache_root: our cache folder, with the records of fetched data.

    Raises:
        DataError: the data has nothing usable; `MissingMediaError` lists missing media.
        UsageError: an unknown name or an invalid value.
    """
    benchmark: Benchmark = create("benchmark", plan.benchmark)
    model, traits = models[""], view.traits
    prompter = Prompter(
        view.words,
        style=plan.style,
        layout=plan.layout,
        frame_times=plan.frame_times,
        jpeg_quality=plan.jpeg_quality,
        subtitles=plan.subtitles,
    )
    loaded, shows_media = load_questions(plan), plan.layout == "video" or traits.needs_media
    items, notes = choose_items(loaded, plan, model=model, shows_media=shows_media)
    subset = Path(plan.subset).read_bytes() if plan.subset else b""
    more = (*_limit_notes(plan, view, model), *prompter.notes(items), *_cache_notes(items, prompter, model))
    facts = msgspec.convert(
        machine_facts()
        | (pool.facts if pool else {})
        | _origin(plan.data, cache_root)
        | _asked_with(strategy, view, models)
        | {
            "benchmark_version": benchmark.version,
            "benchmark_revision": loaded.revision,
            "content_hash": loaded.content_hash,
            "citation": benchmark.citation,
            "licence": benchmark.licence,
            "terms": benchmark.terms,
            "media_root": str(media_root_of(plan, loaded).resolve()),
            "n_items": len(loaded.items),
            "study_sha256": read_draw(Path(plan.study), StudyDraw).study_sha256 if plan.study else "",
            "subset_sha256": hashlib.sha256(subset).hexdigest() if subset else "",
            "strata": _strata(loaded.items, plan, asked=items, model=model) if plan.stratum else (),
            "n_planned": len(items) * plan.repeats,
            "notes": (*loaded.notes, *notes, *more),
            "problems": loaded.problems,
            "gaps": _gaps(loaded, items, plan, model=model),
            "started_at": now.isoformat(timespec="seconds"),
        },
        Facts,
    )
    return PreparedRun(
        plan=plan,
        facts=facts,
        items=items,
        media_root=media_root_of(plan, loaded),
        model=model,
        strategy=strategy,
        prompter=prompter,
        parser=create("parser", plan.parser),
        text_parser=create("parser", plan.text_parser),
    )


def _asked_with(strategy: Strategy, view: OpenView, models: Mapping[str, Model]) -> dict[str, object]:
    """Return, as facts, what affects requests besides the questions."""
    # What the selector's choice depends on beside its version: its file of scores, the models it asks.
    identities = (view.traits.scores_digest, *(models[spec].identity for spec in view.traits.models))
    return {
        "prompts_digest": view.words.digest,
        "selector_version": view.selector.version,
        "selector_identity": " ".join(filter(None, identities)),
        "strategy_version": strategy.version,
        "model_identity": models[""].identity,
    }


def _origin(data: str, cache_root: Path | None) -> dict[str, str]:
    """Return, as facts, where the questions were fetched; empty if they were not."""
    got = None if cache_root is None else fetched_from(cache_root, data)
    if got is None:
        return {}
    return {"release": got.release, "release_licence": got.licence, "fetched_at": got.fetched_at}


def _subtitle_notes(items: Sequence[Item], plan: Plan, media_root: MediaPath) -> tuple[str, ...]:
    """Warn if questions quote subtitles that are not shown, or if subtitles are missing."""
    if plan.subtitles == "none":
        quoting = [item for item in items if _QUOTES.search(item.question)]
        has_some = any(item.subtitles for item in quoting)
        way = "--subtitles shown shows them" if has_some else "these questions name no file of subtitles"
        n = len(quoting)
        return (f"{n} question(s) mention subtitles, which are not shown; {way}",) if n else ()
    named = sorted({item.subtitles.path for item in items if item.subtitles})
    if not named:
        return (f"--subtitles {plan.subtitles}: no question has subtitles",)
    places = (located(media_root, Media(path=path)) for path in named)
    is_there = [isinstance(place, Path) and place.is_file() for place in places]
    if all(is_there):
        return ()
    absent = named[is_there.index(False)]
    n_absent = f"{is_there.count(False)} of {len(named)} files of subtitles are not in {media_root}"
    return (f"{n_absent}, such as {absent}; their questions are asked without",)


def _limit_notes(plan: Plan, view: OpenView, model: Model) -> tuple[str, ...]:
    """Warn if the plan limits a selector that sets the number of frames itself."""
    if not view.traits.thins or not model.looks:
        return ()
    return (
        f"{plan.selector} shows at most {plan.frames} frames of a question, thinned evenly where it gives "
        "more; --frames N sets another limit",
    )


def _cache_notes(items: Sequence[Item], prompter: Prompter, model: Model) -> tuple[str, ...]:
    """Warn if text before the frames prevents prompt caching, naming the first such video."""
    if isinstance(model, HttpModel) and model.caches:
        begins: dict[str, str] = {}
        for item in items:
            begin = prompter.before_frames(item)
            if item.media and begins.setdefault(item.video_id, begin) != begin:
                return (
                    "the prompts have words of the question before the frames: the provider's cache does "
                    "not serve frames that questions share",
                )
    return ()


def narrowed(
    items: Sequence[Item], plan: Plan, *, recorded: Container[str] | None = None
) -> tuple[Sequence[Item], list[str]]:
    """Apply a plan's `where`, `limit` and samples; return the questions and notes.

    Args:
        items: all questions.
        plan: what to ask.
        recorded: restrict to questions with these ids before `limit` and samples.

    Raises:
        UsageError: no question has the tag.
    """
    kept, notes = items, list[str]()
    if plan.study:
        kept = read_draw(Path(plan.study), StudyDraw).of(items)
        notes.append(f"only the {len(kept)} questions that were drawn for the study {plan.study} are asked")
    if plan.subset:
        kept = read_subset(Path(plan.subset)).of(items)
        notes.append(f"only the {len(kept)} questions of the subset {plan.subset} are asked")
    for tag, value in plan.where.items():
        values = sorted({i.tags[tag] for i in items if tag in i.tags})
        if not values:
            raise no_such_tag(tag, items)
        if value not in values:
            raise UsageError(f"no question has {tag}={value!r}; values are: {', '.join(values[:40])}")
        kept = [item for item in kept if item.tags.get(tag) == value]
    if recorded is not None:
        kept = [item for item in kept if item.item_id in recorded]
        notes.append(f"only the {len(kept)} questions that have a recorded reply are asked")
    if (plan.limit, plan.sample, plan.sample_by) != (None, None, None):
        kept, messages = drawn(kept, plan)
        notes += messages
    return kept, notes


def choose_items(
    loaded: Loaded, plan: Plan, *, model: Model, shows_media: bool = True
) -> tuple[Sequence[Item], tuple[str, ...]]:
    """Return the questions that a plan asks, in release order, and notes on those left out."""
    wanted, notes = _wanted(loaded, plan, model=model)
    root = media_root_of(plan, loaded) if model.looks and shows_media else None
    items, messages = _with_usable(wanted, plan, root)
    if model.looks:
        messages += _subtitle_notes(items, plan, media_root_of(plan, loaded))
    if not items:
        raise UsageError("no question is left to ask; loosen --where, --limit or the sample")
    if isinstance(model, ConstantModel):
        _check_letter(model.letter, items, spec=plan.model)
    return items, (*notes, *messages)


def _gaps(loaded: Loaded, items: Sequence[Item], plan: Plan, *, model: Model) -> tuple[str, ...]:
    """Return how many questions have missing media, and how they are handled."""
    n_wanted, n_bare = len(_wanted(loaded, plan, model=model)[0]), sum(not item.media for item in items)
    is_part = model.looks and n_bare < len(items)
    counted = {
        "excluded from every figure, because media are missing": (n_wanted - len(items), n_wanted),
        "asked without media, because they name none": (n_bare if is_part else 0, len(items)),
    }
    return tuple(f"{n:,} of {of:,} questions are {what}" for what, (n, of) in counted.items() if n)


def _wanted(loaded: Loaded, plan: Plan, *, model: Model) -> tuple[Sequence[Item], list[str]]:
    """Return the questions of a plan, with or without media, and notes."""
    if plan.shuffle_choices and isinstance(model, RecordedModel):
        raise UsageError(
            f"{plan.model} gives recorded letters, which shuffled choices would change; add "
            "--no-shuffle-choices"
        )
    if plan.recorded_only and not isinstance(model, RecordedModel):
        raise UsageError("--recorded-only needs a model that has recorded replies, such as replay:FILE")
    recorded = model.recorded_ids() if plan.recorded_only and isinstance(model, RecordedModel) else None
    return narrowed(loaded.items, plan, recorded=recorded)


def _with_usable(
    wanted: Sequence[Item], plan: Plan, root: MediaPath | None
) -> tuple[Sequence[Item], list[str]]:
    """Return the questions with usable media, and notes on the others."""
    items, unusable = placed(wanted, plan, root)  # what is not read is stored all the same
    notes = [*unusable]
    if root is not None:
        if pair := outside(root, items, subtitled=plan.subtitles != "none"):
            items, message = _inside(items, root, pair, plan=plan)
            notes.append(message)
        if absent := missing(root, items):
            items, left_out = _with_media(items, root, absent, plan=plan)
            notes.append(left_out)
    return items, notes


def every_item(loaded: Loaded, plan: Plan) -> Sequence[Item]:
    """Return the questions of a plan that asks no model: filtered by tags, not sampled.

    Raises:
        UsageError: there are none.
    """
    return choose_items(loaded, _unsampled(plan, recorded_only=False), model=create("model", NOBODY))[0]


def _unsampled(plan: Plan, *, recorded_only: bool) -> Plan:
    return msgspec.structs.replace(plan, recorded_only=recorded_only, **_UNSAMPLED)


def _strata(items: Sequence[Item], plan: Plan, *, asked: Sequence[Item], model: Model) -> tuple[Stratum, ...]:
    """Return the strata of a plan's sample."""
    tag = str(plan.sample_by).rpartition("=")[0]
    recorded = model.recorded_ids() if plan.recorded_only and isinstance(model, RecordedModel) else None
    everything = _unsampled(plan, recorded_only=plan.recorded_only)
    return strata_met(narrowed(items, everything, recorded=recorded)[0], asked, tag)


def _check_letter(letter: str, items: Sequence[Item], *, spec: str) -> None:
    """Reject a letter that no question has as a choice."""
    most = max((len(item.choices) for item in items), default=0)
    if most and letter_index(letter) >= most:
        raise UsageError(
            f"{spec} always says {letter}, and no question has that choice: the choices are A to "
            f"{ascii_uppercase[most - 1]}"
        )


def placed(
    items: Sequence[Item], plan: Plan, root: MediaPath | None
) -> tuple[Sequence[Item], tuple[str, ...]]:
    """Return the questions whose media the plan may read, and notes on the others.

    Args:
        items: the questions.
        plan: names the buckets and servers that may be read; question files cannot grant this.
        root: the media folder; without it nothing is read, and only addresses are checked.

    Raises:
        DataError: a medium has no location, an address is invalid or contains a secret, or its server is not
            named, and the plan does not leave out questions; no server was contacted, and the message
            contains no secret.
    """
    given = [place(text) for text in (plan.media or "", *plan.media_at) if media_address.is_address(text)]
    known = {entry.origin for entry in given if isinstance(entry, Address)}
    unusable, unnamed = dict[Media, str](), dict[Media, str]()
    for medium in dict.fromkeys(medium for item in items for medium in item.media):
        try:
            path = place(medium.path or "") if root is None else located(root, medium)
        except (DataError, UsageError) as error:
            unusable[medium] = str(error)
        else:
            if root is not None and isinstance(path, Address) and path.origin not in known:
                unnamed[medium] = path.origin
    if not plan.allow_missing:
        _refuse(list(unusable.values()), Counter(unnamed.values()))
    unusable |= {
        medium: f"{origin} is read only with --media-at {origin}" for medium, origin in unnamed.items()
    }
    if not unusable:
        return items, ()
    kept = [item for item in items if unusable.keys().isdisjoint(item.media)]
    why = next(iter(unusable.values()))
    n = f"{len(items) - len(kept)} of {len(items)} questions are left out"
    return kept, (f"{n}: their media cannot be used (the first: {why})",)


def _refuse(unusable: Sequence[str], unnamed: Mapping[str, int]) -> None:
    """Raise for media without a location, or count those at buckets and servers that are not named."""
    if unusable:
        raise DataError(
            f"a question names media that cannot be used: {unusable[0]}; --allow-missing leaves such "
            "questions out"
        )
    if unnamed:
        first = sorted(unnamed)[:_MOST_LISTED]
        listed = "".join(f"\n  {origin}: {unnamed[origin]:,} media" for origin in first)
        flags = " ".join(f"--media-at {origin}" for origin in first)
        raise DataError(
            f"questions name media at addresses, which are read only with your consent:{listed}\n"
            f"If that is meant, add {flags}"
        )


def _inside(
    items: Sequence[Item], media_root: MediaPath, paths: Sequence[MediaPath], *, plan: Plan
) -> tuple[Sequence[Item], str]:
    """Return the questions that may be asked although media are outside the folder, with a note.

    Raises:
        DataError: none may be asked, and the plan does not leave out questions.
    """
    n = f"{len(paths):,} media lie" if len(paths) > 1 else "1 medium lies"
    listed = ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")
    message = f"{n} outside the folder of the questions, {media_root.resolve()}: {listed}"
    if not plan.media_inside:
        return (
            items,
            f"{message}; the model is shown what they hold, and --set media_inside=true refuses them",
        )
    if not plan.allow_missing:
        raise DataError(f"{message}; media_inside refuses them: move them into it, or remove the setting")
    files = ((item, files_of(item, subtitled=plan.subtitles != "none")) for item in items)
    kept = [item for item, each in files if not any(located(media_root, media) in paths for media in each)]
    return kept, f"{message}; media_inside leaves out the {len(items) - len(kept)} questions with them"


def _with_media(
    items: Sequence[Item], media_root: MediaPath, absent: Sequence[MediaPath], *, plan: Plan
) -> tuple[Sequence[Item], str]:
    """Return the questions with all media present, and a note on the others; errors as for `prepare`."""
    gone = set(absent)

    def is_whole(item: Item) -> bool:
        """What is gone for one item may be there for another, which wants an image and no folder."""
        touched = any(located(media_root, medium) in gone for medium in item.media)
        return not touched or not missing(media_root, [item])

    kept = [item for item in items if is_whole(item)]
    absent_words = _absent_words(items, absent, n_questions=len(items) - len(kept))
    named = [entry if isinstance(entry, Path) else str(entry) for entry in absent]
    command = command_for(plan.benchmark)
    hint = f"{command} fetches them. " if command else ""
    if not plan.allow_missing:
        raise MissingMediaError(
            f"{absent_words}\n{hint}Put them there, or skip these questions with --allow-missing", named
        )
    if not kept:
        raise MissingMediaError(f"{absent_words}\n{hint}No question is left without them", named)
    return kept, f"{len(items) - len(kept)} of {len(items)} questions are left out: their media are missing"


def _absent_words(items: Sequence[Item], absent: Sequence[MediaPath], *, n_questions: int) -> str:
    """Describe missing media, and media that are not files."""
    kinds = {medium.kind for item in items for medium in item.media}
    name = {frozenset({"video"}): "video", frozenset({"image"}): "image"}.get(frozenset(kinds), "medium")
    many = "media" if name == "medium" else f"{name}s"
    lines = [f"  {path}{_what_is_there(path)}" for path in absent[:_MOST_LISTED]]
    if len(absent) > _MOST_LISTED:
        lines.append(f"  ... and {len(absent) - _MOST_LISTED:,} more")
    n = f"1 {name} is" if len(absent) == 1 else f"{len(absent):,} {many} are"
    need = "needs" if n_questions == 1 else "need"
    return "\n".join((f"{n} missing, which {n_questions:,} of {len(items):,} questions {need}:", *lines))


def _what_is_there(path: MediaPath) -> str:
    """Describe what exists at a medium's path, or why it cannot be accessed."""
    if isinstance(path, Address):
        return ""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:  # a name that no file can have
        return f" ({cause(error)})"
    return " (a folder, and a file is needed)" if stat.S_ISDIR(mode) else " (a file, and a folder is needed)"


def check_same(before: Facts, now: Facts, *, folder: Path) -> None:
    """Reject to resume a run whose questions, prompts, selector or model have changed."""
    for name, what in MUST_AGREE.items():
        if getattr(before, name) != getattr(now, name):
            raise StoreError(
                f"{folder}: {what} since this run began ({name}: {getattr(before, name)!r} then, "
                f"{getattr(now, name)!r} now); run again into a new folder"
            )


def default_folder(plan: Plan) -> Path:
    """Return a plan's default run folder."""
    return Path("runs") / run_name(plan)


def new_folder(plan: Plan) -> Path:
    """Return a plan's default run folder, numbered if it exists."""
    first = default_folder(plan)
    names = (first, *(first.with_name(f"{first.name}-{n}") for n in range(2, MOST_FOLDERS + 1)))
    path = next((folder for folder in names if not folder.exists()), None)
    if path is None:
        raise UsageError(
            f"{first} and {MOST_FOLDERS - 1} like it are there already; name a folder with --out"
        )
    return path


def run_name(plan: Plan) -> str:
    """Return a folder name for a plan: benchmark, model, and a short hash of all else but the label.

    The same command gives the same name, so repeating it resumes the run.
    """
    spec = parse_spec(plan.model)
    words = [plan.benchmark, spec.name, Path(spec.argument).name if "/" in spec.argument else spec.argument]
    clean = "-".join("".join(c if c.isalnum() or c in "._" else "-" for c in w) for w in words if w)
    unnamed = msgspec.to_builtins(msgspec.structs.replace(plan, name=""))
    # The name of a run from before these fields, and before `frames` was called so.
    unnamed["n_frames"] = unnamed.pop("frames")
    for name in ("study", "until", "against", "margin", "subset"):
        if not unnamed[name]:
            del unnamed[name]
    digest = hashlib.sha256(msgspec.json.encode(unnamed, order="sorted")).hexdigest()
    return f"{clean[:60].strip('-')}-{digest[:8]}"
