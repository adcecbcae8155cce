"""A run as one record, readable from TOML."""

import functools
import math
import platform
import subprocess
import sys
from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TypedDict, cast, get_origin, get_type_hints

import msgspec
import tomli_w

from vidence.ask.judging.panel import PANEL_RULES
from vidence.ask.models.prices import Prices, given_prices, needs_prices
from vidence.ask.prompting.compose import STYLES
from vidence.console.flags import WHERE, Flag, flag, flags_of, names_of, part
from vidence.contracts import View
from vidence.engine.limits import AskLimits, duration_s
from vidence.engine.store import PLAN_NAME, RUN_FILE
from vidence.errors import StoreError, UnknownNameError, UsageError, cause
from vidence.installation import __version__, toml_of, versions
from vidence.media.bounded import text_bounded
from vidence.media.encode import MOST_QUALITY
from vidence.media.whole import PRIVATE, whole_file
from vidence.records import EXTRACT, Record, Sampling, Subtitling
from vidence.statistics.paired import Decision, check_margin
from vidence.text import quoted

PLAN_FILE = PLAN_NAME
AUDIO = ("drop", "keep")
UNTIL = ("clear", "equivalent")
_LEAST, _MOST = math.nextafter(0, 1), sys.float_info.max  # above zero, and below infinity
_BOUNDS: Mapping[str, tuple[float, float, str]] = {
    **dict.fromkeys(
        (
            *("repeats", "concurrency", "attempts", "timeout_s", "decode_timeout_s"),
            *("limit", "sample", "max_cost", "requests_per_minute", "tokens_per_minute", "batch_poll_s"),
        ),
        (_LEAST, _MOST, "more than 0"),
    ),
    **dict.fromkeys(
        ("price_in", "price_out", "judge_price_in", "judge_price_out", "patience_s"), (0, _MOST, "0 or more")
    ),
    "frames": (_LEAST, _MOST, "more than 0, or the selector none, which shows no frames"),
    "jpeg_quality": (1, MOST_QUALITY, f"1 to {MOST_QUALITY}"),
    "temperature": (0, 10, "0 to 10"),
    "top_p": (_LEAST, 1, "more than 0, up to 1"),
    "max_tokens": (1, _MOST, "1 or more"),
}
_NOT_IN_BATCHES = ("until", "max_cost", "requests_per_minute", "tokens_per_minute")
MOST_NAME = 60  # characters: what a column of a table can hold
FORMAT: Literal["vidence-plan/1"] = "vidence-plan/1"


def _setting(help_text: str) -> msgspec.Meta:
    """Mark a field without a flag of its own: ``--set FIELD=VALUE``."""
    return msgspec.Meta(description=help_text, extra={})


PATIENCE = flag(
    "How long to wait for a server that does not answer: 90s, 15m, 1h (default 10m).",
    "--patience",
    type=duration_s,
    metavar="DURATION",
)
_IN = "US dollars per million tokens read (default: as listed)."
_OUT = "US dollars per million tokens written (default: as listed)."


class SamplingFlags(Record):
    """Flags that change a plan's `sampling`; None leaves the value."""

    temperature: Annotated[float | None, flag("Sampling temperature; 0 is greedy.")] = None
    top_p: Annotated[float | None, _setting("Nucleus sampling.")] = None
    max_tokens: Annotated[int | None, flag("Most tokens of a reply.")] = None
    model_seed: Annotated[int | None, _setting("Seed that is sent to the model.")] = None
    choice_logps: Annotated[bool | None, flag("Ask for the letters' log-probabilities.")] = None


class ExtractFlag(Record):
    """Shorthand for `judge` and `judge_models`; see `read_overrides`."""

    extract_with: Annotated[
        str | None, flag("Text model that extracts the choice from replies that no rule can parse.")
    ] = None


