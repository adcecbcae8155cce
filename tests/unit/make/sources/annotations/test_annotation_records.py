"""Records, label spaces, and what each format makes of its lines."""

import json
from pathlib import Path

import pytest

from vidence import catalog
from vidence.errors import DataError
from vidence.make.sources.annotations.annotation_records import (
    AnnotationRecord,
    Annotations,
    Box,
    Label,
    LabelSpace,
)

GOLDEN = Path(__file__).parents[4] / "golden" / "annotations"


def read(name: str, path: Path, **options: str) -> Annotations:
    spec = catalog.Spec(name=name, options=options)
    found: Annotations = catalog.create("annotation-format", spec).read(path)
    return found


def reasons(found: Annotations) -> dict[str, str]:
    return {one.what: one.reason for one in found.dropped}


def test_a_space_knows_what_is_above_below_and_beside():
    labels = (Label(name="hand"), Label(name="fist", parent="hand"), Label(name="palm", parent="hand"))
    deeper = Label(name="open palm", parent="palm", synonyms=("flat hand",))
    space = LabelSpace(name="x", labels=(*labels, deeper, Label(name="foot")))
    assert space.kin("palm") == {"palm", "hand", "open palm"}
    assert space.siblings("palm") == ("fist",)
    assert space.siblings("foot") == ()
    assert space.find("Flat  hand") == deeper
    assert not space.is_numeric
    circle = LabelSpace(name="c", labels=(Label(name="a", parent="b"), Label(name="b", parent="a")))
    assert circle.kin("a") == {"a", "b"}


def test_a_box_that_is_none_is_refused_and_people_are_counted_by_boxes():
    with pytest.raises(ValueError, match="expected left < right"):
        Box(label="person", box_px=(3, 0, 3, 9))
    boxes = tuple(Box(label=name, box_px=(0, 0, 1, 1)) for name in ("person", "cup", "person"))
    assert AnnotationRecord(record_id="a", boxes=boxes).people == 2
    assert AnnotationRecord(record_id="a", boxes=boxes, n_people=5).people == 5
    assert AnnotationRecord(record_id="a").people is None


def test_lines_that_are_no_records_are_named_with_their_number(tmp_path):
    path = tmp_path / "a.jsonl"
    space = json.dumps({"space": "s", "labels": ["a"]})
    path.write_text(f'{{"record_id": "a"}}\nnonsense\n{{"record_id": "b", "colour": 1}}\n{space}\n{space}\n')
    found = read("jsonl", path)
    assert [one.record_id for one in found.records] == ["a"]
    assert reasons(found) == dict.fromkeys(("a.jsonl:2", "a.jsonl:3", "a.jsonl:5"), "malformed")
    assert "unknown field `colour`" in found.dropped[1].detail


