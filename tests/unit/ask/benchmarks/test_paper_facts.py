"""Facts of papers out of files: what is like another, and what is left to the server."""

import pytest

from vidence.ask.benchmarks import paper_facts
from vidence.ask.benchmarks.paper_facts import OfPaper, PaperFacts
from vidence.contracts import AskingRules, PaperColumn, Release
from vidence.records import Sampling


@pytest.fixture
def benchmark(monkeypatch):
    facts = PaperFacts(
        citation="a paper",
        licence="a licence",
        terms="all uses",
        release=Release(hub="them/theirs"),
        protocols={
            "paper": {"frames": 8, "sampling": {"temperature": "none", "max_tokens": 50}},
            "long": {"like": "paper", "frames": 64},
            "drawn": {"like": "long", "sampling": {"temperature": 1.0}},
        },
        tables={"Tasks": (PaperColumn(title="all"),)},
    )
    monkeypatch.setattr(paper_facts, "paper_facts", {"mine": facts}.__getitem__)

    class Mine(OfPaper):
        name = "mine"

    return Mine()


def test_a_protocol_has_what_it_changes_of_the_one_that_it_is_like(benchmark):
    short = Sampling(temperature=None, max_tokens=50)
    assert benchmark.protocols == {
        "paper": AskingRules(frames=8, sampling=short),
        "long": AskingRules(frames=64, sampling=short),
        "drawn": AskingRules(frames=64, sampling=Sampling(temperature=1.0)),
    }
    assert benchmark.paper_tables == {"Tasks": (PaperColumn(title="all"),)}
    assert benchmark.release.hub == "them/theirs"
    assert (benchmark.citation, benchmark.licence, benchmark.terms) == ("a paper", "a licence", "all uses")
