"""One run as one record, readable from TOML."""

import importlib.metadata
import math
import os
import platform
import subprocess
import tomllib
from pathlib import Path
from typing import Literal

import msgspec
import tomli_w

from vidence import __version__
from vidence.errors import StoreError, UsageError
from vidence.media.encode import MOST_QUALITY
from vidence.records import Record, Sampling

PLAN_FILE = "plan.toml"
_ABOVE_ZERO = (
    *("n_frames", "repeats", "concurrency", "attempts", "timeout_s", "decode_timeout_s"),
    *("limit", "sample", "max_cost"),
)
FORMAT: Literal["vidence-plan/1"] = "vidence-plan/1"


class Plan(Record, kw_only=True):
    """Everything that decides what a run asks and how; each flag of ``vidence run`` is one field.

    Units: `timeout_s` and `decode_timeout_s` in seconds; `price_in`, `price_out` in US dollars per
    million tokens; `max_cost` in US dollars, judges included. `attempts` counts the first try. `limit`
    takes the first items, `sample` draws that many with `seed`. `memory` is the file of the reply memory
    (empty: the one in the user's cache folder). `protocol` is the set of rules that the fields below
    started from. Nothing is judged while `judge_models` is empty; several are a panel.
    """

    format: Literal["vidence-plan/1"] = FORMAT
    benchmark: str
    data: str
    split: str
    protocol: str = "paper"
    model: str
    selector: str
    n_frames: int
    style: str
    prompts: str
    prompts_dir: str | None = None
    layout: str
    frame_times: bool
    size: str
    jpeg_quality: int
    sampling: Sampling
    parser: str
    text_parser: str = "needs-judge"
    headline: str
    judge: str = "rule-first"
    judge_models: tuple[str, ...] = ()
    judge_prompts_dir: str | None = None
    shuffle_choices: bool = False
    retries: int = 0
    where: dict[str, str] = msgspec.field(default_factory=dict)
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    repeats: int = 1
    strict: bool = False
    allow_missing: bool = False
    recorded_only: bool = False
    concurrency: int = 16
    timeout_s: float = 180.0
    attempts: int = 6
    decode_timeout_s: float = 300.0
    max_cost: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    judge_price_in: float = 0.0
    judge_price_out: float = 0.0
    memory: str = ""

    def __post_init__(self) -> None:
        for name in _ABOVE_ZERO:
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise UsageError(f"{name} is {value}; expected more than 0")
        for name in ("price_in", "price_out", "judge_price_in", "judge_price_out", "retries"):
            if not 0 <= getattr(self, name) < math.inf:
                raise UsageError(f"{name} is {getattr(self, name)}; expected 0 or more")
        _check_sampling(self.sampling)
        if self.limit is not None and self.sample is not None:
            raise UsageError("limit and sample exclude each other: give one of them")
        prices = (self.price_in, self.price_out, self.judge_price_in, self.judge_price_out)
        if self.max_cost is not None and not any(prices):
            raise UsageError(
                "max_cost needs prices: give price_in and price_out in US dollars per million tokens"
            )
        if len(set(self.judge_models)) < len(self.judge_models):
            raise UsageError(f"a judge model is named twice: {', '.join(self.judge_models)}")
        if not 1 <= self.jpeg_quality <= MOST_QUALITY:
            raise UsageError(f"jpeg_quality is {self.jpeg_quality}; expected 1 to {MOST_QUALITY}")


def _check_sampling(sampling: Sampling) -> None:
    """Refuse what no model can draw with."""
    rules = {
        "temperature": (sampling.temperature is None or 0 <= sampling.temperature <= 10, "0 to 10"),
        "top_p": (sampling.top_p is None or 0 < sampling.top_p <= 1, "more than 0, up to 1"),
        "max_tokens": (sampling.max_tokens is None or sampling.max_tokens > 0, "1 or more"),
    }
    for name, (holds, expected) in rules.items():
        if not holds:
            raise UsageError(f"{name} is {getattr(sampling, name)}; expected {expected}")


class Facts(Record, kw_only=True):
    """What a run met: versions, revisions and hashes, so that it can be repeated and trusted."""

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
    model_identity: str
    citation: str
    licence: str
    terms: str = ""
    judge_version: int = 0
    judge_prompts_digest: str = ""
    judge_identities: tuple[str, ...] = ()
    media_root: str = ""
    n_items: int
    n_planned: int
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    started_at: str


