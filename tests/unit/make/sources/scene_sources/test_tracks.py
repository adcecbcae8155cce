import pytest

from subjects.scene_sources import source, told
from vidence import catalog
from vidence.errors import DataError, UsageError
from vidence.make.compose.phrases import Phrases, ValueStatement, of_several


def facts(found):
    return [one for one in found.scenes[0].lines if hasattr(one, "name")]


def test_who_comes_and_goes_where(tmp_path):
    found = told(source("tracks", tmp_path, "complete=person|enter|leave"))
    sides = {
        (one.of, one.name): one.value
        for one in facts(found)
        if getattr(one, "value", "") and one.holds and one.name != "stays"
    }
    assert sides == {
        ("p1", "enters"): "there already", ("p1", "leaves"): "inside", ("p2", "enters"): "inside",
        ("p2", "leaves"): "still there", ("p3", "enters"): "right", ("p3", "leaves"): "inside",
        ("leave-p1", "side"): "inside", ("enter-p2", "side"): "inside", ("enter-p3", "side"): "right",
        ("leave-p3", "side"): "inside",
    }  # fmt: skip
    events = {one.id: (one.roles["who"], one.span) for one in found.scenes[0].lines if hasattr(one, "roles")}
    assert events == {
        "leave-p1": ("p1", (3.9, 4.0)), "enter-p2": ("p2", (2.0, 2.1)), "enter-p3": ("p3", (3.0, 3.1)),
        "leave-p3": ("p3", (4.9, 5.0)),
    }  # fmt: skip
    assert found.scenes[0].header.duration_s == 6.0


def test_the_words_of_tracks_read_as_sentences(tmp_path):
    phrases = Phrases(told(source("tracks", tmp_path)).vocabulary)
    for statement, said in (
        (ValueStatement("enters", "==", "bottom"), "who is seen coming into view at the bottom"),
        (ValueStatement("enters", "!=", "left"), "who is not seen coming into view on the left"),
        (ValueStatement("enters", "==", "there already"), "who is in view from the first frame on"),
        (ValueStatement("leaves", "==", "inside"), "who is seen going out of view inside the picture"),
        (ValueStatement("leaves", "!=", "still there"), "who is not in view until the last frame"),
        (ValueStatement("stays", "!=", "2 to 5 s"), "who is not in view for 2 to 5 s"),
        (ValueStatement("side", "==", "top"), "that happens at the top"),
    ):
        assert phrases.says(statement) == said
        assert phrases.read_value(said) == phrases.read_value(of_several(said)) == statement
    assert phrases.owned("P", "leaves") == "P's way out of view"


def test_who_is_left_of_whom_and_who_comes_nearest(tmp_path):
    said = {
        (one.of, one.name, one.to): one.holds
        for one in facts(told(source("tracks", tmp_path)))
        if hasattr(one, "to")
    }
    assert said["p1", "left_of", "p3"] is True
    assert said["p3", "left_of", "p1"] is False
    assert said["p1", "nearest_to", "p2"] is True
    assert said["p3", "nearest_to", "p2"] is False


def test_what_is_near_a_border_is_not_told(tmp_path):
    (tmp_path / "t.txt").write_text(
        "1,9,50,50,9,9,1,-1,-1,-1\n2,1,12,100,40,100,1,-1,-1,-1\n3,9,50,50,9,9,1,-1,-1,-1\n"
    )
    spec = f"tracks:{tmp_path / 't.txt'}?fps=1&identities=silver"
    found = told(catalog.create("scene-source", f"{spec}&size=640x480"))
    said = {
        (o.name, o.value): o.holds
        for o in facts(found)
        if o.of == "p1" and hasattr(o, "value") and o.name != "stays"
    }
    never = [("enters", "there already"), ("enters", "right"), ("enters", "top"), ("enters", "bottom")]
    never += [("leaves", "still there"), ("leaves", "right"), ("leaves", "top"), ("leaves", "bottom")]
    assert said == dict.fromkeys(never, False)  # left, or inside
    assert "1 of 2 tracks begin inside" not in "".join(found.notes)
    assert found.scenes[0].header.truth == "silver tracks"
    assert not [
        one
        for one in facts(told(catalog.create("scene-source", spec)))
        if getattr(one, "value", "") == "inside"
    ]


@pytest.mark.parametrize(
    ("n", "may"), [(5, {"less than 1 s"}), (20, {"1 to 2 s", "2 to 5 s"}), (30, {"2 to 5 s"})]
)
def test_times_in_view_are_stated_where_they_are_clear(tmp_path, n, may):
    (tmp_path / "t.txt").write_text("".join(f"{i + 1},1,200,200,40,90,1,-1,-1,-1\n" for i in range(n)))
    found = told(catalog.create("scene-source", f"tracks:{tmp_path / 't.txt'}?fps=10&identities=true"))
    values = {one.value: one.holds for one in facts(found) if one.name == "stays"}
    known = set(found.vocabulary.attributes["stays"].values)
    assert values == (dict.fromkeys(may, True) if len(may) == 1 else dict.fromkeys(known - may, False))


def test_a_tracker_that_loses_people_is_told(tmp_path):
    (tmp_path / "t.txt").write_text(
        "".join(f"{f},1,5{f},50,9,9,1,-1,-1,-1\n{f},2,0,50,9,9,1,-1,-1,-1\n" for f in (2, 3))
        + "1,3,200,200,9,9,1,-1,-1,-1\n4,3,200,200,9,9,1,-1,-1,-1\n"
    )
    spec = f"tracks:{tmp_path / 't.txt'}?fps=1&size=640x480&identities="
    notes = told(catalog.create("scene-source", f"{spec}silver")).notes
    assert [note.partition(".")[0] for note in notes] == [
        "1 of 3 tracks begin inside the picture",
        "1 of 3 tracks end inside the picture",
    ]
    assert told(catalog.create("scene-source", f"{spec}true")).notes == ()


def test_gaps_are_out_of_view(tmp_path):
    (tmp_path / "t.txt").write_text("".join(f"{n},1,100,100,40,90,1,-1,-1,-1\n" for n in (1, 2, 3, 30, 31)))
    (scene,) = told(
        catalog.create("scene-source", f"tracks:{tmp_path / 't.txt'}?fps=10&identities=true")
    ).scenes
    assert scene.lines[0].spans == ((0.0, 0.3), (2.9, 3.1))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1,-1,1,1,9,9,1,-1,-1,-1\n", "no identities"),
        ("1,4,1,1,9,9,1,-1,-1,-1\n1,4,2,2,9,9,1,-1,-1,-1\n", "two boxes in one frame"),
        ("1,4,1,1,9,9,0,1,1\n", "no person whose boxes count"),
    ],
)
def test_what_has_nobody_in_it_is_refused(tmp_path, text, says):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(DataError, match=says):
        told(catalog.create("scene-source", f"tracks:{tmp_path / 't.txt'}?fps=10&identities=true"))


def test_a_size_is_two_numbers(tmp_path):
    with pytest.raises(UsageError, match="expected WIDTHxHEIGHT"):
        catalog.create("scene-source", f"tracks:{tmp_path}?fps=10&identities=true&size=wide")
