"""Rows of other layouts as questions: choices, answers, media, spans, made columns."""

from pathlib import Path

import msgspec
import pytest

from vidence.ask.files import FieldError
from vidence.ask.mapping.items import ItemReader, bare_choices, label_of, split_question
from vidence.ask.mapping.mapping import read_map
from vidence.errors import DataError
from vidence.records import Item, Media

PAIRS = "item_id=id,question=q,choices=c,answer=a"
ROW: dict[str, object] = {"id": 7, "q": "Where?", "c": ["here", "there"], "a": "there"}


def item(pairs: str = "", folder: Path = Path(), /, **row: object) -> Item:
    reader = ItemReader(read_map(f"{PAIRS},{pairs}"), folder=folder)
    return reader.item(reader.row(ROW | row))


def test_numbers_are_ids_tags_and_choices() -> None:
    found = item("tags.level=level,tags.none=nothing,source_id=film", level=3.0, film=12)
    assert (found.item_id, found.tags, found.source_id) == ("7", {"level": "3"}, "12")
    assert item(c=[1, 2.5], a="1").choices == ("1", "2.5")
    assert item(c="[1, 2.50]", a="1").choices == ("1", "2.50")
    several = "choices=x|y|z"
    assert item(several, x="here", y="there", z=None).choices == ("here", "there")
    with pytest.raises(FieldError, match="y: empty, and a later choice is not"):
        item(several, x="here", y="", z="there")
    found = item("constants.answer_kind=text", a="in the bowl")
    assert (found.answer_kind, found.choices, found.answer) == ("text", (), "in the bowl")


@pytest.mark.parametrize(
    "choices",
    [
        ["here", "there"], ["A. here", "B. there"], ["(A) here", "(B) there"], {"A": "here", "B": "there"},
        {"B": "there", "A": "here"}, '["here", "there"]', "['here', 'there']",
        "{'A': 'here', 'B': 'there'}", "here|there",
    ],
)  # fmt: skip
def test_choices_are_written_in_many_ways(choices: object) -> None:
    assert item(c=choices).choices == ("here", "there")


@pytest.mark.parametrize(
    "steps",
    [
        ["Look at the door.", "It is open."],
        "Look at the door.\nIt is open.\n",
        "Look at the door.\n\n  It is open.",
        '["Look at the door.", "It is open."]',
        ("Look at the door.", None, "It is open."),
    ],
)
def test_steps_are_written_in_many_ways(steps: object) -> None:
    assert item("steps=why", why=steps).steps == ("Look at the door.", "It is open.")


def test_steps_stand_in_columns_of_their_own_or_are_not_there() -> None:
    assert item("steps=s1|s2|s3", s1="first", s2="", s3="last").steps == ("first", "last")
    assert item("steps=why", why=None).steps == ()
    assert item("steps=why", why="[0:12] a door | a window").steps == ("[0:12] a door | a window",)
    with pytest.raises(FieldError, match=r"why: dict found; expected a list of steps"):
        item("steps=why", why={"1": "first"})
    with pytest.raises(FieldError, match=r"why: .* found; expected a list"):
        item("steps=why", why="[a step]")


@pytest.mark.parametrize(
    ("form", "answer", "letter"),
    [
        ("letter", "B", "B"), ("letter", "b", "B"), ("letter", "(B)", "B"), ("letter", "B. there", "B"),
        ("text", "there", "B"), ("text", "B. there", "B"), ("number-from-0", 1, "B"),
        ("number-from-0", "1", "B"), ("number-from-0", 1.0, "B"), ("number-from-1", 2, "B"),
        ("letter-or-text", "B. there", "B"), ("letter-or-text", "(B)", "B"),
        ("letter-or-text", ["B"], "B"),
    ],
)  # fmt: skip
def test_an_answer_becomes_a_letter(form: str, answer: object, letter: str) -> None:
    assert item(f"answer_is={form}", a=answer, c=["A. here", "B. there"]).answer == letter


@pytest.mark.parametrize(
    ("form", "answer", "said"),
    [
        ("number-from-0", 2, "'2' found; expected a number from 0 to 1"),
        ("number-from-0", -1, "'-1' found"),
        ("number-from-1", 0, "expected a number from 1 to 2"),
        ("number-from-0", "B", "'B' found"),
        ("letter", "there", "'there' found; expected a letter"),
    ],
)
def test_an_answer_of_another_form_is_refused(form: str, answer: object, said: str) -> None:
    with pytest.raises(FieldError, match=said):
        item(f"answer_is={form}", a=answer)


