"""Check the installation; with --model, check that a model sees and answers."""

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import click

from vidence import catalog
from vidence.cli.finding import ENTRY_POINTS, added_commands, command_packages, find_command
from vidence.console.files import screen, write_said
from vidence.console.flags import JSON, command, flag
from vidence.engine.environment import cache_root
from vidence.errors import UsageError, VidenceError, cause
from vidence.installation import Extra, adding, entry_points, is_importable, pip
from vidence.records import Record

SECTION = "Start here"
ORDER = 12

# Extras of the core; those of a wing stand in its folder of commands.
EXTRAS: Mapping[str, Extra] = {
    "openai": Extra("openai: models on any OpenAI-compatible server", ("aiohttp",)),
    "transformers": Extra(
        "transformers: models from local weights or the hub",
        ("torch", "torchvision", "transformers", "accelerate"),
    ),
    "anthropic": Extra("anthropic: Anthropic's models", ("aiohttp",)),
    "gemini": Extra("gemini: Google's models", ("aiohttp",)),
    "select": Extra(
        "frame selection by similarity; the detectors grounding-dino and owlv2, the tracker sam2",
        ("torch", "transformers", "sentencepiece", "google.protobuf", "scipy"),
    ),
    "parquet": Extra("questions and tables in Parquet", ("pyarrow",)),
    "remote": Extra(
        "videos at https:// and s3:// (hf:// needs nothing; gs:// needs gcsfs)", ("aiohttp", "s3fs")
    ),
    "vllm": Extra("models from local weights, in a vLLM engine (Linux with a GPU)", ("vllm",)),
}
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "HF_HOME", "HF_TOKEN")
_SHOWN = 200


@dataclass(kw_only=True)
class _Findings:
    """Results: lines shown at once, and values for other programs."""

    is_quiet: bool
    values: dict[str, object] = field(default_factory=dict)

    def say(self, line: str, **values: object) -> None:
        """Show a line; values under an existing name are appended."""
        if not self.is_quiet:
            click.echo(line)
        for name, value in values.items():
            before = self.values.get(name)
            joined = before | value if isinstance(before, dict) and isinstance(value, dict) else value
            self.values[name] = joined


class Doctor(Record):
    """The checks to run."""

    model: Annotated[
        str | None, flag("Also send a picture and a question to this model.", metavar="SPEC")
    ] = None
    json_path: Annotated[Path | None, JSON] = None


def extras() -> Mapping[str, Extra]:
    """Return all extras by name: the core's, and ``EXTRAS`` of the wings' command folders."""
    known = dict(EXTRAS)
    for name in command_packages():
        known |= getattr(importlib.import_module(name), "EXTRAS", {})
    return known


@command()
def doctor(given: Doctor) -> int:
    """Check this installation; the exit code is 1 when a check fails."""
    looked = _Findings(is_quiet=screen(given.json_path).quiet)
    version, python = importlib.metadata.version("vidence"), sys.version.split()[0]
    looked.say(f"vidence {version} on Python {python}", vidence=version, python=python)
    troubles = [
        *_libraries(looked),
        *_devices(),
        *_cache(looked),
        *_decoding(looked),
        *_sandbox(looked),
        *_plug_ins(looked),
    ]
    looked.say("\nextras:")
    for name, entry in extras().items():
        absent = [module for module in entry.modules if not is_importable(module)]
        state = "installed" if not absent else f"lacks {', '.join(absent)}"
        extra = {"purpose": entry.purpose, "is_installed": not absent, "lacks": absent}
        looked.say(f"  {name:<13} {entry.purpose}: {state}", extras={name: extra})
        if absent:
            looked.say(f"{'':<16}add it with: {entry.command() if entry.command else adding(name)}")
    benchmarks = {name: catalog.create("benchmark", name) for name in catalog.ready("benchmark")}
    unseen = [name for name, benchmark in benchmarks.items() if not getattr(benchmark, "verified", True)]
    looked.say(f"\nbenchmarks checked only in part: {', '.join(unseen)}", unseen=unseen)
    looked.say("\nenvironment (whether each variable is set; values are never shown):")
    for key in KEYS:
        is_set = bool(os.environ.get(key))
        looked.say(f"  {key:<18} {'set' if is_set else 'not set'}", environment={key: is_set})
    if given.model is not None:
        troubles += _model(given.model, looked)
    for trouble in troubles:
        looked.say(f"\nproblem: {trouble}")
    looked.say("\nno problems found" if not troubles else "")
    write_said(given.json_path, "doctor", values={**looked.values, "troubles": troubles})
    return 1 if troubles else 0


