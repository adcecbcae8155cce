"""Taxonomies of errors: TOML files, built in or the user's."""

from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

import msgspec

from vidence.errors import DataError, UnknownNameError, UsageError, cause
from vidence.installation import toml_of
from vidence.media.bounded import text_bounded
from vidence.records import Record

Basis = Literal["", "mean over settings", "pooled"]
_OWN: Traversable = resources.files("vidence.explain.errors") / "taxonomies"


class ErrorKind(Record, omit_defaults=True):
    """A kind of error.

    A kind that others are `within` is composed of them and is not a label. `needs_wrong` requires a label of
    it to name a wrong condition.
    """

    name: str
    title: str
    says: str
    within: str = ""
    needs_wrong: bool = False


class Taxonomy(Record, omit_defaults=True):
    """Kinds of errors, in the order in which they are shown.

    `benchmarks` are those whose packets use it where none is named. `printed` is the published table that has
    the paper's shares, `printed_as` says what they are shares of. With `has_verdicts` labels also judge the
    conditions of a question one by one.
    """

    title: str
    kinds: tuple[ErrorKind, ...]
    source: str = ""
    benchmarks: tuple[str, ...] = ()
    printed: str = ""
    printed_as: Basis = ""
    has_verdicts: bool = False

    @property
    def labels(self) -> tuple[ErrorKind, ...]:
        """Return the kinds that can be labels: those that contain no other kind."""
        wholes = {kind.within for kind in self.kinds}
        return tuple(kind for kind in self.kinds if kind.name not in wholes)

    def parts(self, name: str) -> tuple[str, ...]:
        """Return the labels that a kind is composed of: those within it, or itself."""
        within = tuple(kind.name for kind in self.kinds if kind.within == name)
        return within or (name,)


def taxonomy_names() -> tuple[str, ...]:
    """Return the built-in taxonomies, sorted."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in _OWN.iterdir() if f.name.endswith(".toml")))


def load_taxonomy(name: str) -> Taxonomy:
    """Return the taxonomy with this name, or from this file, whose name ends in ``.toml``.

    Raises:
        UnknownNameError: there is none with this name.
        DataError: the file cannot be read, or is not a taxonomy; the message says where.
    """
    if not name.endswith(".toml"):
        if name not in taxonomy_names():
            raise UnknownNameError("taxonomy", name, taxonomy_names())
        return read_taxonomy((_OWN / f"{name}.toml").read_text("utf-8"), where=name)
    try:
        text = text_bounded(Path(name))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name} cannot be read: {cause(error)}") from error
    return read_taxonomy(text, where=name)


def read_taxonomy(text: str, *, where: str) -> Taxonomy:
    """Parse a taxonomy from the text of a file.

    Raises:
        DataError: no TOML, a field that is missing or unknown, no kinds, two of one name, or a kind within
            one that does not exist or is itself within another.
    """
    try:
        taxonomy = msgspec.convert(toml_of(text), Taxonomy)
    except ValueError as error:
        raise DataError(f"{where} is no taxonomy: {error}") from error
    names = [kind.name for kind in taxonomy.kinds]
    if len(taxonomy.labels) < 2:
        raise DataError(f"{where}: {len(taxonomy.labels)} kinds to label with; expected two or more")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{where}: two kinds are called {name!r}; names must differ")
    outer = {kind.name for kind in taxonomy.kinds if not kind.within}
    for kind in taxonomy.kinds:
        if kind.within and kind.within not in outer:
            raise DataError(
                f"{where}: {kind.name!r} is within {kind.within!r}; expected a kind of the file that is "
                "within no other"
            )
        if kind.needs_wrong and not taxonomy.has_verdicts:
            raise DataError(f"{where}: {kind.name!r} needs a wrong condition; has_verdicts is not set")
    if bool(taxonomy.printed) != bool(taxonomy.printed_as):
        raise DataError(f"{where}: printed and printed_as go together; give both or neither")
    return taxonomy


def taxonomy_of(benchmarks: Iterable[str]) -> str:
    """Return the name of the taxonomy for runs of these benchmarks.

    Raises:
        UsageError: there is none, or not one for all.
    """
    wanted = sorted(set(benchmarks))
    fitting = [name for name in taxonomy_names() if set(wanted) <= set(load_taxonomy(name).benchmarks)]
    if len(fitting) != 1:
        raise UsageError(
            f"no taxonomy belongs to {' and '.join(wanted)}; say --taxonomy with one of "
            f"{', '.join(taxonomy_names())}, or a file of your own that ends in .toml"
        )
    return fitting[0]
