"""What is drawn for a study; a study that cannot be put to people names all that is wrong."""

import json

import pytest

from vidence.engine.environment import Environment
from vidence.errors import DataError, MissingMediaError, UsageError
from vidence.study.drawing import draw, read_drawn, read_items, write_drawn
from vidence.study.problems import problems
from vidence.study.study import read_study

PLAIN = """
items = "items.jsonl"
[draw]
n = 4
seed = 3
[[phases]]
name = "only"
condition = "none"
[[form]]
name = "answer"
kind = "answer"
"""


@pytest.fixture
def folder(tmp_path):
    questions(tmp_path / "items.jsonl", 12)
    return tmp_path


def questions(path, n, *, start="q", media=""):
    lines = [
        {
            "item_id": f"{start}{i}",
            "question": f"What about {start}{i}?",
            "choices": ["one", "two", "three"],
            "answer": "ABC"[i % 3],
            "tags": {"kind": "abc"[i % 3]},
            **({"media": [{"path": media}]} if media else {}),
        }
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def drawn(folder, text=PLAIN):
    (folder / "study.toml").write_text(text)
    file = read_study(folder)
    return file, draw(file, environment=Environment(cache_root=folder / "cache"))


def ids(stimuli):
    return [one.item_id for one in stimuli]


def test_a_draw_depends_on_seed_and_set_alone_and_more_questions_move_none(folder):
    file, first = drawn(folder)
    assert len(ids(first.drawn.asked)) == 4
    assert ids(first.drawn.asked) == sorted(ids(first.drawn.asked), key=lambda i: int(i[1:]))
    assert drawn(folder)[1].drawn == first.drawn
    assert ids(drawn(folder, PLAIN.replace("seed = 3", "seed = 4"))[1].drawn.asked) != ids(first.drawn.asked)
    questions(folder / "items.jsonl", 13)
    grown = set(ids(drawn(folder)[1].drawn.asked))
    assert len(grown & set(ids(first.drawn.asked))) >= 3
    assert first.drawn.study_sha256 == file.sha256
    assert set(first.drawn.n_choices.values()) == {3}


def test_strata_practice_and_catch_items_are_apart(folder):
    questions(folder / "catch.jsonl", 2, start="c")
    text = PLAIN.replace("n = 4", 'n = 6\nby = "kind"')
    text += '[practice]\nn = 2\n[catch]\nn = 2\nitems = "catch.jsonl"\n'
    file, found = drawn(folder, text)
    asked, practice = ids(found.drawn.asked), ids(found.drawn.practice)
    kinds = [int(i[1:]) % 3 for i in asked]
    assert sorted(kinds) == [0, 0, 1, 1, 2, 2]
    assert len(practice) == 2
    assert not set(practice) & set(asked)
    assert found.drawn.catch == {"c0": "A", "c1": "B"}
    write_drawn(file, found)
    assert read_drawn(folder) == found.drawn
    assert set(read_items(folder)) == {*asked, *practice, "c0", "c1"}
    write_drawn(file, found)  # the same draw again
    other, changed = drawn(folder, text.replace("seed = 3", "seed = 5"))
    with pytest.raises(UsageError, match="is another draw of this study, and answers may belong to it"):
        write_drawn(other, changed)


def test_all_questions_are_asked_but_those_of_practice(folder):
    _, found = drawn(folder, PLAIN.replace("n = 4", "") + "[practice]\nn = 5\n")
    assert len(found.drawn.asked) == 7
    assert len({*ids(found.drawn.asked), *ids(found.drawn.practice)}) == 12


def test_catch_trials_without_a_file_ask_for_an_option(folder):
    _, found = drawn(folder, PLAIN + "[catch]\nn = 2\n")
    assert set(found.drawn.catch) == {"catch-1", "catch-2"}
    items = {item.item_id: item for item in found.items}
    for item_id, letter in found.drawn.catch.items():
        item = items[item_id]
        assert item.choices["ABCD".index(letter)] in item.question
    scale = PLAIN.replace('kind = "answer"', 'kind = "scale"') + "[catch]\nn = 1\n"
    _, found = drawn(folder, scale)
    assert found.drawn.catch["catch-1"] in "01234"


def test_media_that_are_missing_are_named_and_can_be_left_out(folder):
    questions(folder / "items.jsonl", 6, media="gone.mp4")
    (folder / "here.mp4").write_bytes(b"no decoder opens it")
    with (folder / "items.jsonl").open("a") as file:
        line = {
            "item_id": "x",
            "question": "?",
            "choices": ["a", "b"],
            "answer": "A",
            "media": [{"path": "here.mp4"}],
        }
        file.write(json.dumps(line) + "\n")
    whole = PLAIN.replace('"none"', '"whole"')
    with pytest.raises(MissingMediaError, match=r"gone\.mp4[^-]*with allow_missing = true in study\.toml"):
        drawn(folder, whole)
    _, found = drawn(folder, "allow_missing = true\n" + whole.replace("n = 4", "n = 1"))
    assert ids(found.drawn.asked) == ["x"]
    assert found.items[0].media[0].path == "here.mp4"
    assert len(drawn(folder)[1].drawn.asked) == 4  # nothing is shown


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("n = 4", "n = 13", "13 are to be drawn, but there are 12; set n of [draw] to 12 at most"),
        ("n = 4", 'n = 4\nby = "kind"', "set n of [draw] to a multiple of 3"),
        ("n = 4", 'n = 15\nby = "kind"', "15 are to be drawn, but there are 12"),
        ("n = 4", 'by = "colour"', "no question has the tag 'colour'; tags are: kind"),
        ('"items.jsonl"', '"nothing.jsonl"', "give a file of items or a benchmark: "),
        ('items = "items.jsonl"', "", "names no questions; set items to a benchmark"),
        ('"none"', '"once"', "shows media under 'once', and these items have none: q"),
    ],
)
def test_a_draw_that_cannot_be_says_what_to_do(folder, was, now, words):
    with pytest.raises((UsageError, DataError)) as caught:
        drawn(folder, PLAIN.replace(was, now))
    assert words in str(caught.value)


