"""What every benchmark in the catalog must do, on a small sample of its own (see `samples`)."""

from pathlib import Path

import msgspec
import pytest

from subjects.samples import sample_folder
from vidence import catalog
from vidence.ask.prompting import templates
from vidence.ask.prompting.compose import Layout
from vidence.contracts import Benchmark, Loaded
from vidence.errors import DataError, UsageError
from vidence.media.encode import Size
from vidence.media.files import missing
from vidence.records import Item, Media
from vidence.report.scores import macro_tag

NAMES = catalog.ready("benchmark")


def make(name: str) -> Benchmark:
    return catalog.create("benchmark", name)


def loaded(name: str, split: str = "") -> Loaded:
    benchmark = make(name)
    return benchmark.load(sample_folder(name), split=split or benchmark.splits[0], strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    benchmark = make(name)
    assert benchmark.name == name
    assert benchmark.version >= 1
    assert benchmark.citation
    assert benchmark.licence
    assert benchmark.terms.endswith(".")
    assert benchmark.splits
    assert len(set(benchmark.splits)) == len(benchmark.splits)


PROTOCOLS = [(name, protocol) for name in NAMES for protocol in make(name).protocols]


@pytest.mark.parametrize(("name", "protocol"), PROTOCOLS)
def test_its_protocols_name_things_that_exist(name: str, protocol: str) -> None:
    rules = make(name).protocols[protocol]
    assert catalog.parse_spec(rules.selector).name in catalog.names("selector")
    assert rules.parser in catalog.names("parser")
    assert rules.judge in catalog.names("judge")
    assert rules.prompts in templates.sets()
    assert rules.style in ("direct", "cot")
    assert rules.frames >= 1
    assert catalog.create("strategy", rules.strategy).version >= 1
    assert 1 <= rules.jpeg_quality <= 95
    Size.parse(rules.size)
    Layout.parse(rules.layout)
    macro_tag(rules.headline)


@pytest.mark.parametrize("name", NAMES)
def test_its_sample_loads_with_usable_items_twice_and_in_every_split(name: str) -> None:
    found = loaded(name)
    assert found.items
    assert found.problems == ()
    assert len({item.item_id for item in found.items}) == len(found.items)
    for item in found.items:
        assert item.question.strip()
        assert item.media
        if item.answer_kind == "choice":
            assert len(item.choices) >= 2
            assert item.answer in item.letters
        else:
            assert item.choices == ()
            assert item.answer.strip()
    shares = [1 / len(i.choices) for i in loaded(name).items if i.answer_kind == "choice"]
    assert not shares or 0 < sum(shares) / len(shares) <= 0.5
    items = loaded(name).items
    assert msgspec.json.decode(msgspec.json.encode(list(items)), type=tuple[Item, ...]) == items
    first, second = loaded(name), loaded(name)
    assert first == second
    assert len(first.content_hash) == 64
    benchmark = make(name)
    whole = {item.item_id for split in benchmark.splits for item in loaded(name, split).items}
    assert {item.item_id for item in loaded(name).items} <= whole


@pytest.mark.parametrize("name", ["actpld", "herbench", "humanpcr", "mmvu", "perceptioncomp"])
def test_its_sample_brings_its_media(name: str) -> None:
    for split in make(name).splits:
        found = loaded(name, split)
        assert not missing(found.media_root, found.items)


@pytest.mark.parametrize("name", NAMES)
def test_spans_and_evidence_are_inside_the_media(name: str) -> None:
    for item in loaded(name).items:
        for span in (*item.media, *item.evidence):
            if span.start_s is not None and span.end_s is not None:
                is_frame = isinstance(span, Media) and span.is_still
                assert 0 <= span.start_s < span.end_s or (is_frame and span.start_s >= 0)
        if len(item.media) == 1:
            start_s, end_s = item.media[0].start_s or 0.0, item.media[0].end_s
            for evidence in item.evidence:
                assert evidence.start_s is None or evidence.start_s >= start_s
                assert evidence.end_s is None or end_s is None or evidence.end_s <= end_s


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_there_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no-such-split"):
        make(name).load(sample_folder(name), split="no-such-split")
    benchmark = make(name)
    for data in (tmp_path, tmp_path / "absent"):
        with pytest.raises(DataError, match="expected") as caught:
            benchmark.load(data, split=benchmark.splits[0])
        assert str(data) in str(caught.value)
    empty = tmp_path / "questions.json"
    empty.write_bytes(b"\n")
    with pytest.raises(DataError, match=r"questions\.json"):
        benchmark.load(empty, split=benchmark.splits[0])
