"""Phrases by the type of a value, those of the vocabulary, and the way back from both."""

import msgspec
import pytest

from subjects.composing import WORDS
from vidence.errors import DataError
from vidence.make.compose.phrases import (
    Phrases,
    ValueStatement,
    WordingError,
    of_several,
    plural,
    with_article,
)
from vidence.make.sources.vocabulary import Attribute, Category, EventKind, Relation, Vocabulary

WEAR = Vocabulary(
    categories={"person": Category(), "child": Category(parent="person"), "bag": Category(plural="baggage")},
    attributes={
        "glasses": Attribute(of=("person",), values=("yes", "no")),
        "beard": Attribute(of=("person",), values=("yes", "no"), has="who wears a beard"),
        "hat": Attribute(of=("person",), values=("none", "red", "red or blue", "blue")),
        "age": Attribute(of=("person",), number=True),
        "size": Attribute(of=("bag",), values=("small", "large"), ordered=True, noun="size of the bag"),
        "note": Attribute(of=("person",), free=True),
        "holds": Attribute(
            of=("person",), values=("cup", "nothing"), has="holding {value}", said={"cup": "a cup"}
        ),
    },
)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (ValueStatement("glasses", "==", "yes"), "with glasses"),
        (ValueStatement("glasses", "==", "no"), "without glasses"),
        (ValueStatement("glasses", "!=", "no"), "not without glasses"),
        (ValueStatement("beard", "==", "yes"), "who wears a beard"),
        (ValueStatement("hat", "==", "none"), "without a hat"),
        (ValueStatement("hat", "!=", "none"), "with a hat"),
        (ValueStatement("hat", "==", "red or blue"), "whose hat is red or blue"),
        (ValueStatement("age", "==", 40), "whose age is 40"),
        (ValueStatement("note", "!=", "a. B"), "whose note is not “a. B”"),
        (ValueStatement("holds", "==", "cup"), "holding a cup"),
    ],
)
def test_statements_in_both_directions(told, said):
    phrases = Phrases(WEAR)
    assert phrases.says(told) == said
    assert phrases.read_value(said) == told


def test_names_of_several():
    phrases = Phrases(WEAR)
    assert (phrases.several("child"), phrases.several("bag")) == ("children", "baggage")
    assert phrases.is_person("child")
    assert not phrases.is_person("bag")
    assert [plural(one) for one in ("bus", "city", "traffic light")] == ["buses", "cities", "traffic lights"]
    assert [with_article(one) for one in ("ear ring", "bus", "glass")] == ["an ear ring", "a bus", "a glass"]
    assert of_several("that has a lid") == "that have a lid"
    assert of_several("who wears a hat") == "who wear a hat"


def test_relations_and_times_are_read_of_one_and_of_several():
    phrases = Phrases(WORDS)
    for name in WORDS.relations:
        said = phrases.relation(name)
        assert phrases.read_relation(said) == phrases.read_relation(of_several(said)) == name
    for category in ("thing", "event"):
        said = phrases.time("during", category)
        assert phrases.read_time(said) == phrases.read_time(of_several(said)) == "during"
    assert phrases.read_time("that is red during") is None
    assert phrases.read_relation("that is red") is None


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"noun": "age"}, "two attributes, .*s age.; change `noun`"),
        ({"has": "holding {value}", "values": ("nothing",)}, "both read 'holding nothing'"),
        ({"asks": "What is {who}'s age?"}, "change `asks`"),
    ],
)
def test_phrases_that_read_alike_are_refused(more, match):
    other = Attribute(**{"of": ("person",), "values": ("a", "b")} | more)
    with pytest.raises(DataError, match=match):
        Phrases(msgspec.structs.replace(WEAR, attributes={**WEAR.attributes, "other": other}))


def test_categories_that_read_alike_are_refused():
    words = msgspec.structs.replace(WEAR, categories={**WEAR.categories, "man": Category(phrase="person")})
    with pytest.raises(DataError, match="two categories, person and man, read 'person'"):
        Phrases(words)


