import pytest

from subjects.scene_sources import source, told
from vidence import catalog
from vidence.errors import UnknownNameError


def test_events_have_a_kind_and_an_object(tmp_path):
    found = told(source("events", tmp_path, "complete=event"))
    k1, k2 = found.scenes
    assert (k1.header.video, k1.header.truth) == ("k1", "log")
    events = [(one.kind, one.span) for one in k1.lines if hasattr(one, "kind")]
    assert events == [("open", (0, 2.5)), ("take", (4, 6)), ("take", (7, 9))]
    assert [one.value for one in k1.lines if hasattr(one, "value")] == ["door", "cup", "plate"]
    assert k2.lines[-1].complete == "event"
    assert found.vocabulary.attributes["object"].values == ("cup", "door", "plate", "tea")


def test_some_of_the_videos(tmp_path):
    (only,) = told(source("events", tmp_path, "video=k2")).scenes
    assert only.header.scene == "k2"
    with pytest.raises(UnknownNameError, match="k2"):
        told(source("events", tmp_path, "video=k3"))


def test_words_of_one_class_are_one_kind(tmp_path):
    rows = ["video_id,start,end,narration,verb,noun,verb_class,noun_class"]
    rows += [f"k1,{n},{n + 1},x,{verb},cup,{number},7" for n, (verb, number) in enumerate(
        [("take", 0), ("pick up", 0), ("take", 0), ("take", 3), ("grab", 3), ("hum", -1)]
    )]  # fmt: skip
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    (scene,) = told(catalog.create("scene-source", f"events:{tmp_path / 'log.csv'}")).scenes
    kinds = [one.kind for one in scene.lines if hasattr(one, "kind")]
    assert kinds == ["take", "take", "take", "grab", "grab", "hum"]


def test_synonyms_without_a_class_are_one_kind(tmp_path):
    verbs = ("put", "place", "wash", "place")
    rows = [f"k1,{n},{n + 1},x,{verb},cup" for n, verb in enumerate(verbs)]
    (tmp_path / "log.csv").write_text("\n".join(["video_id,start,end,narration,verb,noun", *rows]) + "\n")
    (scene,) = told(catalog.create("scene-source", f"events:{tmp_path / 'log.csv'}")).scenes
    assert [line.kind for line in scene.lines if hasattr(line, "kind")] == ["put", "put", "wash", "put"]