class Plan(Record):
    """Everything that determines what a run asks and how; each flag of ``vidence run`` is a field.

    `protocol` is the set of rules that the fields started from. Nothing is judged while `judge_models` is
    empty; several judge models form a panel. If `study` names a study's folder, only the questions drawn for
    it are asked.
    """

    format: Literal["vidence-plan/1"] = FORMAT
    benchmark: str
    data: str
    study: str = ""
    media: Annotated[
        str | None,
        flag(
            "Folder of the videos, or its address, such as s3://BUCKET/FOLDER (default: that of the "
            "questions)."
        ),
    ] = None
    map: Annotated[
        str | None,
        flag("For table: how columns map to fields: a preset, FILE.toml, or FIELD=COLUMN,...", metavar="MAP"),
    ] = None
    split: Annotated[str, flag("Split of the benchmark (default: the first).")]
    protocol: Annotated[
        str, flag("Named protocol (default: the paper's for the split); `vidence list` names them.")
    ] = "paper"
    model: str
    name: Annotated[
        str, flag("Name of the run in tables and figures (default: a short name of its model).")
    ] = ""
    selector: Annotated[
        str,
        flag("Frame selector: midpoints, fps:1, all, none, frag-scores:model, ...", **names_of("selector")),
    ]
    frames: Annotated[int, flag("Frames per question.")]
    strategy: Annotated[
        str,
        flag(
            "Answering strategy: once, self-consistency?n=N, best-of-n?m=M, self-refine?rounds=N, "
            "retry?tries=N.",
            **names_of("strategy"),
        ),
    ] = "once"
    style: Annotated[str, flag("Answer directly, or reason first.", type=STYLES)]
    prompts: Annotated[str, flag("Named set of templates (default: the benchmark's).")]
    prompts_dir: Annotated[str | None, flag("Folder with templates that replace those of the set.")] = None
    layout: Annotated[str, flag("images, montage:4x2 (columns x rows), or video (the whole file).")]
    frame_times: Annotated[bool, _setting("Write each frame's time.")]
    subtitles: Annotated[
        Subtitling,
        flag("paper (as the benchmark shows them), none, all, shown (of the frames), interleaved."),
    ] = "none"
    size: Annotated[str, flag("native, short:720 or long:448 (pixels; frames are never enlarged).")]
    jpeg_quality: Annotated[int, _setting("1 to 95.")]
    sampling: Sampling
    parser: Annotated[str, flag("Answer parser (default: the benchmark's).", **names_of("parser"))]
    text_parser: Annotated[str, _setting("Parser of open answers where no judge scores them.")] = (
        "needs-judge"
    )
    headline: str
    judge: Annotated[str, flag("Judging protocol, used with --judge-model.", **names_of("judge"))] = (
        "rule-first"
    )
    judge_models: Annotated[
        tuple[str, ...],
        flag("Judge model, as for --model; several form a panel.", "--judge-model", **names_of("model")),
    ] = ()
    judge_panel: Annotated[str, _setting("Rule where the judge models of a panel disagree.")] = "majority"
    judge_prompts_dir: Annotated[
        str | None, flag("Folder with templates that replace those of the judge.")
    ] = None
    audio: Annotated[str, _setting("With --layout video: drop (default) or keep the sound of the files.")] = (
        "drop"
    )
    shuffle_choices: Annotated[
        bool,
        flag("Shuffle the choices of every question and repeat.", "--shuffle-choices/--no-shuffle-choices"),
    ] = False
    where: Annotated[dict[str, str], WHERE] = msgspec.field(default_factory=dict)
    limit: Annotated[int | None, flag("Only the first N questions.")] = None
    sample: Annotated[int | None, flag("N questions sampled with --seed.")] = None
    sample_by: Annotated[
        str | None, flag("N questions with each value of a tag, sampled with --seed.", metavar="TAG=N")
    ] = None
    subset: Annotated[
        str | None,
        flag(
            "Only the questions of a file of `vidence items subset`, from which the full score is predicted.",
            metavar="FILE",
        ),
    ] = None
    seed: Annotated[int, flag("Seed of the sample, of waiting times and of verdict ids (default 0).")] = 0
    repeats: Annotated[int, flag("Ask each question K times.")] = 1
    strict: Annotated[bool, flag("Stop at the first line of the data that cannot be read.")] = False
    allow_missing: Annotated[bool, flag("Leave out questions whose media are missing.")] = False
    media_inside: Annotated[
        bool, _setting("Refuse media outside the folder of the questions (absolute paths, `..`, links).")
    ] = False
    media_at: Annotated[
        tuple[str, ...],
        flag(
            "A bucket, data set or server (s3://BUCKET) from which questions may load media; repeatable.",
            "--media-at",
        ),
    ] = ()
    recorded_only: Annotated[bool, flag("With replay: only questions with a recorded reply.")] = False
    concurrency: Annotated[int, flag("Most requests in flight (default 16).")] = 16
    batch: Annotated[
        bool, flag("Use the batch API of hosted models: half the price, up to a day for each batch.")
    ] = False
    batch_poll_s: Annotated[float, _setting("Seconds between polls of a batch (default 60).")] = 60.0
    timeout_s: Annotated[float, _setting("Seconds to wait for one reply (default 180).")] = 180.0
    attempts: Annotated[int, _setting("Tries per question (default 6).")] = 6
    patience_s: Annotated[float, PATIENCE] = 600.0
    requests_per_minute: Annotated[float | None, _setting("Most requests per minute to each model.")] = None
    tokens_per_minute: Annotated[
        float | None, _setting("Most tokens per minute (input and output) of each model.")
    ] = None
    decode_timeout_s: Annotated[float, _setting("Seconds to decode one video (default 300).")] = 300.0
    max_cost: Annotated[
        float | None, flag("Stop the session after this many US dollars; see `vidence list prices`.")
    ] = None
    price_in: Annotated[float, flag(_IN)] = 0.0
    price_out: Annotated[float, flag(_OUT)] = 0.0
    judge_price_in: Annotated[float, _setting(_IN)] = 0.0
    judge_price_out: Annotated[float, _setting(_OUT)] = 0.0
    listed: Prices | None = None
    """Listed prices when the plan was created; `prices` returns those that apply."""
    judge_listed: Prices | None = None
    memory: Annotated[str, _setting("File of the reply memory (default: in the cache folder).")] = ""
    until: Annotated[
        str, flag("Stop when the comparison with --against is decided: clear, or equivalent.", type=UNTIL)
    ] = ""
    against: Annotated[
        str, flag("With --until: the folder of a finished run of the same questions.", metavar="RUN")
    ] = ""
    margin: Annotated[
        float | None, flag("With --until equivalent: the largest difference in points that counts as none.")
    ] = None

    def __post_init__(self) -> None:
        for name, (low, high, expected) in _BOUNDS.items():
            value = getattr(self.sampling if hasattr(self.sampling, name) else self, name)
            if value is not None and not low <= value <= high:
                raise UsageError(f"{name} is {value}; expected {expected}")
        if len(self.name) > MOST_NAME or not self.name.isprintable() or self.name != self.name.strip():
            raise UsageError(
                f"name is {self.name!r}; expected one line of at most {MOST_NAME} printable characters, "
                "without space around it"
            )
        ways = ("limit", "sample", "sample_by", "subset")
        if len(given := [name for name in ways if getattr(self, name) is not None]) > 1:
            raise UsageError(f"{' and '.join(given)} exclude each other: give one of them")
        if self.subset is not None and self.where:
            raise UsageError("subset and where exclude each other: the subset stands for the whole set")
        _ = self.stratum
        if self.audio not in AUDIO:
            raise UsageError(f"audio is {self.audio!r}; expected {' or '.join(AUDIO)}")
        if self.max_cost is not None and not (self.prices or self.judge_prices):
            raise UsageError(needs_prices([self.model], how="price_in and price_out"))
        if self.judge_panel not in PANEL_RULES:
            raise UsageError(f"judge_panel {self.judge_panel!r}; expected one of {', '.join(PANEL_RULES)}")
        self._check_until()
        self._check_batch()
        if len(set(self.judge_models)) < len(self.judge_models):
            raise UsageError(f"a judge model is named twice: {', '.join(self.judge_models)}")

    def _check_batch(self) -> None:
        given = [name for name in _NOT_IN_BATCHES if getattr(self, name)]
        if self.batch and given:
            raise UsageError(
                f"--batch excludes {', '.join(given)}, because the replies of a wave arrive and are paid "
                "together; omit one of them"
            )

    def _check_until(self) -> None:
        wanted = {"": (False, False), "clear": (True, False), "equivalent": (True, True)}
        if wanted.get(self.until) != (bool(self.against), self.margin is not None):
            raise UsageError(
                f"until is {self.until!r}, against is {self.against!r} and margin is {self.margin}; expected "
                "--until clear --against RUN, or --until equivalent --against RUN --margin POINTS: RUN is "
                "the folder of a finished run of the same questions, POINTS a negligible difference, such "
                "as 2"
            )
        if self.margin is not None:
            check_margin(self.margin / 100)

    @property
    def stratum(self) -> tuple[str, int] | None:
        """Return the tag of `sample_by` and the number of questions per value; None if it is not set.

        Raises:
            UsageError: it is not ``TAG=N`` with a whole number above 0.
        """
        if self.sample_by is None:
            return None
        tag, equals, number = self.sample_by.rpartition("=")
        if not (equals and tag and number.isascii() and number.isdecimal() and int(number)):
            raise UsageError(
                f"sample_by is {self.sample_by!r}; expected TAG=N with a whole number above 0, such as "
                "difficulty=20"
            )
        return tag, int(number)

    @property
    def prices(self) -> Prices | None:
        """Return the prices of answers: as given, else as listed; None if unknown."""
        prices = given_prices(self.price_in, self.price_out) or self.listed
        return prices.in_batches() if prices is not None and self.batch else prices

    @property
    def judge_prices(self) -> Prices | None:
        """Return the prices of verdicts: as given, else as listed; None if unknown."""
        prices = given_prices(self.judge_price_in, self.judge_price_out) or self.judge_listed
        return prices.in_batches() if prices is not None and self.batch else prices

    @property
    def view(self) -> View:
        """Return the frames to show."""
        return View(selector=self.selector, n_frames=self.frames, size=self.size)

    @property
    def limits(self) -> AskLimits:
        """Return the limits of concurrency, time and cost."""
        return msgspec.convert(self, AskLimits, from_attributes=True)


