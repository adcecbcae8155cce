"""Shows the licence and the terms of a benchmark's data, once to every user."""

import hashlib
from pathlib import Path

from rich.console import Console

from vidence.cli.console import say
from vidence.errors import StoreError


def show_licence(benchmark_name: str, console: Console, *, cache_root: Path) -> None:
    """Say what the data may be used for, unless this user was told before.

    Raises:
        StoreError: the cache folder cannot be written to.
    """
    from vidence.engine.prepare import open_benchmark

    benchmark = open_benchmark(benchmark_name)
    words = f"{benchmark.name}\n{benchmark.licence}\n{benchmark.terms}"
    mark = cache_root / "terms-shown" / f"{benchmark.name}-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
    if mark.exists():
        return
    say(console, (benchmark.name, "bold"), f": {benchmark.citation}")
    say(console, f"licence: {benchmark.licence}")
    say(console, f"terms: {benchmark.terms} (said once)")
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise StoreError(f"cannot write to the cache folder {cache_root}: {error}") from error
