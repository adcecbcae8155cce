"""Importers of event logs: what they read, and what they say of what they cannot read."""

import gzip
import json
import pickle
from pathlib import Path

import pytest

from vidence import catalog
from vidence.errors import DataError
from vidence.make.sources.event_log import EventLog, EventLogReader

EPIC = (
    "narration_id,participant_id,video_id,narration_timestamp,start_timestamp,stop_timestamp,start_frame,"
    "stop_frame,narration,verb,verb_class,noun,noun_class,all_nouns,all_noun_classes\n"
)
PLAIN = "video_id,start,end,narration,verb,noun\n"
VERBS = "id,key,instances,category\n0,take,\"['take', 'pick-up']\",retrieve\n3,open,\"['open']\",access\n"
NOUNS = "ID,Key,Instances,Category\n2,plate,\"['plate', 'plate:soup']\",crockery\n"


def reader(name: str, **options: str) -> EventLogReader:
    made: EventLogReader = catalog.create("event-log", catalog.Spec(name=name, options=options))
    return made


def read(name: str, path: Path, text: str, **options: str) -> EventLog:
    path.write_text(text, encoding="utf-8")
    return reader(name, **options).read(path)


def epic_row(number: int, start: str, stop: str, verb: str = "pick-up", noun: str = "plate:soup") -> str:
    nouns = f"\"['{noun}', 'rack:dish']\",\"[2, 40]\""
    return f"P_{number},P,V1,0,{start},{stop},1,2,pick up soup plate,{verb},0,{noun},2,{nouns}\n"


def row(**changes: object) -> dict[str, object]:
    """A narration of HD-EPIC."""
    return {
        "unique_narration_id": "P01-1",
        "video_id": "P01",
        "narration": "Open the upper cupboard by holding its handle.",
        "start_timestamp": 7.44,
        "end_timestamp": 8.75,
        "nouns": ["upper cupboard", "handle"],
        "noun_classes": [3, 41],
        "pairs": [["open", "upper cupboard"], ["hold", "handle"]],
        "pair_classes": [[3, 3], [34, 41]],
        "main_actions": [["open", "upper cupboard"]],
        "main_action_classes": [[3, 3]],
    } | changes


def test_epic_rows_become_events_in_the_order_of_time(tmp_path: Path) -> None:
    text = EPIC + epic_row(0, "00:00:02.50", "00:00:04.00") + epic_row(10, "01:01:00.25", "01:01:02")
    text += epic_row(1, "00:00:03.00", "00:00:03.50", verb="open")
    log = read("epic", tmp_path / "log.csv", text)
    assert [e.event_id for e in log.events["V1"]] == ["P_0", "P_1", "P_10"]
    first, _, last = log.events["V1"]
    assert (first.start_s, first.end_s, last.start_s) == (2.5, 4.0, 3660.25)
    assert (first.verb, first.noun, first.verb_class, first.noun_class) == ("pick up", "soup plate", 0, 2)
    assert first.nouns == ("soup plate", "dish rack")
    assert first.noun_classes == (2, 40)
    assert any("1 events stand after a later one" in note for note in log.notes)
    assert any("1 of 2 events begin before the one before them ends" in note for note in log.notes)


