"""Your own benchmark, described by a TOML file like those of the named benchmarks."""

from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from vidence.ask import files
from vidence.ask.benchmarks.named import Named, NamedFacts
from vidence.ask.mapping.mapping import read_toml
from vidence.catalog import FilePath
from vidence.contracts import Benchmark
from vidence.errors import UsageError, cause
from vidence.records import Record


class Settings(Record):
    """Options of ``toml``."""

    positional: ClassVar[str] = "file"
    file: Annotated[FilePath, Meta(description="the file, as `vidence help guides/adding` describes it")]


def create(settings: Settings) -> Benchmark:
    """Create the benchmark of a file.

    Raises:
        UsageError: the file cannot be read, or does not describe a benchmark.
    """
    path = Path(settings.file)
    try:
        return Named(f"toml:{path}", msgspec.convert(read_toml(path), NamedFacts))
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {files.why_no_record(error, record=NamedFacts)}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as a benchmark in TOML: {cause(error)}") from error
