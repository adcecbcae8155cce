"""Who is released: accepted by a review as it stands, about media whose licence allows it; all accounted."""

from datetime import UTC, datetime

import msgspec
import pytest

from subjects.released import question
from subjects.reviewing import Team
from vidence.make.gates.licences import LicenceCheck
from vidence.make.pipeline.ledger import Ledger
from vidence.make.release.admission import film_of, reviewed, with_licence
from vidence.records import Item, Media, Provenance

FREE, SHUT, LOST = "aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc"


def look(film: str, outcome: str) -> LicenceCheck:
    return LicenceCheck(video=film, outcome=outcome, at=datetime(2026, 11, 1, tzinfo=UTC))


CHECKS = {FREE: look(FREE, "passed"), SHUT: look(SHUT, "refused"), LOST: look(LOST, "gone")}


def about(source: str, n: int = 0, licence: str = "CC0-1.0") -> Item:
    return question(n, {}, source=source, provenance=Provenance(licence=licence))


@pytest.mark.parametrize(
    ("source", "known", "film"),
    [(f"https://youtu.be/{FREE}", (), FREE), (FREE, (FREE,), FREE), (FREE, (), None), ("film 1", (), None)],
)
def test_films_are_named_by_addresses_or_by_names_that_are_known(source, known, film):
    assert film_of(about(source), known) == film
    in_media = question(0, {}, source="", media=(Media(url=f"https://www.youtube.com/watch?v={FREE}"),))
    assert film_of(in_media) == FREE


def test_films_must_pass_and_what_does_not_is_counted():
    items = [
        about(film, n) for n, film in enumerate((FREE, SHUT, LOST, "https://youtu.be/ddddddddddd", "film"))
    ]
    ledger = Ledger()
    kept = with_licence(items, ledger, checks=CHECKS, without_licence=())
    assert [item.item_id for item in kept] == ["table-000", "table-004"]
    assert ledger.stages[0].dropped == {"licence-gone": 1, "licence-not-checked": 1, "licence-refused": 1}


def test_without_a_look_up_a_licence_is_said_or_allowed_by_name():
    items = [about("film 0", 0), about("film 1", 1, ""), about("film 2", 2, "")]
    for allowed, n in (((), 1), (("film 2",), 2), (("all",), 3), ((items[1].video_id,), 2)):
        ledger = Ledger()
        assert len(with_licence(items, ledger, checks=None, without_licence=allowed)) == n
        assert sum(ledger.stages[0].dropped.values()) == 3 - n


def test_a_review_lets_pass_what_it_accepted_as_it_stands():
    team = Team("herbench")
    whole = {
        f"q{n}": Item(item_id=f"q{n}", question="Which?", choices=("a", "b"), answer="A", source="film")
        for n in range(4)
    }
    for name in ("q0", "q1", "q2"):
        team.put(item_id=name)
        assert team.act("claim", "bob", item_id=name) == ""
    for name in ("q0", "q1"):
        assert team.act("accept", "bob", item_id=name) == ""
    items = [*whole.values()]
    items[0] = msgspec.structs.replace(items[0], tags={"split": "test"}, media=(Media(path="elsewhere.mp4"),))
    items[1] = msgspec.structs.replace(items[1], question="Who?")
    ledger = Ledger()
    kept = reviewed(items, ledger, team.reviews)
    assert [item.item_id for item in kept] == ["q0"]
    assert ledger.stages[0].dropped == {"changed-since-review": 1, "not-reviewed": 1, "review-in-review": 1}


def test_what_a_review_keeps_beside_a_question_is_no_change_of_it():
    team = Team("herbench")
    beside = {"annotations": {"form": "mmvu"}, "misconception": {"b": "taken for a"}, "minutes": 3.5}
    team.put(item_id="q0", **beside)
    assert team.act("claim", "bob", item_id="q0") == ""
    assert team.act("accept", "bob", item_id="q0") == ""
    item = Item(item_id="q0", question="Which?", choices=("a", "b"), answer="A", source="film")
    assert reviewed([item], Ledger(), team.reviews) == (item,)