def test_classes_come_from_the_tables_beside_the_log(tmp_path: Path) -> None:
    (tmp_path / "EPIC_100_verb_classes.csv").write_text(VERBS)
    (tmp_path / "EPIC_100_noun_classes.csv").write_text(NOUNS)
    lines = [
        "narration_id,video_id,start_timestamp,stop_timestamp,narration,verb,noun",
        "1,V,00:00:01.0,00:00:02.0,pick up plate,pick-up,plate",
        "2,V,00:00:03.0,00:00:04.0,frobnicate plate,frobnicate,plate",
        "3,V,00:00:05.0,00:00:06.0,frobnicate plate,frobnicate,plate",
    ]
    log = read("epic", tmp_path / "log.csv", "\n".join(lines))
    assert [(e.verb_class, e.noun_class) for e in log.events["V"]] == [(0, 2), (-1, 2), (-1, 2)]
    assert log.problems == ()
    (note,) = log.notes
    assert note.startswith(f"{tmp_path / 'log.csv'}:3: verb 'frobnicate' (class -1) is in no class")
    assert note.endswith("(and in 1 more rows)")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (
            "P_1,P,V1,0,00:00:05,00:00:04,1,2,n,take,0,cup,2,['cup'],[2]",
            "stop_timestamp: 00:00:04 is not after",
        ),
        (
            "P_1,P,V1,0,00:00:05,00:00:05,1,2,n,take,0,cup,2,['cup'],[2]",
            "stop_timestamp: 00:00:05 is not after",
        ),
        ("P_1,P,V1,0,soon,00:00:05,1,2,n,take,0,cup,2,['cup'],[2]", "start_timestamp: 'soon' found"),
        ("P_1,P,V1,0,nan,00:00:05,1,2,n,take,0,cup,2,['cup'],[2]", "start_timestamp: 'nan' found"),
        ("P_1,P,V1,0,-1,00:00:05,1,2,n,take,0,cup,2,['cup'],[2]", "start_timestamp: '-1' found"),
        ("P_1,P,V1,0,1,2,1,2,n,take,x,cup,2,['cup'],[2]", "verb_class: 'x' found"),
        ("P_1,P,V1,0,1,2,1,2,n,,0,cup,2,['cup'],[2]", "verb: empty"),
        ("P_1,P,V1,0,1,2,1,2,n,take,0,,2,['cup'],[2]", "noun: empty"),
        ("P_1,P,,0,1,2,1,2,n,take,0,cup,2,['cup'],[2]", "video_id: empty"),
        ("P_1,P,V1,0,1,2,1,2,n,take,0,cup,2", "CSV: 13 cells found; expected 15"),
        ("P_1,P,V1,0,1,2,1,2,n,take,0,cup,2,['cup'],\"[2, 3]\"", "all_noun_classes: '[2, 3]' found"),
        ("P_1,P,V1,0,1,2,1,2,n,take,0,cup,2,['cup'],__import__('os')", "all_noun_classes: "),
        ("P_0,P,V1,0,1,2,1,2,n,take,0,cup,2,['cup'],[2]", "id: 'P_0' was used at"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_the_rest_goes_on(bad: str, said: str, tmp_path: Path) -> None:
    good = epic_row(0, "00:00:01.0", "00:00:02.0")
    log = read("epic", tmp_path / "log.csv", EPIC + good + bad + "\n" + epic_row(2, "00:01:01", "00:01:02"))
    assert [e.event_id for e in log.events["V1"]] == ["P_0", "P_2"]
    (problem,) = log.problems
    assert problem.startswith(f"{tmp_path / 'log.csv'}:3: {said}")


def test_packed_files_are_read_and_broken_ones_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress((EPIC + epic_row(0, "00:00:01", "00:00:02")).encode("utf-8-sig")))
    assert reader("epic").read(path).n_events == 1
    assert reader("epic").read(tmp_path).n_events == 1
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match="cannot be unpacked"):
        reader("epic").read(path)
    (tmp_path / "wide.csv").write_bytes(EPIC.encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        reader("epic").read(tmp_path / "wide.csv")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("id,key\n0,take\n", r"verbs\.csv:1: columns: no column instances"),
        ("id,key,instances\nx,take,['take']\n", r"verbs\.csv:2: id: 'x' found"),
        ("id,key,instances\n0,take,print(1)\n", r"verbs\.csv:2: instances: expected a list"),
        ("id,key,instances\n0,take,\"['take'\n", r"verbs\.csv:2: "),
    ],
)
def test_a_bad_class_table_is_an_error_with_its_line(table: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "verbs.csv").write_text(table)
    with pytest.raises(DataError, match=said):
        read(
            "epic",
            tmp_path / "log.csv",
            EPIC + epic_row(0, "1", "2"),
            verb_classes=str(tmp_path / "verbs.csv"),
        )