@pytest.mark.parametrize(
    ("pairs", "row", "media"),
    [
        ("media=v", {"v": "a.mp4"}, (Media(path="a.mp4"),)),
        ("media=clips/{v}.mp4", {"v": 3}, (Media(path="clips/3.mp4"),)),
        ("media=v", {"v": "https://x.org/a.mp4"}, (Media(url="https://x.org/a.mp4"),)),
        ("media=v", {"v": ["a.mp4", "b.mp4"]}, (Media(path="a.mp4"), Media(path="b.mp4"))),
        ("media=v", {"v": '["a.mp4"]'}, (Media(path="a.mp4"),)),
        ("media=v|w", {"v": "a.mp4", "w": "b.mp4"}, (Media(path="a.mp4"),)),
        ("media=v", {"v": {"path": "a.mp4", "bytes": None}}, (Media(path="a.mp4"),)),
        ("", {}, ()),
        ("constants.media=all.mp4", {}, (Media(path="all.mp4"),)),
        ("media=v,constants.media_kind=image", {"v": "a.png"}, (Media(path="a.png", kind="image"),)),
        (
            "media=v,start_s=s,end_s=e",
            {"v": "a.mp4", "s": "00:01:02.5", "e": 90},
            (Media(path="a.mp4", start_s=62.5, end_s=90.0),),
        ),
    ],
)
def test_media_are_paths_addresses_or_words(pairs, row, media):
    assert item(pairs, **row).media == media


@pytest.mark.parametrize(
    ("pairs", "row", "said"),
    [
        ("media=v", {"v": {"path": None, "bytes": b"0"}}, "a file inside the table; write it beside"),
        ("media=v,media_kind=k", {"v": "a", "k": "film"}, "'film' found; expected video or image or frames"),
        ("media=v,start_s=s", {"v": "a", "s": "soon"}, "'soon' found; expected seconds, or HH:MM:SS"),
        ("media=v,subtitles=v,subtitles_from_s=s", {"v": "a", "s": "soon"}, "'soon' found; expected seconds"),
        ("", {"c": 5}, "c: int found; expected a list"),
        ("", {"c": "[broken"}, "found; expected a list, such as"),
        ("media=v", {"v": None}, "media: nothing in 'v'; the columns are id, q, c, a, v"),
        ("", {"id": None}, "item_id: nothing in 'id'; the columns are id, q, c, a"),
    ],
)
def test_what_cannot_be_read_is_said(pairs: str, row: dict[str, object], said: str) -> None:
    with pytest.raises(FieldError, match=said):
        item(pairs, **row)


def test_columns_are_made_by_patterns_lookups_and_joins(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'item_id = "id"\nquestion = "q"\nchoices = "c"\nanswer = "right"\nanswer_is = "number-from-0"\n'
        'media = "{place}/{clip}"\npatterns.url = "/(?P<clip>[^/]+)$"\n'
        '[lookups.place]\nof = "kind"\ndefault = "other"\nvalues = { a = "films" }\n'
        '[joins.right]\nof = "id"\nfile = "answers.json"\n'
    )
    (tmp_path / "answers.json").write_text('{"7": 1, "8": 0}')
    reader = ItemReader(read_map(str(tmp_path / "own.toml")), folder=tmp_path)
    found = [
        reader.item(reader.row(ROW | {"id": n, "kind": kind, "url": "http://x/y.mp4"}))
        for n, kind in ((7, "a"), (8, "b"))
    ]
    assert [(one.answer, one.media[0].path) for one in found] == [("B", "films/y.mp4"), ("A", "other/y.mp4")]
    with pytest.raises(FieldError, match="url: 'none' found; expected"):
        reader.row(ROW | {"url": "none"})
    slow = msgspec.structs.replace(reader.mapping, patterns={"url": "a*a*a*a*a*$b"})
    with pytest.raises(FieldError, match=r"url: 90 characters, too many for a\*a\*a\*a\*a\*\$b"):
        ItemReader(slow, folder=tmp_path).row(ROW | {"url": "a" * 90})


@pytest.mark.parametrize("kinds", [["a", "b", "c"], "['a', 'b', 'c']", '["a", "b", "c"]'])
def test_a_lookup_translates_each_text_of_a_list(tmp_path: Path, kinds: object) -> None:
    (tmp_path / "own.toml").write_text(
        'item_id = "id"\nquestion = "q"\nchoices = "c"\nanswer = "a"\n[tags]\n"part: *" = "part"\n'
        '[lookups.part]\nof = "kind"\nvalues = { a = "one", b = "one" }\n'
    )
    reader = ItemReader(read_map(str(tmp_path / "own.toml")), folder=tmp_path)
    assert reader.item(reader.row(ROW | {"kind": kinds})).tags == {"part: one": "yes"}


def test_a_join_by_two_keys_goes_one_object_deeper(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'item_id = "id"\nquestion = "q"\nchoices = "c"\nanswer = "more.0.a"\n'
        'joins.more = { of = "{id}/{dim}", file = "more.json" }\n'
    )
    (tmp_path / "more.json").write_text('{"7": {"x": [{"a": "B"}], "y": [{"a": "A"}]}, "8": 1}')
    mapping = read_map(str(tmp_path / "own.toml"))
    assert mapping.fits(ROW | {"id": "7", "dim": "x"})
    assert not mapping.fits(ROW | {"id": "7"})
    reader = ItemReader(mapping, folder=tmp_path)
    found = [reader.item(reader.row(ROW | {"id": "7", "dim": dim})) for dim in ("x", "y")]
    assert [one.answer for one in found] == ["B", "A"]