def test_questions_by_the_type_of_the_values():
    """Colours are asked for as colours, yes and no by the verb of the phrase; each is read back."""
    words = Vocabulary(
        categories={"person": Category()},
        attributes={
            "pants": Attribute(of=("person",), values=("dark blue", "khaki")),
            "hat": Attribute(of=("person",), values=("red", "light-green", "none")),
            "colour": Attribute(of=("person",), values=("red", "blue")),
            "sign": Attribute(of=("person",), values=("red", "round"), noun="colour of the sign"),
            "shape": Attribute(of=("person",), values=("round",), noun="shape of the face"),
            "hair": Attribute(of=("person",), values=("grey", "curly")),
            "lamp": Attribute(of=("person",), values=("yes", "no")),
            "carries": Attribute(of=("person",), values=("yes", "no"), has="who carries a bag", has_not="x"),
            "tall": Attribute(of=("person",), values=("yes", "no"), has="who is tall", has_not="y"),
            "swims": Attribute(of=("person",), values=("yes", "no"), has="who can swim", has_not="z"),
            "sits": Attribute(of=("person",), values=("yes", "no"), has="on a chair", has_not="w"),
        },
    )
    phrases = Phrases(words)
    assert {name: phrases.asks(name) for name in words.attributes} == {
        "pants": "What colour are {who}'s pants?",
        "hat": "What colour is {who}'s hat, if any?",
        "colour": "What colour is {who}?",
        "sign": "What colour is {who}'s sign?",
        "shape": "What is the shape of the face of {who}?",
        "hair": "What is {who}'s hair like?",
        "lamp": "Does {who} have a lamp, yes or no?",
        "carries": "Does {who} carry a bag, yes or no?",
        "tall": "Is {who} tall, yes or no?",
        "swims": "Can {who} swim, yes or no?",
        "sits": "Is {who} on a chair, yes or no?",
    }
    for told, said in (
        (ValueStatement("pants", "==", "khaki"), "whose pants are khaki"),
        (ValueStatement("pants", "!=", "khaki"), "whose pants are not khaki"),
        (ValueStatement("hat", "==", "red"), "whose hat is red"),
    ):
        assert phrases.says(told) == said
        assert phrases.read_value(said) == told
    assert (phrases.noun("pants"), phrases.noun("colour")) == ("pants colour", "colour")
    assert phrases.owned("P", "sign") == "the colour of the sign of P"


PLAIN = Vocabulary(
    categories={"person": Category(), "stall": Category()},
    attributes={
        "carries": Attribute(of=("person",), values=("box", "bread", "nothing"), answer="object"),
        "stands_at": Attribute(of=("person",), values=("gate", "Main Street"), answer="location"),
        "walks": Attribute(of=("person",), values=("slowly", "fast")),
        "costs": Attribute(of=("stall",), number=True),
        "is_seated": Attribute(of=("person",), values=("yes", "no")),
        "hair": Attribute(of=("person",), values=("long", "short", "bald")),
        "smiling": Attribute(of=("person",), values=("yes", "no")),
        "has_beard": Attribute(of=("person",), values=("yes", "no")),
        "bag": Attribute(of=("person",), values=("red", "torn", "none")),
        "flag": Attribute(of=("stall",), values=("red disc", "plain")),
        "room": Attribute(of=("stall",), values=("study", "hall"), answer="location"),
        "goal": Attribute(of=("stall",), values=("zoo", "hall"), answer="location", noun="goal"),
        "destination": Attribute(of=("stall",), values=("zoo", "hall"), answer="location"),
        "wearing": Attribute(of=("person",), values=("uniform", "hourglass", "grass")),
        "sitting_on": Attribute(of=("person",), values=("stool", "steps"), answer="location"),
        "standing": Attribute(of=("person",), values=("upright", "bent")),
        "sitting_posture": Attribute(of=("person",), values=("straight", "slouched")),
        "shoes": Attribute(of=("person",), values=("white", "black")),
        "trousers": Attribute(of=("person",), values=("long", "white", "none")),
        "number_of_seats": Attribute(of=("stall",), number=True),
        "occupied": Attribute(of=("stall",), values=("yes", "no")),
    },
    relations={
        name: Relation() for name in ("talks_to", "next_to", "owner_of", "left_of", "follows", "boss")
    },
)


