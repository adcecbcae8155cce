"""Boards of words: cards, words that leak, whom a card fits, false cards first without the film."""

import io
import json
import re

import numpy as np
from PIL import Image

from conftest import IS_THOROUGH
from servers.studio import studio
from subjects.board_studio import open_boards
from subjects.street_set import SCENE, StreetSet
from vidence.ask.phantom.scene import look_of
from vidence.make.herbench.cards.cards import CardChecks, check_cards
from vidence.make.pipeline.material import Card
from vidence.make.review.people.rows import CardCheckRow, FalseCheckRow, read_rows
from vidence.studio.pages.board_cards import leaks_of_cards, leaks_of_scene
from vidence.studio.pages.boards import OpenBoard
from vidence.studio.records.boards import BoardRow

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

    return OpenBoard.mask(SimpleNamespace(made=boards.made, video=SimpleNamespace(video_id="north")), name)


def test_words_that_leak_are_those_of_the_making():
    assert leaks_of_cards(CardChecks(), "", "") == leaks_of_scene("", "") == ([], [])
    said, words = leaks_of_cards(CardChecks(), LOOKS, f"{WAY} The purple coat is seen from behind.")
    assert {"coat", "purple"} <= set(words)
    assert any("leaks-appearance" in line for line in said)
    clean = leaks_of_cards(CardChecks(), LOOKS, WAY)
    assert clean == (["similarity of A and B: 0.07, at most 0.15"], [])
    told = leaks_of_cards(CardChecks(), "A tall figure in a purple coat walks to the left side.", "")
    assert any("tells-actions" in line for line in told[0])
    assert leaks_of_scene(SCENE["text"], SCENE["false"]) == ([], ["woman", "six"])
    assert "lists 1 change" in leaks_of_scene(SCENE["text"], SCENE["text"].replace("red", "blue"))[0][0]
    assert leaks_of_scene("One. Two things are here.", "")[0]


TEXTS = (
    LOOKS,
    WAY,
    f"{WAY} The purple coat is seen from behind.",
    "A tall figure in a purple coat walks to the left side and waits there.",
    "The person in the purple coat and grey trousers goes from the left to the right, past all.",
    "DIFFERENT PEOPLE",
    "DIFFERENT PEOPLE: 2, 4",
    "Two men in black coats stand side by side. They wear white shoes.",
    "A short text.",
    "They go.",
    "Track 3 comes in from the left. It goes on to the right without a stop.",
    "A woman with long hair. She wears a blue coat and grey trousers, and carries a red bag.",
    "A woman with long hair in a blue coat comes in from the left. She goes out on the right.",
)


def test_a_card_is_told_what_the_making_will_say():
    rules = CardChecks()
    n_wrong = 0
    for a_text in ("", *TEXTS):
        for b_text in ("", *TEXTS):
            told = leaks_of_cards(rules, a_text, b_text)
            cards = [
                Card(track_id="3", kind=kind, text=text)
                for kind, text in (("A", a_text), ("B", b_text))
                if text
            ]
            made = check_cards(cards, rules) if cards else None
            reasons = [] if made is None else [one.reason for one in made.dropped]
            marked = [] if made is None else [word for one in made.flags for word in one.words]
            for reason in reasons:
                assert any(f"({reason})" in line for line in told[0]), (a_text, b_text)
            assert sum(line.endswith(")") for line in told[0]) == len(reasons), (a_text, b_text)
            assert set(marked) <= set(told[1])
            if not reasons and not marked:
                assert told[1] == []
            n_wrong += bool(reasons)
    assert 50 < n_wrong < 190