class PlainOverrides(TypedDict, total=False):
    """Settings of `PlanOverrides` that are not specs; None keeps the protocol's value."""

    name: str | None
    media: str | None
    map: str | None
    split: str | None
    protocol: str | None
    frames: int | None
    style: str | None
    prompts: str | None
    prompts_dir: str | None
    layout: str | None
    frame_times: bool | None
    subtitles: Subtitling | None
    audio: str | None
    size: str | None
    jpeg_quality: int | None
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    model_seed: int | None
    choice_logps: bool | None
    text_parser: str | None
    headline: str | None
    judge: str | None
    judge_models: tuple[str, ...] | None
    judge_panel: str | None
    judge_prompts_dir: str | None
    extract_with: str | None
    shuffle_choices: bool | None
    where: dict[str, str] | None
    limit: int | None
    sample: int | None
    sample_by: str | None
    subset: str | None
    seed: int | None
    repeats: int | None
    strict: bool | None
    allow_missing: bool | None
    media_inside: bool | None
    media_at: tuple[str, ...] | None
    recorded_only: bool | None
    concurrency: int | None
    batch: bool | None
    batch_poll_s: float | None
    timeout_s: float | None
    attempts: int | None
    patience_s: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    decode_timeout_s: float | None
    max_cost: float | None
    price_in: float | None
    price_out: float | None
    judge_price_in: float | None
    judge_price_out: float | None
    memory: str | None
    until: str | None
    against: str | None
    margin: float | None


