import pytest

from subjects.scene_sources import source, told
from vidence import catalog
from vidence.errors import DataError


def read(folder, text, more=""):
    (folder / "t.csv").write_text(text)
    return told(catalog.create("scene-source", f"table:{folder / 't.csv'}{more}"))


def test_rows_become_entities_and_cells_facts(tmp_path):
    found = told(source("table", tmp_path, "complete=person|top"))
    quay, hall = found.scenes
    assert (quay.header.scene, hall.header.scene) == ("quay", "hall")
    assert found.vocabulary.attributes["age"].number
    assert found.vocabulary.attributes["top"].values == ("black", "red", "white")
    said = {(one.of, one.name): one.value for one in quay.lines if hasattr(one, "value")}
    assert said == {
        ("p1", "top"): "black", ("p1", "age"): 30, ("p2", "top"): "white", ("p3", "top"): "black",
        ("p3", "age"): 51,
    }  # fmt: skip
    assert [(one.complete, one.for_) for one in quay.lines if hasattr(one, "complete")] == [
        ("person", ""),
        ("top", "person"),
    ]


def test_several_rows_of_one_entity_hold_in_their_times(tmp_path):
    text = "entity,category,start,end,top\np1,person,0,5,black\np1,person,8,9,white\n"
    (scene,) = read(tmp_path, text).scenes
    entity, *facts = scene.lines
    assert entity.spans == ((0, 5), (8, 9))
    assert [(one.value, one.span) for one in facts] == [("black", (0, 5)), ("white", (8, 9))]


def test_rows_that_cannot_be_used_are_listed(tmp_path):
    text = "entity,category,start,end\np1,person,5,1\n,person,0,1\np3,two words!,0,1\np4,person,0,1\n"
    found = read(tmp_path, text)
    assert len(found.scenes[0].lines) == 1
    assert [problem.split(": ", 1)[1][:30] for problem in found.problems] == [
        "end: 1 is not after the start,",
        "entity: empty; expected a name",
        "category: 'two words!' is no w",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("entity,category\n", "no row that can be used"),
        ("who,category\np1,person\n", "no column entity"),
        ("entity,category\np1,person\np1,dog\n", "give two entities two names"),
    ],
)
def test_what_is_no_table_of_entities_is_refused(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        read(tmp_path, text)


def test_a_vocabulary_of_ones_own_is_kept_to(tmp_path):
    (tmp_path / "w.toml").write_text(
        '[categories.person]\n[attributes.top]\nof = ["person"]\nvalues = ["black"]\n'
    )
    found = read(tmp_path, "entity,category,top\np1,person,blak\n", f"?vocabulary={tmp_path / 'w.toml'}")
    from vidence.make.sources.scene_writing import write_scenes

    with pytest.raises(
        DataError, match=r"s\.jsonl:3: p1\.top: there is no value 'blak'. Did you mean 'black'"
    ):
        write_scenes(found, tmp_path / "s.jsonl")
    assert not (tmp_path / "s.jsonl").exists()
