from pathlib import Path

import pytest

from vidence.errors import DataError, UsageError
from vidence.make.sources.scene import Complete, Header
from vidence.make.sources.scene_files import read_scenes
from vidence.make.sources.scene_writing import (
    SceneDraft,
    SceneSet,
    complete_lines,
    scenes_of,
    vocabulary_toml,
    write_scenes,
)
from vidence.make.sources.vocabulary import read_vocabulary

GOLDEN = Path(__file__).parents[3] / "golden" / "compose"


def street():
    lane = read_scenes(GOLDEN / "lane.jsonl")["lane"]
    listed = [one for one in lane.entities.values() if one.category != "event"]
    complete = [Complete(complete=what, for_=of) for what, of in sorted(lane.complete)]
    draft = SceneDraft(header=lane.header, lines=(*listed, *lane.facts, *complete))
    return lane, SceneSet(vocabulary=lane.vocabulary, scenes=(draft,))


def test_the_street_is_the_same_after_writing(tmp_path):
    lane, told = street()
    written = write_scenes(told, tmp_path / "again.jsonl")["lane"]
    assert read_scenes(tmp_path / "again.jsonl") == {"lane": written}
    assert (written.entities, written.facts, written.complete) == (lane.entities, lane.facts, lane.complete)
    assert written.vocabulary == lane.vocabulary


def test_a_vocabulary_is_the_same_after_writing(tmp_path):
    words = read_vocabulary(GOLDEN / "street.toml")
    (tmp_path / "w.toml").write_text(vocabulary_toml(words))
    assert read_vocabulary(tmp_path / "w.toml") == words


def test_a_vocabulary_of_the_user_is_not_replaced_beside_new_scenes(tmp_path):
    _, told = street()
    (tmp_path / "x.toml").write_text("mine")
    with pytest.raises(UsageError, match=r"x\.toml is there without scenes, and would be replaced"):
        write_scenes(told, tmp_path / "x.jsonl")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.toml", "mine")]


def test_nothing_is_written_of_what_cannot_be_read(tmp_path):
    _, told = street()
    header = Header(scene="lane", vocabulary="", duration_s=1)
    bad = SceneSet(
        vocabulary=told.vocabulary, scenes=(SceneDraft(header=header, lines=told.scenes[0].lines),)
    )
    with pytest.raises(DataError, match=r"x\.jsonl:2: the span \[2, 30\] ends after the video"):
        write_scenes(bad, tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="here:2: "):
        scenes_of(bad, source="here")


def test_only_what_a_source_has_can_be_complete():
    known = {"person": (), "top": ("person", "doll")}
    assert complete_lines(["person", "top"], known, owner="x") == (
        Complete(complete="person"),
        Complete(complete="top", for_="person"),
        Complete(complete="top", for_="doll"),
    )
    with pytest.raises(UsageError, match="complete = 'hat' covers nothing here; it can name person, top"):
        complete_lines(["hat"], known, owner="x")