ALL_WRONG = """
items = "items.jsonl"
runs = ["../run"]
consent = "consent.txt"
debrief = "empty.txt"
n_people = 1
[draw]
of = "same"
[overlap]
two = 0.2
[exclude]
catch_below = 0.5
without_calibration = true
[[phases]]
name = "oracle"
items = "wrong"
condition = "frames-of ../run"
opens_at = "tomorrow"
[[phases]]
name = "oracle"
condition = "twice"
[[phases]]
name = "a b"
[[phases]]
name = "third"
fields = ["confidence"]
[[form]]
name = "answer"
kind = "answer"
options = ["a", "b"]
[[form]]
name = "answer"
kind = "options"
options = ["a"]
needs = "kind=x"
[[form]]
name = "better"
kind = "pair"
[[form]]
name = "kind"
kind = "kinds"
options = ["mmvu2"]
[[form]]
name = "mark"
kind = "scale"
low = 4
[[form]]
name = "sure"
kind = "options"
options = ["yes", "no"]
[[form]]
name = "when"
kind = "span"
needs = "sure=c"
"""


def test_everything_that_is_wrong_with_a_study_is_said_at_once(folder):
    (folder / "empty.txt").write_text(" \n")
    (folder / "study.toml").write_text(ALL_WRONG)
    found = "\n".join(problems(read_study(folder)))
    for words in (
        "two phases are called 'oracle'",
        "phase 'oracle' can never open: items is 'wrong', but no phase precedes it",
        "'frames-of ../run' names a missing run",
        "it can never open: opens_at is 'tomorrow'",
        "its condition is 'twice'; expected whole, once, frames, dots, none or frames-of RUN",
        "its name is 'a b'",
        "the phase 'third' asks for the field 'confidence'; the form has answer",
        "two fields are called 'answer'",
        "it has options, and 'answer' takes none",
        "give two or more different options",
        "it needs 'kind=x'; expected NAME=VALUE with a field before it",
        "it needs 'c' of 'sure', which can be yes, no; name one of them",
        "two replies to a question are compared, and runs has 1",
        "there is no taxonomy named 'mmvu2'. Did you mean 'mmvu'?",
        "its scale goes from 4 to 4",
        "the field 'when' asks for times of a video, and 'frames-of ../run' plays none",
        "the field 'better' is about replies; add 'reply' to shows",
        "[overlap] needs the design 'split', but design is 'crossed'",
        "some trials go to two people, but n_people is 1",
        "catch_below of [exclude] needs catch trials",
        "without_calibration of [exclude] needs calibrates = true",
        "runs names '../run'",
        "consent: ",
        "empty.txt is empty",
    ):
        assert words in found, words


@pytest.mark.parametrize("more", ["", 'items = "catch.jsonl"\n'])
def test_catch_trials_that_a_phase_cannot_answer_are_refused(folder, more):
    form = '[[form]]\nname = "better"\nkind = "scale"\n'
    text = PLAIN.replace("[[phases]]", '[[phases]]\nfields = ["better"]', 1) + form
    (folder / "study.toml").write_text(text + f"[catch]\nn = 1\n{more}")
    (fault,) = problems(read_study(folder))
    assert "does not ask for 'answer', and catch trials are right by it; add it to fields, or" in fault


def test_a_folder_without_a_draw_says_how_to_make_it(folder):
    for read in (read_drawn, read_items):
        with pytest.raises(DataError, match="nothing is drawn yet; run vidence study draw"):
            read(folder)
    (folder / "drawn.json").write_text('{"asked": 3}')
    with pytest.raises(DataError, match=r"drawn\.json cannot be read: .*; draw the study again"):
        read_drawn(folder)