class PlanOverrides(PlainOverrides, total=False):
    """Settings that override the protocol's: fields of `Plan` and of `SamplingFlags`."""

    selector: str | None
    strategy: str | None
    parser: str | None


def plan_flags() -> tuple[Flag, ...]:
    """Return the flags of a plan, in the order of its fields; a flag not given is None."""
    return tuple(replace(entry, default=None) for entry in flags_of(Plan, SamplingFlags, ExtractFlag))


def plan_settings() -> dict[str, str]:
    """Return the fields of a plan without a flag, with their descriptions."""
    hints = get_type_hints(Plan, include_extras=True) | get_type_hints(SamplingFlags, include_extras=True)
    metas = {name: meta for name, hint in hints.items() for meta in getattr(hint, "__metadata__", ())}
    return {name: meta.description or "" for name, meta in metas.items() if meta.extra == {}}


def read_setting(name: str, text: str, *, known: Container[str] = ()) -> object:
    """Parse the value of a field in `plan_settings`.

    Args:
        name: of the field.
        text: the value as text.
        known: the fields that may be set; empty: all.

    Raises:
        UnknownNameError: there is no such field.
        UsageError: the value is invalid.
    """
    known = {word: says for word, says in plan_settings().items() if not known or word in known}
    if name not in known:
        raise UnknownNameError("setting of a plan without a flag of its own", name, known)
    hint = (get_type_hints(Plan) | get_type_hints(SamplingFlags))[name]
    value = tuple(text.split("|")) if get_origin(hint) is tuple else text
    try:
        return msgspec.convert(value, hint, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"--set {name}={text} cannot be read: {error}") from error