@pytest.mark.parametrize(
    ("name", "value", "so", "not_so"),
    [
        ("carries", "box", "that carries a box", "that does not carry a box"),
        ("carries", "bread", "that carries bread", "that does not carry bread"),
        ("carries", "nothing", "that carries nothing", "that carries something"),
        ("stands_at", "gate", "that stands at the gate", "that does not stand at the gate"),
        ("stands_at", "Main Street", "that stands at Main Street", "that does not stand at Main Street"),
        ("walks", "fast", "that walks fast", "that does not walk fast"),
        ("costs", 5, "that costs 5", "that does not cost 5"),
        ("is_seated", "no", "that is not seated", None),
        ("hair", "bald", "that is bald", "that is not bald"),
        ("smiling", "yes", "that is smiling", None),
        ("has_beard", "no", "without a beard", None),
        ("bag", "red", "whose bag is red", "without a red bag"),
        ("bag", "torn", "whose bag is torn", "without a bag that is torn"),
        ("flag", "red disc", "whose flag is “red disc”", "whose flag is not “red disc”"),
        ("room", "study", "that is in the room “study”", "that is not in the room “study”"),
        ("wearing", "uniform", "that is wearing a uniform", "that is not wearing a uniform"),
        ("wearing", "hourglass", "that is wearing an hourglass", "that is not wearing an hourglass"),
        ("wearing", "grass", "that is wearing grass", "that is not wearing grass"),
        ("sitting_on", "stool", "that is sitting on the stool", "that is not sitting on the stool"),
        ("sitting_posture", "straight", "whose sitting posture is straight", None),
        ("shoes", "white", "whose shoes are white", "whose shoes are not white"),
        ("trousers", "long", "whose trousers are long", "without trousers that are long"),
        ("trousers", "white", "whose trousers are white", "without white trousers"),
        ("number_of_seats", 2, "whose number of seats is 2", "whose number of seats is not 2"),
        ("occupied", "no", "that is not occupied", None),
    ],
)
def test_names_without_phrases_are_inflected_by_verb_and_type(name, value, so, not_so):
    phrases = Phrases(PLAIN)
    for how, said in (("==", so), ("!=", not_so)):
        if said is not None:
            told = ValueStatement(name, how, value)
            assert phrases.says(told) == said
            assert phrases.read_value(said) == phrases.read_value(of_several(said)) == told


def test_names_without_phrases_are_asked_for_by_verb_and_type():
    assert {name: Phrases(PLAIN).asks(name) for name in PLAIN.attributes} == {
        "carries": "What does {who} carry?",
        "stands_at": "Where does {who} stand?",
        "walks": "How does {who} walk?",
        "costs": "What does {who} cost?",
        "is_seated": "Is {who} seated, yes or no?",
        "hair": "What is {who}'s hair like?",
        "smiling": "Is {who} smiling, yes or no?",
        "has_beard": "Does {who} have a beard, yes or no?",
        "bag": "What is {who}'s bag like, if any?",
        "flag": "What is {who}'s flag like?",
        "room": "In which room is {who}?",
        "goal": "What is {who}'s goal?",
        "destination": "What is {who}'s destination?",
        "wearing": "What is {who} wearing?",
        "sitting_on": "Where is {who} sitting?",
        "standing": "How is {who} standing?",
        "sitting_posture": "What is {who}'s sitting posture?",
        "shoes": "What colour are {who}'s shoes?",
        "trousers": "What are {who}'s trousers like, if any?",
        "number_of_seats": "How many seats does {who} have?",
        "occupied": "Is {who} occupied, yes or no?",
    }


