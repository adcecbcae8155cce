"""What the papers of benchmarks say: how they ask, which tables they print, where their questions are."""

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

    A protocol has what it changes of that named ``like``, or of `AskingRules`; of ``sampling``, all. The word
    ``none`` there leaves a setting to the server. `lists` are the benchmark's own, by what they list: names
    with their other spellings, or groups with their members.
    """

    citation: str
    licence: str
    terms: str
    release: Release
    protocols: dict[str, dict[str, object]]
    tables: dict[str, tuple[PaperColumn, ...]] = msgspec.field(default_factory=dict)
    lists: dict[str, dict[str, tuple[str, ...]]] = msgspec.field(default_factory=dict)


class NamedRow(Record):
    """A row of results as it was published, in percent, by the titles of the columns of `tables`."""

    model: str
    values: dict[str, float]
    source: str
    frames: str = ""
    note: str = ""


@functools.cache
def paper_facts(name: str) -> PaperFacts:
    """The facts of a benchmark by its name."""
    return packaged("vidence.ask.benchmarks", f"{name}.toml", PaperFacts)


@functools.cache
def known_names(benchmark: str, listed: str) -> KnownNames:
    """The names in a list of a benchmark's file."""
    return KnownNames(paper_facts(benchmark).lists[listed])


@functools.cache
def group_of(benchmark: str, listed: str) -> Mapping[str, str]:
    """The group of each member in a list of a benchmark's file, such as the discipline of a subject."""
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
    """A `contracts.Benchmark` whose facts are in the file of its name."""

    name: str

    def __init__(self, facts: PaperFacts | None = None) -> None:
        facts = facts or paper_facts(self.name)
        self.citation, self.licence, self.terms = facts.citation, facts.licence, facts.terms
        self.release, self.paper_tables = facts.release, facts.tables
        self.protocols: Mapping[str, AskingRules] = _asking_rules(facts.protocols)
