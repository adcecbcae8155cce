"""Boards of words: cards, words that leak, whom a card fits, false cards first without the film."""

import json
import re

import pytest

from subjects.street_set import SCENE
from vidence.make.cards.cards import CardChecks
from vidence.make.people.rows import CardCheckRow, FalseCheckRow, read_rows
from vidence.studio.pages.board_cards import leaks_of_cards, leaks_of_scene, urls
from vidence.studio.pages.boards import mask
from vidence.studio.records import boards as tables

LOOKS = "A tall figure in a purple coat and grey trousers."
WAY = "This person comes in from the left side. They go on to the right without a stop, past all others."


def keep(boards, track="3", a=LOOKS, b=WAY):
    page = boards.page("cards")
    check = re.search(rf'name="track" value="{track}"><input type="hidden" name="check" value="(\w+)"', page)[
        1
    ]
    return boards.post("cards", act="keep", track=track, check=check, A=a, B=b)


def masked(boards, name):
    """What stands on pages for a name."""
    from types import SimpleNamespace

    return mask(SimpleNamespace(made=boards.made, video=SimpleNamespace(video_id="north")), name)


def test_words_that_leak_are_those_of_the_making():
    assert leaks_of_cards(CardChecks(), "", "") == leaks_of_scene("", "")
    found = leaks_of_cards(CardChecks(), LOOKS, f"{WAY} The purple coat is seen from behind.")
    assert "coat" in found.words
    assert "purple" in found.words
    assert any("leaks-appearance" in line for line in found.said)
    clean = leaks_of_cards(CardChecks(), LOOKS, WAY)
    assert clean.words == ()
    assert clean.said == ("similarity of A and B: 0.07, at most 0.15",)
    told = leaks_of_cards(CardChecks(), "A tall figure in a purple coat walks to the left side.", "")
    assert any("tells-actions" in line for line in told.said)


def test_a_false_sentence_is_checked_as_the_making_checks_it():
    assert leaks_of_scene(SCENE["text"], SCENE["false"]).words == ("woman", "six")
    assert leaks_of_scene(SCENE["text"], SCENE["false"]).said == ()
    assert "lists 1 change" in leaks_of_scene(SCENE["text"], SCENE["text"].replace("red", "blue")).said[0]
    assert leaks_of_scene("One. Two things are here.", "").said


def test_whoever_types_is_told(boards):
    answer = boards.post("leaks", A=LOOKS, B=f"{WAY} The purple coat is seen from behind.")
    assert "purple" in json.loads(answer.content)["words"]
    answer = boards.post("leaks", text=SCENE["text"], false=SCENE["false"])
    assert json.loads(answer.content)["words"] == ["woman", "six"]
    assert boards.client.get(boards.at("leaks")).status_code == 405


def test_cards_are_written_mended_and_taken_back(boards):
    assert keep(boards).status_code == 302
    lines = [json.loads(line) for line in boards.file("cards/north.jsonl").splitlines()]
    assert [(one["kind"], one["text"], one["writer"]) for one in lines] == [
        ("A", LOOKS, "solo"),
        ("B", WAY, "solo"),
    ]
    assert LOOKS in boards.page("cards")
    assert keep(boards).status_code == 400  # nothing is new
    assert keep(boards, b=WAY.replace("left", "far")).status_code == 302
    assert "far" in boards.file("cards/north.jsonl")
    assert boards.post("cards", act="keep", track="3", check="a" * 12, A="x", B="y").status_code == 400
    assert boards.post("cards", act="keep", track="99", check="", A="x").status_code == 400
    for _ in range(2):
        assert boards.post("cards", act="undo").status_code == 302
    assert boards.file("cards/north.jsonl") == ""


def test_the_sentence_of_a_shot_is_mended(boards):
    page = boards.page("cards")
    assert SCENE["text"] in page
    assert 'class="leak">woman' in page
    new = SCENE["false"].replace("woman", "child")
    answer = boards.post("cards", act="keep", shot="shot-0001", text=SCENE["text"], false=new)
    assert answer.status_code == 302
    assert "child" in boards.file("scenes/north.jsonl")
    assert boards.post("cards", act="keep", shot="shot-0009", text="A b c d e f.").status_code == 400