def test_a_verb_stands_for_what_somebody_has():
    phrases = Phrases(PLAIN)
    assert (phrases.owned("P", "carries"), phrases.shares("carries")) == ("what P carries", "that carries")
    assert (phrases.owned("P", "shoes"), phrases.shares("shoes")) == (
        "the colour of P's shoes",
        "whose shoes are",
    )
    assert (phrases.owned("P", "trousers"), phrases.shares("trousers")) == (
        "what P's trousers are like", "whose trousers are"
    )  # fmt: skip
    assert (phrases.read_shared("who carry"), phrases.read_shared("whose flag is")) == ("carries", "flag")
    assert (phrases.read_shared("who are wearing"), phrases.read_shared("whose shoes are")) == (
        "wearing", "shoes"
    )  # fmt: skip
    assert phrases.read_relation("who are owners of") == "owner_of"
    assert [phrases.relation(name) for name in ("talks_to", "next_to", "owner_of", "left_of", "follows")] == [
        "that talks to", "that is next to", "that is an owner of", "that is left of", "that follows"
    ]  # fmt: skip


def test_names_that_may_be_verb_or_plural_have_no_words():
    """`boss` is neither verb nor preposition; `hugs` may be what somebody does, or has."""
    with pytest.raises(WordingError, match="relation 'boss'; give it `has`"):
        Phrases(PLAIN).relation("boss")
    hugs = Attribute(of=("person",), values=("tree", "friend"), answer="object")
    words = msgspec.structs.replace(PLAIN, attributes={"hugs": hugs, "bag": PLAIN.attributes["bag"]})
    phrases = Phrases(words)
    assert phrases.read_value("without a red bag") is not None
    for ask in (lambda: phrases.asks("hugs"), lambda: phrases.says(ValueStatement("hugs", "==", "tree"))):
        with pytest.raises(WordingError, match="'hugs' may be a verb or a plural; say which by `noun`"):
            ask()
    told = msgspec.structs.replace(hugs, has="hugging a {value}", asks="What does {who} hug?")
    assert Phrases(msgspec.structs.replace(words, attributes={"hugs": told})).asks("hugs") == told.asks