def _model(spec: str, looked: _Findings) -> list[str]:
    """Return a model's replies to a picture, and its latency; nothing comes from the cache."""
    from vidence.engine.tryout import COLOUR, QUESTION, SIDE_PX, tryout
    from vidence.text import visible

    looked.say(f"\nmodel {spec}: a {COLOUR} picture, {SIDE_PX} px, with: {QUESTION}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            tried = tryout(spec, memory=Path(folder) / "replies.sqlite")
        except VidenceError as error:
            return [f"{spec} cannot be asked: {error}"]
    for number, reply, time_s in (
        ("first", tried.first, tried.first_s),
        ("second", tried.second, tried.second_s),
    ):
        if reply is not None:
            cut = ", cut off" if reply.finish == "length" else ""
            model = " ".join(visible(reply.text).split())[:_SHOWN]
            looked.say(
                f"  {number} reply after {time_s:.2f} s{cut}: {model or 'nothing'}", model={number: model}
            )
    if (speed := tried.tokens_per_s) is not None:
        looked.say(f"  {speed:,.0f} tokens per second, the second time", model={"tokens_per_s": speed})
    if tried.failure:
        return [f"{spec} gave no reply: {tried.failure}"]
    looked.say(f"  names the colour: {'yes' if tried.sees else 'no'}", model={"sees": tried.sees})
    if tried.sees:
        return []
    return [
        f"{spec} does not name the colour of the picture: it may not see pictures, or its replies are cut "
        "off (--max-tokens of vidence run)"
    ]


def _devices() -> list[str]:
    """Check that torch and torchvision are built for the same device, else torchvision cannot be imported."""
    try:
        builds = [importlib.metadata.version(name) for name in ("torch", "torchvision")]
    except importlib.metadata.PackageNotFoundError:
        return []
    torch, vision = (build.partition("+")[2] for build in builds)
    if torch == vision:
        return []
    index = f" --index-url https://download.pytorch.org/whl/{torch}" if torch else ""
    wanted = f"torchvision=={builds[1].partition('+')[0]}"
    return [
        f"torch {builds[0]} and torchvision {builds[1]} are builds for different devices, so "
        f"video processors cannot load; run: {pip()} install --force-reinstall --no-deps {wanted}{index}"
    ]


def _libraries(looked: _Findings) -> list[str]:
    libraries = []
    for name in ("av", "numpy", "pillow", "msgspec", "anyio", "aiohttp", "httpx2"):
        try:
            version = importlib.metadata.version(name)
            looked.say(f"  {name:<10} {version}", libraries={name: version})
        except importlib.metadata.PackageNotFoundError:
            libraries.append(f"{name} is not installed; run: {pip()} install {name}")
    return libraries


def _cache(looked: _Findings) -> list[str]:
    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return [f"the cache folder {folder} is not writable ({cause(error)}); set VIDENCE_CACHE to another"]
    free_gb = shutil.disk_usage(folder).free / 2**30
    looked.say(
        f"\ncache: {folder} ({free_gb:.1f} GB free)", cache={"folder": str(folder), "free_gb": free_gb}
    )
    full = f"only {free_gb:.2f} GB are free for the cache in {folder}; free some, or set VIDENCE_CACHE"
    return [full] if free_gb < 1 else []


def _decoding(looked: _Findings) -> list[str]:
    """Render a clip with planted codes, decode it, and read the codes."""
    from vidence.ask.phantom.world import decodes_exactly

    with tempfile.TemporaryDirectory() as folder:
        try:
            n_right, n_asked = decodes_exactly(Path(folder))
        except VidenceError as error:
            return [f"decoding failed: {error}"]
    counts = {"n_exact": n_right, "n_frames": n_asked}
    looked.say(f"decoding: {n_right} of {n_asked} frames of a test clip are exact", decoding=counts)
    return [] if n_right == n_asked else [f"only {n_right} of {n_asked} frames of a test clip were exact"]


def _sandbox(looked: _Findings) -> list[str]:
    """Report what a decoding worker can access here, tested in one."""
    from vidence.engine.executor import Parallelism
    from vidence.engine.sandbox import in_force, landlock_version
    from vidence.engine.side_by_side import side_by_side

    ((_, pair),) = side_by_side([("a worker process", in_force)], Parallelism())
    if isinstance(pair, VidenceError):
        return [str(pair)]
    state = {"landlock": landlock_version() if pair[0] else 0, "seccomp": pair[1]}
    files = f"only their files (Landlock {state['landlock']})" if pair[0] else "all files (no Landlock)"
    network = "no network (seccomp)" if pair[1] else "the network (no seccomp)"
    looked.say(f"sandbox: decoders reach {files} and {network}", sandbox=state)
    return []


def _plug_ins(looked: _Findings) -> list[str]:
    """Import the plug-ins of other packages, and report unknown entry points."""
    kinds = {f"vidence.{catalog.plural(kind)}": kind for kind in catalog.FOLDERS} | {ENTRY_POINTS: "command"}
    troubles = []
    for group in sorted(entry_points().groups):
        if not group.startswith("vidence."):
            continue
        points = entry_points().select(group=group)
        if group not in kinds:
            named = ", ".join(sorted(point.value for point in points))
            troubles.append(f"{named}: unknown entry point group {group}; known: {', '.join(kinds)}")
            continue
        for point in points:
            looked.say(
                f"plug-in: {kinds[group]} {point.name} ({point.value})",
                plug_ins={f"{kinds[group]} {point.name}": point.value},
            )
            try:
                if group == ENTRY_POINTS:
                    for words in added_commands():
                        find_command(words)
                else:
                    catalog.settings_type(kinds[group], point.name)
            except UsageError as error:
                troubles.append(str(error))
    return troubles