def test_a_plain_table_needs_six_columns_and_takes_more(tmp_path: Path) -> None:
    header = "video_id;start;end;narration;verb;noun;nouns;noun_class;verb_class"
    text = f"{header}\nv;0:05.5;7;Put the cup on a shelf.;Put_On;Cup;cup|shelf;13;\n"
    (event,) = read("plain", tmp_path / "log.csv", text).events["v"]
    assert (event.start_s, event.end_s, event.verb, event.noun) == (5.5, 7.0, "put on", "cup")
    assert (event.nouns, event.noun_classes, event.verb_class) == (("cup", "shelf"), (13, -1), -1)
    assert event.narration == "Put the cup on a shelf."
    assert event.event_id == "log.csv#1"


def test_a_word_of_two_classes_has_none(tmp_path: Path) -> None:
    (tmp_path / "x_verb_classes.csv").write_text(VERBS + "7,lift,\"['lift', 'pick up']\",x\n")
    log = read("plain", tmp_path / "log.csv", PLAIN + "v,1,2,n,pick up,cup\nv,3,4,n,take,cup\n")
    assert [e.verb_class for e in log.events["v"]] == [-1, 0]
    assert "'pick up' (class -1) is in no class, or in several" in log.notes[0]


def _as_jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(one) for one in rows) + "\n", encoding="utf-8")
    return path


def test_every_pair_of_a_narration_is_an_event_and_the_main_ones_come_first(tmp_path: Path) -> None:
    log = reader("hd-epic").read(_as_jsonl(tmp_path / "narrations.jsonl", [row()]))
    main, other = log.events["P01"]
    assert (main.event_id, other.event_id) == ("P01-1", "P01-1/2")
    assert (main.verb, main.noun, main.verb_class, main.noun_class) == ("open", "upper cupboard", 3, 3)
    assert (main.nouns, main.noun_classes) == (("upper cupboard", "handle"), (3, 41))
    assert (other.verb, other.nouns, other.verb_class, other.noun_classes) == ("hold", ("handle",), 34, (41,))
    assert (main.start_s, main.end_s) == (other.start_s, other.end_s) == (7.44, 8.75)
    assert log.problems == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"end_timestamp": 7.0}, "start_timestamp, end_timestamp: 7.44 to 7.0 found"),
        ({"start_timestamp": float("nan")}, "start_timestamp"),
        ({"main_actions": "open"}, "main_actions: 'open' found; expected a list"),
        ({"main_actions": [["open"]]}, "main_actions, pairs: expected pairs"),
        ({"main_actions": [], "pairs": []}, "main_actions: no action"),
        ({"narration": None}, "narration: absent"),
    ],
)
def test_a_bad_narration_is_named_and_the_rest_goes_on(
    changes: dict[str, object], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    text = json.dumps(row(**changes)).replace("NaN", "null")
    path.write_text(f"{text}\n{{broken\n\n{json.dumps(row(unique_narration_id='P01-2'))}\n")
    log = reader("hd-epic").read(path)
    assert {e.event_id for e in log.events["P01"]} == {"P01-2", "P01-2/2"}
    assert log.problems[0].startswith(f"{path}:1: {said}")
    assert log.problems[1].startswith(f"{path}:2: JSON: ")


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "opened",))

    for name in ("HD_EPIC_Narrations.pkl", "other.pickle"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(DataError, match=r"to_json\('HD_EPIC_Narrations\.jsonl'"):
            reader("hd-epic").read(tmp_path / name)
    with pytest.raises(DataError, match="a pickle can run any code"):
        reader("hd-epic").read(tmp_path)
    assert not (tmp_path / "opened").exists()
    _as_jsonl(tmp_path / "HD_EPIC_Narrations.jsonl", [row()])
    assert reader("hd-epic").read(tmp_path).n_events == 2