@pytest.mark.parametrize(("content", "said"), [(None, "is not there"), ("[]", "is not one JSON object")])
def test_a_joined_file_must_be_there(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "subset_answers.json").write_text(content)
    with pytest.raises(DataError, match=said):
        ItemReader(read_map("egoschema"), folder=tmp_path)


def test_labels_are_taken_off_only_where_all_have_one() -> None:
    assert label_of("Caption B: x") == (1, "x")
    assert label_of("10:30") is None
    assert bare_choices(["A. x", "C. y"]) == ("A. x", "C. y")
    assert bare_choices(["1:30", "2:30"]) == ("1:30", "2:30")
    assert bare_choices([]) == ()
    text = "A. is a letter.\nWhat?\nA. x\nB. y\nC. z\n\nAnswer with one."
    assert split_question(text) == ("A. is a letter.\nWhat?", ("x", "y", "z"))
    assert split_question("What?\nA. x") == ("What?\nA. x", ())


def test_each_value_of_a_list_is_a_tag() -> None:
    for types in (["seeing", "time "], "['seeing', 'time']", '["seeing", "time"]', "seeing|time"):
        assert item("tags.is *=t", t=types).tags == {"is seeing": "yes", "is time": "yes"}
    assert item("tags.is *=t", t="").tags == item("tags.is *=t", t=None).tags == {}
    with pytest.raises(FieldError, match=r"is \*: int found; expected a list"):
        item("tags.is *=t", t=3)


def test_rows_inside_a_row_are_questions_and_those_of_another_split_are_not(tmp_path: Path) -> None:
    first, second = ({"uid": n, "question": "What?", "answer": a} for n, a in ((1, "A"), (2, "NA")))
    film = {"key": "f1", "qa": [first, second]}
    text = "item_id=uid,question=question,answer=answer,constants.choices=this|that,tags.number=@each"
    mapping = msgspec.structs.replace(read_map(f"{text},each=qa,source_id=key"), only={"answer": ("A", "B")})
    reader = ItemReader(mapping, folder=tmp_path)
    kept = [reader.item(made) for row in reader.inner(film) if reader.wants(made := reader.row(row))]
    assert [(item.item_id, item.source, item.tags) for item in kept] == [("1", "f1", {"number": "0"})]
    for wrong in ({"qa": "x"}, {"qa": [1]}, {}):
        with pytest.raises(FieldError, match="expected a list of objects"):
            reader.inner(wrong)


@pytest.mark.parametrize("spans", [[[1, 2.5], ["0:10", 12]], "[[1, 2.5], [10, 12]]", "1-2.5|0:10-0:12"])
def test_spans_are_parts_of_the_media_or_evidence(spans: object) -> None:
    found = item("media=m,spans=s", m="a.mp4", s=spans)
    assert found.media == (
        Media(path="a.mp4", start_s=1, end_s=2.5),
        Media(path="a.mp4", start_s=10, end_s=12),
    )
    found = item("media=m,evidence=s", m="a.mp4", s=spans)
    assert found.media == (Media(path="a.mp4"),)
    assert [(one.kind, one.start_s, one.end_s) for one in found.evidence] == [
        ("oracle", 1, 2.5),
        ("oracle", 10, 12),
    ]


def test_a_part_that_is_not_said_is_not_the_whole() -> None:
    for none in (None, [], ""):
        assert item("evidence=s", s=none).evidence == ()
        with pytest.raises(FieldError, match="spans: none in 's'"):
            item("media=m,spans=s", m="a.mp4", s=none)
    with pytest.raises(FieldError, match="spans: '5' found; expected a span"):
        item("media=m,spans=s", m="a.mp4", s=5)


def test_a_medium_may_say_its_own_span() -> None:
    found = item("start_s=s,media={m}.mp4#t={t}-{t}", m="a", s=3, t="0:07.5")
    assert found.media == (Media(path="a.mp4", start_s=7.5, end_s=7.5),)
    assert found.media[0].is_still
    found = item("media=m", m=["https://a.b/c.mp4#t=1,2", "d.mp4"])
    assert found.media == (Media(url="https://a.b/c.mp4", start_s=1, end_s=2), Media(path="d.mp4"))
    assert not any(one.is_still for one in found.media)
    with pytest.raises(FieldError, match="media: 'soon' found; expected"):
        item("media=m", m="a.mp4#t=soon")


def test_choices_that_are_lists_are_joined() -> None:
    assert item(c=[["oil", "rice"], ["rice", "oil"]], a="rice, oil").choices == ("oil, rice", "rice, oil")