def test_words_stay_with_their_shot_when_it_gets_another_number(boards):
    assert boards.post("shots", act="cut-at", frame="80").status_code == 302
    words = {"shot-0001": "A man stands at a grey wall.", "shot-0002": "A woman walks along a red street."}
    for shot, text in words.items():
        assert boards.post("cards", act="keep", shot=shot, text=text).status_code == 302
    assert boards.post("shots", act="cut-at", frame="40").status_code == 302  # in the first of them
    third = "Two people walk along a blue street."
    assert boards.post("cards", act="keep", shot="shot-0002", text=third).status_code == 302
    page = boards.page("cards")
    found = dict(re.findall(r"<h2>(shot-\d+).*?<textarea[^>]*>([^<]*)<", page, re.DOTALL))
    assert found == {"shot-0001": "", "shot-0002": third, "shot-0003": words["shot-0002"]}
    lines = [json.loads(line) for line in boards.file("scenes/north.jsonl").splitlines()]
    assert [(one["shot_id"], one["text"]) for one in lines][1:] == [
        ("shot-0002", words["shot-0002"]),
        ("shot-0002@40-79", third),
    ]
    stale = {"act": "keep", "shot": "shot-0003", "text": "A dog.", "check": "abcdefghijkl"}
    assert boards.post("cards", **stale).status_code == 400


def test_a_card_is_rejected(boards):
    assert boards.post("cards", act="reject", track="3", kind="A").status_code == 400
    keep(boards)
    assert boards.post("cards", act="reject", track="3", kind="A").status_code == 302
    (row,) = read_rows(boards.street.people, CardCheckRow, videos=None)
    assert (row.fits, row.note) == ("none", "rejected")
    assert "fits none, says solo" in boards.page("cards")


@pytest.mark.parametrize(
    ("picked", "fits"), [(["3"], "one"), (["3", "7"], "several"), (["7"], "none"), ([], "none")]
)
def test_the_line_up_says_whom_a_card_fits(boards, picked, fits):
    keep(boards)
    page = boards.page("line-up?track=3")
    shown = re.findall(r'name="fits" value="(\w+)"', page)
    assert len(set(shown)) == 8
    assert shown == re.findall(r'name="fits" value="(\w+)"', boards.page("line-up?track=3"))
    assert "card of 3" not in page
    assert not re.search(r"track=\d", page)
    pictures = re.findall(r'src="([^"]+crop[^"]+)"', page)
    assert boards.client.get(pictures[0].replace("&amp;", "&")).headers["Content-Type"] == "image/jpeg"
    picked = [masked(boards, name) for name in picked]
    answer = boards.client.post(f"{boards.at('line-up')}?track=3", {"fits": picked})
    assert f"It fits {fits}:" in answer.content.decode()
    (row,) = read_rows(boards.street.people, CardCheckRow, videos=None)
    assert (row.fits, row.leaks) == (fits, "no")
    keep(boards, a=LOOKS.replace("tall", "small"))  # other words are tried again
    assert read_rows(boards.street.people, CardCheckRow, videos=None) == ()


def test_without_a_card_there_is_no_line_up(boards):
    assert boards.client.get(f"{boards.at('line-up')}?track=3").status_code == 404


def test_false_cards_are_told_without_the_film_and_then_beside_it(boards):
    order = []
    for _ in range(2):
        page = boards.page("false-cards")
        assert "data-player" not in page
        assert "became" not in page
        assert "told right without the film" not in page
        card = re.search(r'name="card" value="(\w+)"', page)[1]
        order.append(card)
        assert not re.search(r"-(true|false)\b", page)
        assert boards.post("false-cards", card=card, told="false").status_code == 302
    true, false = (masked(boards, f"shot-0001-{what}") for what in ("true", "false"))
    assert set(order) == {true, false}
    page = boards.page("false-cards")
    assert "data-player" in page
    assert "<del>man</del> became <ins>woman</ins>" in page
    assert "1 of 2 told right without the film: 50%" in page
    assert boards.file("false_checks.csv") == ""
    assert boards.post("false-cards", card=false, told="true").status_code == 400
    assert boards.post("false-cards", card=false, occurs="no").status_code == 400
    assert boards.post("false-cards", card=true, occurs="no", natural="yes").status_code == 400
    assert boards.post("false-cards", card="nothing", told="true").status_code == 400
    done = boards.post("false-cards", card=false, occurs="no", natural="yes", note="clear")
    assert done.status_code == 302
    (row,) = read_rows(boards.street.people, FalseCheckRow, videos=None)
    assert (row.card_id, row.told, row.occurs, row.natural) == ("shot-0001-false", "false", "no", "yes")
    assert tables.FalseCheckRow.objects.count() == 2
    assert "beside the film" not in boards.page("false-cards").casefold()


def test_each_page_says_who_may_see_it():
    assert all(one.callback.roles for one in urls)
