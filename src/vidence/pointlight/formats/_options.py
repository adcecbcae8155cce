"""The options that the readers of all formats have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vidence.catalog import take_options
from vidence.pointlight.units import Unit, rate_option, unit_option


def one_of(*words: str) -> Callable[[str], str]:
    """A reader of an option that has few values."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"known are {', '.join(words)}")
        return text

    return read


def existing_file(text: str) -> Path:
    """Read the path of a file that must be there (it may lie in an archive)."""
    path = Path(text)
    if not path.is_file() and not any(p.is_file() for p in path.parents):
        raise ValueError("there is no such file")
    return path


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options that were read: those of all formats as attributes, the others in `more`."""

    unit: Unit | None = None
    fps: float | None = None
    more: Mapping[str, object]

    def word(self, key: str, default: str) -> str:
        """An option that is a word."""
        value = self.more.get(key, default)
        return value if isinstance(value, str) else default

    def path(self, key: str) -> Path | None:
        """An option that is a path."""
        value = self.more.get(key)
        return value if isinstance(value, Path) else None


def settings(
    owner: str, options: Mapping[str, str], more: Mapping[str, Callable[[str], object]] | None = None
) -> Settings:
    """Read the options of a format: ``units``, ``fps`` and those in `more`.

    Raises:
        UsageError: an option that is not known, or a value that cannot be read.
    """
    known: dict[str, Callable[[str], object]] = {"units": unit_option, "fps": rate_option}
    values = take_options(owner, options, known | dict(more or {}))
    unit, fps = values.pop("units", None), values.pop("fps", None)
    return Settings(
        unit=unit if isinstance(unit, Unit) else None,
        fps=fps if isinstance(fps, float) else None,
        more=values,
    )
