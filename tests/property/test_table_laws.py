"""Laws of reading a user's table: what is good survives, what is bad is said, nothing else is raised."""

import string
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from vidence.ask.benchmarks import table
from vidence.errors import DataError
from vidence.records import Item, Media

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(
    str.strip
)
# Choices longer than a letter, so that the letter of one is never the text of another.
choices = st.lists(words.map("the {}".format), min_size=2, max_size=6, unique_by=str.strip).map(tuple)


@st.composite
def some_items(draw: st.DrawFn) -> list[Item]:
    items = []
    for item_id in draw(st.lists(words, min_size=1, max_size=5, unique=True)):
        offered = draw(choices)
        items.append(
            Item(
                item_id=item_id,
                question=draw(words),
                choices=offered,
                answer=draw(st.sampled_from(string.ascii_uppercase[: len(offered)])),
                media=tuple(Media(path=path) for path in draw(st.lists(words, max_size=2))),
                tags=draw(st.dictionaries(words, words, max_size=2)),
            )
        )
    return items


def load_bytes(path: Path, content: bytes) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    path.write_bytes(content)
    found = table.create().load(path, split="all")
    return found.items, found.problems


@given(items=some_items())
def test_items_survive_as_lines_and_as_a_list(tmp_path: Path, items: list[Item]) -> None:
    encoded = [msgspec.json.encode(item) for item in items]
    assert load_bytes(tmp_path / "a.jsonl", b"\n".join(encoded)) == (tuple(items), ())
    assert load_bytes(tmp_path / "a.json", b"[" + b",\n".join(encoded) + b"]") == (tuple(items), ())


@given(items=some_items(), bad=st.lists(st.binary(max_size=30).filter(bytes.strip), max_size=4))
def test_bad_lines_lose_no_good_ones(tmp_path: Path, items: list[Item], bad: list[bytes]) -> None:
    noise = [line.replace(b"\n", b" ").replace(b"\r", b" ") for line in bad]
    noise = [b"!" + line for line in noise]
    good = [msgspec.json.encode(item) for item in items]
    mixed = [line for pair in zip(good, noise, strict=False) for line in pair]
    mixed += good[len(noise) :] + noise[len(good) :]
    found, problems = load_bytes(tmp_path / "a.jsonl", b"\n".join(mixed))
    assert found == tuple(items)
    assert len(problems) == len(noise)


@given(
    content=st.binary(max_size=200), suffix=st.sampled_from([".jsonl", ".json", ".csv", ".csv.gz", ".txt"])
)
def test_whatever_a_file_holds_the_error_is_one_of_data(tmp_path: Path, content: bytes, suffix: str) -> None:
    header = b"item_id,question,answer,choices\n" if suffix == ".csv" else b""
    said = str(tmp_path)
    try:
        load_bytes(tmp_path / f"a{suffix}", header + content)
    except DataError as error:
        said = str(error)
    assert str(tmp_path) in said