def test_the_columns_of_a_table_are_named_by_options(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Nr,file,was,von,bis,wo\n1,a.mp4,runs,1,2.5,park\n2,b.mp4,walks,x,3,\n")
    found = read(
        "csv", path, id="nr", media="file", label="was", kind="video", start="von", end="bis", fields="wo"
    )
    (one,) = found.records
    assert (one.media[0].start_s, one.media[0].end_s, one.fields) == (1.0, 2.5, {"wo": "park"})
    assert reasons(found) == {f"{path}:3": "malformed"}
    with pytest.raises(DataError, match="no column record_id and media and label"):
        read("csv", path)


def test_what_happens_around_an_event_is_also_true_of_its_clip():
    found = read("events", GOLDEN / "events" / "log.csv", log="plain")
    first, second, third = found.records
    assert (first.label, first.also_true, first.fields) == ("take", ("wash",), {"noun": "cup"})
    # A viewer may take closing for opening, and says so unless `alike` is set.
    assert (second.also_true, third.also_true) == (("take",), ())
    assert "open" in found.spaces["verb"].kin(third.label)
    alike = read("events", GOLDEN / "events" / "log.csv", log="plain", alike="true")
    assert alike.spaces["verb"].kin(third.label) == {third.label}
    assert first.media[0].path == "v1.mp4"
    assert reasons(found) == {"e4": "too-short"}
    nouns = read(
        "events", GOLDEN / "events" / "log.csv", log="plain", label="noun", video="{video}/{video}.MP4"
    )
    assert (nouns.records[0].label, nouns.records[0].fields) == ("cup", {"verb": "take"})
    assert nouns.records[0].media[0].path == "v1/v1.MP4"


def test_nouns_that_name_anything_are_no_labels(tmp_path):
    log = "video_id,start,end,narration,verb,noun\nv,1,2,take mug,take,mug\nv,5,6,take food,take,food\n"
    (tmp_path / "log.csv").write_text(f"{log}v,9,10,take glass,take,glass\n")
    found = read("events", tmp_path / "log.csv", log="plain", label="noun")
    assert [(one.name, one.near) for one in found.spaces["noun"].labels] == [
        ("glass", ("mug",)),
        ("mug", ("glass",)),
    ]
    assert list(reasons(found).values()) == ["vague-label"]
    assert found.spaces["noun"].find("food") is None


def test_words_that_the_log_puts_into_one_class_are_no_wrong_choices_of_each_other(tmp_path):
    log = "video_id,start,end,narration,verb,noun,verb_class\n"
    (tmp_path / "log.csv").write_text(f"{log}v,1,2,shut tin,shut,tin,4\nv,9,11,bolt door,bolt,door,4\n")
    found = read("events", tmp_path / "log.csv", log="plain")
    assert [(one.name, one.near) for one in found.spaces["verb"].labels] == [
        ("bolt", ("shut",)),
        ("shut", ("bolt",)),
    ]


def test_classes_of_events_give_labels_parents_and_synonyms(tmp_path):
    (tmp_path / "classes.csv").write_text("id,key,instances,category\n0,take,\"['pick-up', 'take']\",get\n")
    log = "video_id,start,end,narration,verb,noun,verb_class\n"
    (tmp_path / "log.csv").write_text(f"{log}v,1,2,pick up cup,pick up,cup,0\nv,9,11,wash cup,wash,cup,7\n")
    found = read("events", tmp_path / "log.csv", log="plain", classes="classes.csv")
    assert [one.label for one in found.records] == ["take"]
    assert found.spaces["verb"].labels == (Label(name="take", parent="get", synonyms=("pick up", "take")),)
    assert list(reasons(found).values()) == ["no-label"]


def test_a_person_who_is_hardly_seen_makes_a_count_doubtful(tmp_path):
    path = tmp_path / "gt.txt"
    path.write_text(
        "1,1,0,0,10,10,1,1,1.0\n1,2,50,0,10,10,1,1,0.05\n2,1,0,0,10,10,1,1,1.0\n1,3,90,0,9,9,1,3,1.0\n"
    )
    found = read("tracks", path, video="a.mp4", fps="1", clip_s="1", every_s="1")
    assert [one.label for one in found.records] == ["1"]
    assert list(reasons(found).values()) == ["hardly-seen"]


def test_instances_of_coco_are_true_beside_each_other():
    found = read("coco", GOLDEN / "coco" / "instances.json")
    assert [(one.record_id, one.also_true, one.people) for one in found.records] == [
        ("1-person", ("cup",), 1),
        ("1-cup", ("person",), 1),
    ]
    assert reasons(found) == {"annotation 3": "malformed", "2": "no-label"}
    assert found.spaces["category"].siblings("cup") == ("fork",)


def test_captions_of_coco(tmp_path):
    captions = {
        "images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}],
        "annotations": [{"id": 1, "image_id": 1, "caption": "Somebody\n waves."}],
    }
    (tmp_path / "captions.json").write_text(json.dumps(captions))
    found = read("coco", tmp_path / "captions.json", what="captions")
    assert [one.caption for one in found.records] == ["Somebody waves."]
    assert reasons(found) == {"2": "no-caption"}


def test_a_sheet_of_people_passes_over_what_waits(tmp_path):
    header = "record_id,media,kind,start_s,end_s,source_id,question,label,wrong_1,wrong_2,wrong_3,wrong_4,"
    rows = (
        "q1,a.mp4,video,1,2.5,film,What lies on the chair?,a hat,a bag,a book,,,a cap",
        "s9,b.jpg,image,,,,,,,,,,",
    )
    (tmp_path / "sheet.csv").write_text("\n".join((f"{header}also_true", *rows)))
    found = read("csv", tmp_path / "sheet.csv")
    (one,) = found.records
    assert (one.question, one.label, one.wrong) == ("What lies on the chair?", "a hat", ("a bag", "a book"))
    assert one.also_true == ("a cap",)