def read_overrides(given: Mapping[str, object]) -> PlanOverrides:
    """Check overrides given by name in a file or program; None leaves a setting as it is.

    `extract_with` becomes the judge ``extract`` with that model.

    Raises:
        UnknownNameError: no setting has this name.
        UsageError: a value of another type, or `extract_with` together with another judge.
    """
    for name in sorted(given.keys() - PlanOverrides.__annotations__.keys()):
        raise UnknownNameError("setting of a run", name, PlanOverrides.__annotations__)
    try:
        read = msgspec.convert({k: v for k, v in given.items() if v is not None}, PlanOverrides)
    except msgspec.ValidationError as error:
        raise UsageError(f"these settings are not valid: {error}") from error
    if extractor := read.pop("extract_with", None):
        if read.get("judge") or read.get("judge_models"):
            raise UsageError(
                "--extract-with names a model that extracts choices, as judges do themselves; give "
                "--extract-with SPEC, or --judge-model SPEC with --judge"
            )
        read |= {"judge": EXTRACT, "judge_models": (extractor,)}
    return read


_SET = Flag(
    field="settings",
    flag="--set",
    kind=str,
    is_pairs=True,
    help="A setting of the plan without a flag, such as timeout_s=900; repeatable.",
    default={},
    more={"metavar": "FIELD=VALUE"},
)


def flag_of(field: str) -> str:
    """Return the flag that sets a field of the plan.

    >>> flag_of("prompts_dir"), flag_of("timeout_s")
    ('--prompts-dir', '--set timeout_s')
    """
    if field in plan_settings():
        return f"--set {field}"
    return next(
        (entry.flag.partition("/")[0] for entry in plan_flags() if entry.field == field), f"--{field}"
    )


def plan_part(*, only: Container[str] = (), settings: Container[str] | None = None) -> msgspec.Meta:
    """Return a field of `PlanOverrides` that is filled from a plan's flags.

    Args:
        only: the fields to offer flags for; empty: all.
        settings: the fields without flags that ``--set`` accepts; if both are empty, all of them; if only
            this is empty, there is no ``--set``.
    """
    flags = [entry for entry in plan_flags() if not only or entry.field in only]

    def made(values: dict[str, object]) -> PlanOverrides:
        texts = cast("Mapping[str, str]", values.pop("settings", {}))
        given = values | {key: read_setting(key, text, known=settings or ()) for key, text in texts.items()}
        return read_overrides({name: value for name, value in given.items() if value not in (None, (), {})})

    return part(flags if settings is None else [*flags, _SET], made)


