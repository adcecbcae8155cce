"""Facts from benchmarks' papers: protocols, published tables, location of the questions."""

import functools
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from vidence.ask.benchmarks.question_files import KnownNames
from vidence.contracts import AskingRules, PaperColumn, Release
from vidence.installation import packaged
from vidence.records import Record


class PaperFacts(Record):
    """The file of a benchmark.

    A protocol states its changes to the one named ``like``, or to `AskingRules`; of ``sampling``, everything.
    The word ``none`` leaves a setting to the server. `lists` are the benchmark's own lists: names with
    alternative spellings, or groups with members.
    """

    citation: str
    licence: str
    terms: str
    release: Release
    protocols: dict[str, dict[str, object]]
    tables: dict[str, tuple[PaperColumn, ...]] = msgspec.field(default_factory=dict)
    lists: dict[str, dict[str, tuple[str, ...]]] = msgspec.field(default_factory=dict)


class NamedRow(Record):
    """A published row of results, in percent, by column title of `tables`."""

    model: str
    values: dict[str, float]
    source: str
    frames: str = ""
    note: str = ""


@functools.cache
def paper_facts(name: str) -> PaperFacts:
    """Return a benchmark's facts by name."""
    return packaged("vidence.ask.benchmarks", f"{name}.toml", PaperFacts)


@functools.cache
def known_names(benchmark: str, listed: str) -> KnownNames:
    """Return the names in a list of a benchmark's file."""
    return KnownNames(paper_facts(benchmark).lists[listed])


@functools.cache
def group_of(benchmark: str, listed: str) -> Mapping[str, str]:
    """Return the group of each member in a list of a benchmark's file, such as a subject's discipline."""
    groups = paper_facts(benchmark).lists[listed].items()
    return MappingProxyType({member: group for group, members in groups for member in members})


def _asking_rules(protocols: Mapping[str, Mapping[str, object]]) -> dict[str, AskingRules]:
    rules: dict[str, AskingRules] = {}
    for name, changed in protocols.items():
        fields = dict(changed)
        like = rules.get(str(fields.pop("like", "")), AskingRules())
        if isinstance(sampling := fields.get("sampling"), dict):
            fields["sampling"] = {key: None if value == "none" else value for key, value in sampling.items()}
        rules[name] = msgspec.convert(msgspec.to_builtins(like) | fields, AskingRules)
    return rules


class OfPaper:
    """A `contracts.Benchmark` with its facts in the file of its name."""

    name: str

    def __init__(self, facts: PaperFacts | None = None) -> None:
        facts = facts or paper_facts(self.name)
        self.citation, self.licence, self.terms = facts.citation, facts.licence, facts.terms
        self.release, self.paper_tables = facts.release, facts.tables
        self.protocols: Mapping[str, AskingRules] = _asking_rules(facts.protocols)