def test_different_people_in_one_track_are_sent_back_to_its_board(boards):
    name = boards.street.opened().video("north").described.chosen[0]
    page = boards.page("cards")
    check = re.search(rf'name="track" value="{name}"><input type="hidden" name="check" value="(\w+)"', page)[
        1
    ]
    answer = boards.post("cards", act="different", track=name, check=check)
    assert answer.headers["Location"].endswith(f"/north/tracks#t-{name}")
    tracks = boards.page("tracks")
    assert "different people in its pictures, says solo" in tracks
    assert re.search(r'data-track="([^"]+)"', tracks)[1] == name  # it comes first
    assert boards.post("cards", act="different", track=name, check=check).status_code == 400
    assert json.loads(boards.file("cards/north.jsonl"))["text"] == "DIFFERENT PEOPLE"
    boards.street.config.write_text(boards.street.config.read_text() + "\n[tasks.aglt]\n")  # asks for cards
    boards.street.make(until="cards")
    gone = [json.loads(line) for line in (boards.street.made / "dropped.jsonl").read_text().splitlines()]
    reasons = {one["what"]: one["reason"] for one in gone}
    assert reasons[f"north: {name}/A"] == "not-one-person"
    opened = boards.street.opened().video("north")
    assert opened.described.parted == (name,)
    (track,) = [one for one in opened.found.tracks if one.track_id == name]
    frame = int(track.frame_indices[len(track.frame_indices) // 2])
    said = boards.post("tracks", act="split", frame=frame, track=name, check=check)
    assert said.status_code == 302
    assert "different people in its pictures" not in boards.page("tracks")


def test_cards_and_sentences_are_written_mended_taken_back_and_rejected(boards):
    assert keep(boards).status_code == 302
    lines = [json.loads(line) for line in boards.file("cards/north.jsonl").splitlines()]
    assert [(one["kind"], one["text"], one["writer"]) for one in lines] == [
        ("A", LOOKS, "solo"),
        ("B", WAY, "solo"),
    ]
    assert LOOKS in boards.page("cards")
    assert "Redone next time:</strong> 2 cards, drafts of this video" in boards.page("cards")
    assert keep(boards).status_code == 400  # nothing is new
    assert keep(boards, b=WAY.replace("left", "far")).status_code == 302
    assert "far" in boards.file("cards/north.jsonl")
    assert boards.post("cards", act="keep", track="3", check="a" * 12, A="x", B="y").status_code == 400
    assert boards.post("cards", act="keep", track="99", check="", A="x").status_code == 400
    for _ in range(2):
        assert boards.post("cards", act="undo").status_code == 302
    assert boards.file("cards/north.jsonl") == ""
    page = boards.page("cards")
    assert SCENE["text"] in page
    assert 'class="leak">woman' in page
    new = SCENE["false"].replace("woman", "child")
    answer = boards.post("cards", act="keep", shot="shot-0001", text=SCENE["text"], false=new)
    assert answer.status_code == 302
    assert "child" in boards.file("scenes/north.jsonl")
    assert boards.post("cards", act="keep", shot="shot-0009", text="A b c d e f.").status_code == 400
    assert boards.client.get(f"{boards.at('line-up')}?track=3").status_code == 404
    assert boards.post("cards", act="reject-A", track="3").status_code == 400
    keep(boards)
    assert boards.post("cards", act="reject-A", track="3").status_code == 302
    (row,) = read_rows(boards.street.people, CardCheckRow, videos=None)
    assert (row.fits, row.note) == ("none", "rejected")
    assert "fits none, says solo" in boards.page("cards")
    assert "1 reading, drafts of this video" in boards.page("cards")


def test_a_false_sentence_mended_alone_stands_beside_the_true_one_of_the_making(street, tmp_path):
    (street.people / "scenes" / "north.jsonl").unlink()
    with studio("solo", tmp_path / "studio", paths=(street.config,)) as made:
        boards = open_boards(street, made.signed_in())
        new = SCENE["false"].replace("woman", "child")
        said = {"act": "keep", "shot": "shot-0001", "text": SCENE["text"], "false": new}
        assert boards.post("cards", **said).status_code == 302
        line = json.loads(boards.file("scenes/north.jsonl"))
        assert (line["text"], line["false"]) == (SCENE["text"], new)
        assert "1 scene card, drafts of this video" in boards.page("cards")


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


def test_the_line_up_says_whom_a_card_fits(boards):
    for names, fits in ((["3"], "one"), (["3", "7"], "several"), (["7"], "none"), ([], "none")):
        keep(boards)
        page = boards.page("line-up?track=3")
        shown = re.findall(r'name="fits" value="(\w+)"', page)
        assert len(set(shown)) == 8
        assert shown == re.findall(r'name="fits" value="(\w+)"', boards.page("line-up?track=3"))
        assert "card of 3" not in page
        assert not re.search(r"track=\d", page)
        picked = [masked(boards, name) for name in names]
        answer = boards.client.post(f"{boards.at('line-up')}?track=3", {"fits": picked})
        assert f"It fits {fits}:" in answer.content.decode()
        (row,) = read_rows(boards.street.people, CardCheckRow, videos=None)
        assert (row.fits, row.leaks) == (fits, "no")
        keep(boards, a=LOOKS.replace("tall", "small"))  # other words are tried again
        assert read_rows(boards.street.people, CardCheckRow, videos=None) == ()
    pictures = re.findall(r'src="([^"]+crop[^"]+)"', page)
    assert boards.client.get(pictures[0].replace("&amp;", "&")).headers["Content-Type"] == "image/jpeg"


def test_false_cards_are_told_without_the_film_and_then_beside_it(boards):
    order = []
    for _ in range(2):
        page = boards.page("false-cards")
        assert "data-player" not in page
        assert "became" not in page
        assert "right without the film" not in page
        card = re.search(r'name="card" value="(\w+)"', page)[1]
        order.append(card)
        assert not re.search(r"-(true|false)\b", page)
        assert boards.post("false-cards", card=card, told="false").status_code == 302
    true, false = (masked(boards, f"shot-0001-{what}") for what in ("true", "false"))
    assert set(order) == {true, false}
    page = boards.page("false-cards")
    assert "data-player" in page
    assert "<del>man</del> became <ins>woman</ins>" in page
    assert "1 of 2 right without the film: 50%" in page
    assert boards.file("false_checks.csv") == ""
    assert boards.post("false-cards", card=false, told="true").status_code == 400
    assert boards.post("false-cards", card=false, occurs="no").status_code == 400
    assert boards.post("false-cards", card=true, occurs="no", natural="yes").status_code == 400
    assert boards.post("false-cards", card="nothing", told="true").status_code == 400
    done = boards.post("false-cards", card=false, occurs="no", natural="yes", note="clear")
    assert done.status_code == 302
    (row,) = read_rows(boards.street.people, FalseCheckRow, videos=None)
    assert (row.card_id, row.told, row.occurs, row.natural) == ("shot-0001-false", "false", "no", "yes")
    assert BoardRow.objects.filter(board="false-cards").count() == 2
    assert "beside the film" not in boards.page("false-cards").casefold()


def look_in(boards, part):
    """The look that a reader sees in the pictures of a part of a page."""
    pictures = []
    for address in re.findall(r'src="([^"]+crop[^"]+)"', part):
        data = boards.client.get(address.replace("&amp;", "&")).content
        with Image.open(io.BytesIO(data)) as opened:
            pictures.append(np.asarray(opened.convert("RGB")))
    return look_of(pictures)


def test_a_line_up_finds_a_planted_look_alike(tmp_path):
    """Whoever reads here knows the pictures alone: the colour of the coats in them."""
    street = StreetSet(tmp_path / "alike").draw(has_twins=True)
    street.config.write_text(street.config.read_text() + "\n[tasks.aglt]\n")  # asks for cards
    street.make(until="cards")
    fits, coats, shown = {}, {}, {}
    with studio("solo", tmp_path / "studio", paths=(street.config,)) as made:
        boards = open_boards(street, made.signed_in())
        for one in re.findall(r"<li class=\"row.*?</form>", boards.page("cards"), re.DOTALL)[:8]:
            name = re.search(r'data-track="([^"]+)"', one)[1]
            coats[name] = look_in(boards, re.sub(r'src="[^"]+whole=1"', "", one)).words.split()[0].casefold()
        alike = {name for name, coat in coats.items() if coat == "red"}
        assert len(alike) == 2
        for name in [*alike, *(coats.keys() - alike)][: 8 if IS_THOROUGH else 3]:
            text = f"A person in a {coats[name]} coat, and in dark grey trousers."
            assert keep(boards, track=name, a=text, b="").status_code == 302
            people = re.findall(r"<li data-row.*?</li>", boards.page(f"line-up?track={name}"), re.DOTALL)
            for each in people:
                if (value := re.search(r'name="fits" value="(\w+)"', each)[1]) not in shown:
                    shown[value] = look_in(boards, each).words.casefold()
            picked = [value for value, words in shown.items() if words.startswith(coats[name])]
            answer = boards.client.post(f"{boards.at('line-up')}?track={name}", {"fits": picked})
            fits[name] = re.search(r"It fits (\w+):", answer.content.decode())[1]
    assert fits == dict.fromkeys(fits, "one") | dict.fromkeys(alike, "several")