class Stratum(Record):
    """The questions with one value of the tag by which a sample was drawn."""

    tag: str
    value: str
    n: int
    """Questions available."""
    n_sampled: int
    """Questions asked."""

    @property
    def probability(self) -> float:
        """Return the probability that a question of the stratum is drawn."""
        return self.n_sampled / self.n


class Facts(Record):
    """Facts recorded by a run: versions, revisions and hashes, for reproducing it."""

    vidence: str
    git_revision: str
    python: str
    platform: str
    libraries: dict[str, str]
    benchmark_version: int
    benchmark_revision: str
    content_hash: str
    prompts_digest: str
    selector_version: int
    selector_identity: str = ""
    strategy_version: int = 1
    model_identity: str
    citation: str
    licence: str
    terms: str = ""
    release: str = ""
    """Where and when `vidence get` fetched the questions, with commit and licence."""
    release_licence: str = ""
    fetched_at: str = ""
    judge_version: int = 0
    judge_prompts_digest: str = ""
    judge_wording: Literal["", "own", "authors", "unchecked"] = ""
    judge_identities: tuple[str, ...] = ()
    media_root: str = ""
    n_items: int
    n_planned: int
    strata: tuple[Stratum, ...] = ()
    """Strata of a stratified sample."""
    study_sha256: str = ""
    """Hash of the study.toml by which the questions were drawn."""
    subset_sha256: str = ""
    """Hash of the subset's file, which is kept in the run folder."""
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    """Numbers of questions with missing media, by what was done about them."""
    started_at: str
    ended: Decision | None = None
    """State of the comparison at the end of a run with ``--until``; failed trials count as wrong."""

    @property
    def left_out(self) -> str:
        """Describe the questions and media that were left out; empty if there are none."""
        messages = [f"Caution: {gap}." for gap in self.gaps]
        if self.problems:
            n = f"{len(self.problems):,} line{'s' if len(self.problems) > 1 else ''}"
            messages.insert(
                0,
                f"Left out: {n} that could not be used, beside {self.n_items:,} "
                f"question{'s' if self.n_items != 1 else ''}; the first is {self.problems[0]}.",
            )
        return " ".join(messages)


# What must not have changed when a run is taken up again, and how to say it.
MUST_AGREE = {
    "content_hash": "the question files have changed",
    "study_sha256": "the study was drawn again",
    "subset_sha256": "the subset was chosen again",
    "benchmark_version": "this version of vidence reads the benchmark differently",
    "prompts_digest": "the prompt templates have changed",
    "selector_version": "this version of vidence selects frames differently",
    "selector_identity": "the scores of the selector have changed (their file, or the model behind them)",
    "strategy_version": "this version of vidence asks differently",
    "model_identity": "the model is a different one (its files or address changed)",
    "judge_version": "this version of vidence judges differently",
    "judge_prompts_digest": "the prompts of the judge have changed",
    "judge_identities": "a judge model is a different one (its files or address changed)",
}


_MAY_BE_UNSET = ("temperature", "max_tokens")


class _PlanFile(Record):
    plan: Plan
    facts: Facts | None = None


def write_plan(folder: Path, plan: Plan, facts: Facts) -> None:
    """Write plan and facts to ``plan.toml`` atomically."""
    # TOML has no null: what is absent has the default, where that is not None it is "unset".
    sampling = {
        name: "unset" if value is None and name in _MAY_BE_UNSET else value
        for name, value in msgspec.to_builtins(plan.sampling).items()
    }
    whole = msgspec.to_builtins(plan) | {"sampling": {k: v for k, v in sampling.items() if v is not None}}
    table = {k: v for k, v in whole.items() if v is not None}
    try:
        met = {k: v for k, v in msgspec.to_builtins(facts).items() if v is not None}
        data = tomli_w.dumps({"plan": table, "facts": met}).encode()
        # Durable, or a power cut could leave an empty plan beside its trials.
        with whole_file(folder / PLAN_FILE, mode=PRIVATE, is_durable=True) as unfinished:
            unfinished.write_bytes(data)
    except (OSError, UnicodeEncodeError) as error:
        raise StoreError(f"cannot write {folder / PLAN_FILE}: {cause(error)}") from error