# What must not have changed when a run is taken up again, and how to say it.
MUST_AGREE = {
    "content_hash": "the question files have changed",
    "benchmark_version": "this version of vidence reads the benchmark differently",
    "prompts_digest": "the prompt templates have changed",
    "selector_version": "this version of vidence selects frames differently",
    "selector_identity": "what the selector goes by has changed (its file of scores, or the model it asks)",
    "model_identity": "the model is a different one (its files or address changed)",
    "judge_version": "this version of vidence judges differently",
    "judge_prompts_digest": "the prompts of the judge have changed",
    "judge_identities": "a judge model is a different one (its files or address changed)",
}


_MAY_BE_UNSET = ("temperature", "max_tokens")


class _PlanFile(Record, kw_only=True):
    plan: Plan
    facts: Facts


def _without_none(table: dict[str, object]) -> dict[str, object]:
    filled = {k: v for k, v in table.items() if v is not None}
    return {k: _without_none(v) if isinstance(v, dict) else v for k, v in filled.items()}


def write_plan(folder: Path, plan: Plan, facts: Facts) -> None:
    """Write plan and facts to ``plan.toml``, whole or not at all."""
    built = {"plan": msgspec.to_builtins(plan), "facts": msgspec.to_builtins(facts)}
    # TOML has no null, and None is not the default of every field: what is absent must be told apart.
    for name in _MAY_BE_UNSET:
        if built["plan"]["sampling"][name] is None:
            built["plan"]["sampling"][name] = "unset"
    temporary = folder / (PLAN_FILE + ".new")
    try:
        with temporary.open("wb") as file:
            tomli_w.dump(_without_none(built), file)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave an empty plan beside its trials
        temporary.replace(folder / PLAN_FILE)
    except (OSError, UnicodeEncodeError) as error:
        raise StoreError(f"cannot write {folder / PLAN_FILE}: {error}") from error


def read_plan(folder: Path) -> tuple[Plan, Facts]:
    """Read ``plan.toml`` of a run folder.

    Raises:
        StoreError: no such file, not TOML, or written by another format of vidence.
    """
    path = folder / PLAN_FILE
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if (folder / "trials.sqlite").exists():
            raise StoreError(
                f"{folder} holds a run that never began: {path.name} is missing; give the command of the "
                f"run again with --out {folder}"
            ) from error
        missing = f"{path.name} is missing" if folder.exists() else "there is nothing of that name"
        raise StoreError(
            f"{folder} is not a run folder: {missing}; give the folder that `vidence run` wrote (runs/... "
            "unless --out named another)"
        ) from error
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} is not readable as TOML: {error}") from error
    found = raw.get("plan", {}).get("format") if isinstance(raw.get("plan"), dict) else None
    if found != FORMAT:
        raise StoreError(
            f"{path} has format {found!r}, this version of vidence reads {FORMAT!r}; "
            "use the version that wrote it, or run again into a new folder"
        )
    sampling = raw["plan"].get("sampling", {})
    for name in _MAY_BE_UNSET:
        if sampling.get(name) == "unset":
            sampling[name] = None
    try:
        whole = msgspec.convert(raw, _PlanFile)
    except msgspec.ValidationError as error:
        raise StoreError(f"{path}: {error}") from error
    return whole.plan, whole.facts


def library_versions() -> dict[str, str]:
    """The versions of the libraries that can change a number."""
    names = ["av", "msgspec", "numpy", "pillow", "scipy", "torch", "transformers", "httpx2"]
    versions: dict[str, str] = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def git_revision() -> str:
    """The git revision that vidence runs from, with ``+`` where the tree is changed; empty outside git."""
    here = Path(__file__)
    try:
        if _git(here.parent, "ls-files", here.name) == "":
            return ""
        return _git(here.parent, "describe", "--always", "--dirty=+", "--abbrev=12")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(folder: Path, *words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=5, check=True)  # noqa: S603 - fixed words
    return done.stdout.strip()


def machine_facts() -> dict[str, object]:
    """Version, revision, Python, platform and libraries, for `Facts`."""
    return {
        "vidence": __version__,
        "git_revision": git_revision(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": library_versions(),
    }
