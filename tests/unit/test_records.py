"""The values that travel: which questions belong together."""

import msgspec

from vidence.records import Clusters, Item, Media, by_key, noun_of, source_noun


def item(path: str, source: str = "") -> Item:
    return Item(item_id=path, media=(Media(path=path),), source=source, question="Who?", answer="A")


def test_the_source_is_the_medium_where_no_film_is_named() -> None:
    assert item("a.mp4").source_id == item("a.mp4").video_id == "a.mp4"
    assert item("a.mp4", "film").source_id == "film"
    assert item("a.mp4", "film").video_id == "a.mp4"  # what is decoded together


def test_the_source_is_called_source_id_in_files_and_absent_where_it_is_the_medium() -> None:
    written = msgspec.json.encode(item("a.mp4", "film"))
    assert msgspec.json.decode(written)["source_id"] == "film"
    assert msgspec.json.decode(written, type=Item) == item("a.mp4", "film")
    assert b"source" not in msgspec.json.encode(item("a.mp4"))


def test_clusters_are_called_sources_only_where_media_share_one() -> None:
    assert source_noun([item("a.mp4"), item("b.mp4"), item("a.mp4")]) == "video"
    assert source_noun([item("a.mp4", "one"), item("b.mp4", "two")]) == "video"
    assert source_noun([item("a.mp4", "one"), item("b.mp4", "one")]) == "source"
    assert source_noun([]) == "video"


def test_clusters_keep_their_noun_in_parts() -> None:
    films = Clusters.of([item("a.mp4", "one"), item("b.mp4", "one"), item("c.mp4", "two")])
    assert (films, films.noun, films.n) == (("one", "one", "two"), "source", 2)
    part = films.part([0, 2])
    assert (part, part.noun, part.n) == (("one", "two"), "source", 2)
    alone = Clusters.of([item("c.mp4", "two")])
    assert alone.noun == "video"
    assert Clusters.of([item("c.mp4", "two")], noun="source").noun == "source"
    assert (noun_of(films), noun_of(["a"])) == ("source", "video")


def test_values_are_grouped_in_the_order_in_which_they_come() -> None:
    groups = by_key((len(word), word) for word in ("bee", "ants", "asp", "moth"))
    assert list(groups.items()) == [(3, ["bee", "asp"]), (4, ["ants", "moth"])]
    assert by_key([]) == {}