def read_plan(folder: Path) -> tuple[Plan, Facts]:
    """Read ``plan.toml`` from a run folder.

    Raises:
        StoreError: the file is missing, is not TOML, or has another format version.
    """
    path = folder / PLAN_FILE
    try:
        plan, facts = read_plan_file(path)
    except FileNotFoundError as error:
        if (folder / RUN_FILE).exists():
            raise StoreError(
                f"{folder} holds a run that never began: {path.name} is missing; repeat its command with "
                f"--out {quoted(folder)}"
            ) from error
        missing = f"{path.name} is missing" if folder.exists() else "no such folder"
        if inner := min(folder.glob(f"*/{PLAN_FILE}"), default=None):
            missing = f"it holds run folders, such as {inner.parent}"
        raise StoreError(
            f"{folder} is not a run folder: {missing}; give the folder that `vidence run` wrote (runs/... or "
            "--out)"
        ) from error
    if facts is None:
        raise StoreError(
            f"{path} is a plan without a run: [facts] is missing; run it with: --plan {quoted(path)}"
        )
    return plan, facts


def read_plan_file(path: Path) -> tuple[Plan, Facts | None]:
    """Read a plan, and the facts of its run if the file has them.

    Raises:
        FileNotFoundError: there is no such file.
        StoreError: the file is not TOML, or has another format version.
    """
    try:
        raw = toml_of(text_bounded(path))
    except FileNotFoundError:
        raise
    except NotADirectoryError as error:
        raise StoreError(
            f"{path.parent} is a file; give the folder that `vidence run` wrote (runs/... or --out)"
        ) from error
    except OSError as error:
        raise StoreError(f"cannot read {path}: {cause(error)}") from error
    except ValueError as error:
        raise StoreError(f"{path} is not readable as TOML: {error}") from error
    plan = raw.get("plan")
    file = plan.get("format") if isinstance(plan, dict) else None
    if not isinstance(plan, dict) or file != FORMAT:
        raise StoreError(
            f"{path} has format {file!r}, this version of vidence reads {FORMAT!r}; use the version that "
            "wrote it, or run again into a new folder"
        )
    if "n_frames" in plan:  # as it was called before
        plan["frames"] = plan.pop("n_frames")
    sampling = plan.get("sampling")
    if isinstance(sampling, dict):
        plan["sampling"] = {
            k: None if k in _MAY_BE_UNSET and v == "unset" else v for k, v in sampling.items()
        }
    try:
        whole = msgspec.convert(raw, _PlanFile)
    except msgspec.ValidationError as error:
        raise StoreError(f"{path}: {error}") from error
    return whole.plan, whole.facts


def read_source(path: Path) -> tuple[Path, Plan, Facts | None]:
    """Return the file and contents of a plan to repeat.

    Args:
        path: a ``plan.toml``, or the folder of a run.

    Raises:
        UsageError: there is no such file.
        StoreError: as for `read_plan_file`.
    """
    source = path / PLAN_FILE if path.is_dir() else path
    try:
        return source, *read_plan_file(source)
    except FileNotFoundError as error:
        raise UsageError(f"there is no plan {source}; give the plan.toml of a run, or its folder") from error


def git_revision() -> str:
    """Return vidence's git revision, with ``+`` if the tree has changes; empty outside git."""
    here, stdout = Path(__file__), ""
    for command in (
        ["git", "ls-files", "--error-unmatch", here.name],  # fails in a checkout that does not hold us
        ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],
    ):
        try:
            done = subprocess.run(  # noqa: S603 - fixed words
                command, cwd=here.parent, capture_output=True, text=True, timeout=5, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        stdout = done.stdout.strip()
    return stdout


@functools.cache
def machine_facts() -> dict[str, object]:
    """Return versions, revision, platform and the libraries that can affect results, for `Facts`."""
    names = ("av", "msgspec", "numpy", "pillow", "scipy", "torch", "transformers", "aiohttp")
    return {
        "vidence": __version__,
        "git_revision": git_revision(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": versions(names),
    }
