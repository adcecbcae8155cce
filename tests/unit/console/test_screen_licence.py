"""The licence of a benchmark's data is said once to every user, and again when its words change."""

import io

import msgspec
from rich.console import Console

from vidence import catalog
from vidence.ask.benchmarks import paper_facts
from vidence.console.screen import show_licence


def told(cache_root) -> str:
    console = Console(file=io.StringIO(), width=500)
    show_licence("mmvu", console, cache_root=cache_root)
    return console.file.getvalue()


def test_it_is_said_once(tmp_path):
    first = told(tmp_path)
    benchmark = catalog.create("benchmark", "mmvu")
    assert benchmark.citation in first
    assert f"licence: {benchmark.licence}" in first
    assert first.rstrip().endswith("(shown once)")
    assert told(tmp_path) == ""
    assert told(tmp_path / "another") == first


def test_other_terms_are_said_again(tmp_path, monkeypatch):
    told(tmp_path)
    facts = msgspec.structs.replace(paper_facts.paper_facts("mmvu"), terms="Ask the owners.")
    monkeypatch.setattr(paper_facts, "paper_facts", {"mmvu": facts}.__getitem__)
    assert "terms: Ask the owners. (shown once)" in told(tmp_path)


def test_it_is_said_again_where_the_cache_cannot_be_written(tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert "licence: " in told(tmp_path / "cache")
    assert "licence: " in told(tmp_path / "cache")