FLAG = ("yes", "no")
NAMED = Vocabulary(
    categories={"person": Category(), "thing": Category()},
    attributes={
        **{name: Attribute(of=("person",), values=FLAG) for name in ("left_handed", "in_a_hurry", "on_call",
           "captain", "booked", "wings_clipped", "engine_running", "can_whistle", "queueing", "name_badge")},
        "scrubs": Attribute(of=("person",), values=("blue", "dark green")),
        "shows": Attribute(of=("thing",), values=("clock", "Way out"), answer="object"),
        "reads": Attribute(of=("thing",), values=("Way out", "REDS"), answer="object"),
        "weather": Attribute(of=("event",), values=("fog", "rainy")),
        "home_port": Attribute(of=("thing",), values=("Oban", "Brest"), answer="location"),
        "wheels": Attribute(of=("thing",), number=True),
        "diameter_cm": Attribute(of=("thing",), number=True),
        "delay_min": Attribute(of=("event",), number=True),
        "made_of": Attribute(of=("thing",), values=("oak", "tin")),
        "for": Attribute(of=("thing",), values=("bread", "egg"), answer="object"),
        "cover": Attribute(of=("thing",), values=("torn", "leather")),
        "roof": Attribute(of=("thing",), values=("tin", "red tiles")),
        "sleeves": Attribute(of=("person",), values=("rolled up", "down", "in rags")),
        "floor": Attribute(of=("thing",), values=("ground", "first"), answer="location"),
        "terminal": Attribute(of=("thing",), values=("B", "old wing"), answer="location"),
        "half": Attribute(of=("event",), values=("first", "second")),
        "travels_with": Attribute(of=("person",), values=("dog", "nobody"), answer="object"),
        "reading": Attribute(of=("person",), values=("atlas", "pile of books"), answer="object"),
        "carries": Attribute(
            of=("person",), values=("IV bag", "half an onion", "bucket of fish"), answer="object"
        ),
    },
    relations={name: Relation() for name in ("taller_than", "in_charge_of", "bordering", "teammate_of",
               "mother_of")},
    events={"hug": EventKind(roles={"who": "person", "whom": "person", "where": "thing"})},
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "said", "asked"),
    [
        ("left_handed", "no", "that is not left-handed", "Is {who} left-handed, yes or no?"),
        ("in_a_hurry", "yes", "that is in a hurry", "Is {who} in a hurry, yes or no?"),
        ("on_call", "no", "that is not on call", "Is {who} on call, yes or no?"),
        ("captain", "yes", "that is a captain", "Is {who} a captain, yes or no?"),
        ("booked", "no", "that is not booked", "Is {who} booked, yes or no?"),
        ("wings_clipped", "no", "whose wings are not clipped", "Are {who}'s wings clipped, yes or no?"),
        ("engine_running", "yes", "whose engine is running", "Is {who}'s engine running, yes or no?"),
        ("can_whistle", "no", "that cannot whistle", "Can {who} whistle, yes or no?"),
        ("queueing", "yes", "that is queueing", "Is {who} queueing, yes or no?"),
        ("name_badge", "no", "without a name badge", "Does {who} have a name badge, yes or no?"),
        ("scrubs", "blue", "whose scrubs are blue", "What colour are {who}'s scrubs?"),
        ("shows", "clock", "that shows a clock", "What does {who} show?"),
        ("reads", "Way out", "that reads “Way out”", "What does {who} read?"),
        ("weather", "fog", "during which the weather is “fog”", "What is the weather during {who}?"),
        ("home_port", "Oban", "whose home port is Oban", "What is {who}'s home port?"),
        ("wheels", 1, "whose number of wheels is 1", "How many wheels does {who} have?"),
        ("diameter_cm", 3, "whose diameter in cm is 3", "What is {who}'s diameter in cm?"),
        ("delay_min", 3, "whose delay in minutes is 3", "What is the delay of {who} in minutes?"),
        ("made_of", "tin", "that is made of tin", "What is {who} made of?"),
        ("for", "egg", "that is for an egg", "What is {who} for?"),
        ("cover", "leather", "whose cover is “leather”", "What is {who}'s cover like?"),
        ("roof", "red tiles", "whose roof is “red tiles”", "What kind of roof does {who} have?"),
        ("sleeves", "rolled up", "whose sleeves are rolled up", "What are {who}'s sleeves like?"),
        ("sleeves", "in rags", "whose sleeves are “in rags”", "What are {who}'s sleeves like?"),
        ("floor", "ground", "that is on the ground floor", "On which floor is {who}?"),
        ("terminal", "B", "that is in terminal B", "In which terminal is {who}?"),
        ("terminal", "old wing", "that is in the terminal “old wing”", "In which terminal is {who}?"),
        ("half", "second", "that is in the second half", "In which half is {who}?"),
        ("travels_with", "nobody", "that travels with nobody", "What does {who} travel with?"),
        ("reading", "atlas", "that is reading an atlas", "What is {who} reading?"),
        ("reading", "pile of books", "that is reading a pile of books", "What is {who} reading?"),
        ("carries", "IV bag", "that carries an IV bag", "What does {who} carry?"),
        ("carries", "bucket of fish", "that carries a bucket of fish", "What does {who} carry?"),
        ("carries", "half an onion", "that carries half an onion", "What does {who} carry?"),
    ],
)
def test_names_of_states_amounts_and_places(name, value, said, asked):
    phrases = Phrases(NAMED)
    told = ValueStatement(name, "==", value)
    assert (phrases.says(told), phrases.asks(name)) == (said, asked)
    assert phrases.read_value(said) == phrases.read_value(of_several(said)) == told


def test_relations_and_roles_by_their_names():
    phrases = Phrases(NAMED)
    assert [phrases.relation(name) for name in NAMED.relations] == [
        "that is taller than", "that is in charge of", "that is bordering", "that is a teammate of",
        "that is the mother of",
    ]  # fmt: skip
    assert of_several("who is a captain") == "who are captains"
    assert of_several("who is not a captain") == "who are not captains"
    assert of_several("who is the mother of") == "who are the mothers of"
    assert [plural(one) for one in ("policeman", "human", "tomato")] == ["policemen", "humans", "tomatoes"]
    assert phrases.player("whom") == "the one at whom {who} is directed"
    assert phrases.player("where") == "where {who} happens"
    with pytest.raises(WordingError, match="'how' is a question word; say which by `noun`"):
        Phrases(msgspec.structs.replace(NAMED, attributes={"how": NAMED.attributes["roof"]})).asks("how")
