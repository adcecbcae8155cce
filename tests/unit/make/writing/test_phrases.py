"""Templates: seeds, those of a model, whom they mean, and what people say of them."""

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.make.sources.annotations.annotation_records import AnnotationRecord, Box
from vidence.make.writing.phrases import (
    Decision,
    Filled,
    Phrase,
    choose_phrases,
    decided,
    fill,
    pick,
    read_seeds,
    read_sheet,
    referring,
    sheet,
)


def person(left: float, *, phrase: str = "", target: bool = False) -> Box:
    return Box(label="person", box_px=(left, 0, left + 20, 80), phrase=phrase, is_target=target)


def test_seeds_are_listed_or_the_lines_of_a_file(tmp_path):
    (tmp_path / "s.txt").write_text("# remarks\nWhat is {noun}?\n\nWhat is {noun}?\n")
    assert read_seeds("s.txt", tmp_path) == (Phrase(text="What is {noun}?"),)
    with pytest.raises(UsageError, match="cannot be read"):
        read_seeds("absent.txt", tmp_path)
    with pytest.raises(UsageError, match="no template"):
        read_seeds((" ",), tmp_path)


def test_what_a_model_adds_has_the_slots_of_a_seed_and_is_new():
    seeds = (Phrase(text="What is done with the {noun}?"),)
    more = ["What is done with the {noun} now?", "Which action is this with {noun}?", "What is {verb}?"]
    kept, dropped = choose_phrases("t", seeds, [*more, "Do it"], near=0.7)
    assert [one.text for one in kept] == [seeds[0].text, more[1]]
    assert [one.reason for one in dropped] == ["near-repeat", "slots-changed", "not-one-question"]


def test_a_template_is_filled_and_whom_it_means_is_seen():
    one = Phrase(text="What does the person do with the {noun}?")
    record = AnnotationRecord(record_id="a", fields={"noun": "cup"}, n_people=1)
    found = fill(one, record)
    assert isinstance(found, Filled)
    assert (found.text, found.given) == ("What does the person do with the cup?", ("cup",))
    assert fill(one, AnnotationRecord(record_id="a", n_people=1)) == "no-slot"
    unknown = AnnotationRecord(record_id="a", fields={"noun": "cup"})
    assert fill(one, unknown) == "ambiguous"
    assert isinstance(fill(Phrase(text=one.text, is_accepted=True), unknown), Filled)
    begins = Phrase(text="The person holds which {noun}?")
    two = AnnotationRecord(
        record_id="a", fields={"noun": "cup"}, boxes=(person(0, phrase="the cook", target=True), person(30))
    )
    assert fill(begins, two).text == "The cook holds which cup?"


def test_a_hand_is_somebodys_where_several_are_shown():
    shown = AnnotationRecord(record_id="a", boxes=(person(0, target=True), person(300)))
    for text, filled in (
        ("Which gesture does the left hand make?", "the left hand of the person furthest to the left make?"),
        ("How is the hand of the person posed?", "the hand of the person furthest to the left posed?"),
        ("How is the person's hand posed?", "the person furthest to the left's hand posed?"),
    ):
        assert fill(Phrase(text=text), shown).text.endswith(filled)
        assert fill(Phrase(text=text), AnnotationRecord(record_id="a", n_people=4)) == "ambiguous"
        assert fill(Phrase(text=text), AnnotationRecord(record_id="a", n_people=1)).text == text
    assert not Phrase(text="What is on the other side of the table?").names_one


def test_a_person_is_named_by_a_phrase_of_their_own_or_by_a_clear_place():
    assert referring([person(0, phrase="the cook", target=True), person(3, phrase="The Cook")]) == ""
    assert referring([person(300, target=True), person(0), person(9)]) == "the person furthest to the right"
    assert referring([person(12, target=True), person(0), person(200)]) == ""
    assert referring([person(0), person(200)]) == ""
    assert referring([person(0, target=True), person(200, target=True)]) == ""


def test_another_template_is_taken_where_one_does_not_fit():
    record = AnnotationRecord(record_id="a", fields={"noun": "cup"})
    some = (
        Phrase(text="What does the person do?"),
        Phrase(text="What of {noun}?"),
        Phrase(text="And {verb}?"),
    )
    for seed in range(8):
        assert pick(some, record, np.random.default_rng(seed)).text == "What of cup?"
    assert pick((some[0], some[2]), record, np.random.default_rng(1)) == "ambiguous"
    assert pick((some[2],), record, np.random.default_rng(1)) == "no-slot"


def test_people_accept_rewrite_and_refuse(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(sheet([("t", "A, then?", 3, "x/1"), ("t", "B?", 1, "x/2"), ("t", "C?", 1, "x/3")]))
    assert read_sheet(path) == {}
    text = path.read_text().replace("x/1,,", "x/1,accept,").replace("x/2,,", "x/2,rewrite,D?")
    path.write_text(text.replace("x/3,,", "x/3,Refuse,"))
    said = read_sheet(path)
    assert said == {
        ("t", "A, then?"): Decision(verdict="accept"),
        ("t", "B?"): Decision(verdict="rewrite", rewrite="D?"),
        ("t", "C?"): Decision(verdict="refuse"),
    }
    phrases = [Phrase(text=text) for text in ("A, then?", "B?", "C?", "E?")]
    kept, refused = decided(phrases, {text: one for (_, text), one in said.items()})
    assert [(one.text, one.is_accepted) for one in kept] == [("A, then?", True), ("D?", True), ("E?", False)]
    assert refused == ("C?",)
    path.write_text(text.replace("rewrite,D?", "rewrite,").replace("accept", "perhaps"))
    with pytest.raises(DataError, match=r"verdict 'perhaps'; expected .*verdict 'rewrite'"):
        read_sheet(path)
