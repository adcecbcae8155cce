"""Vocabularies that are read, and those that are refused."""

import pytest

from vidence.errors import DataError
from vidence.make.sources.vocabulary import read_vocabulary

SMALL = '[categories.thing]\n[categories.cup]\nparent = "thing"\n'


@pytest.fixture
def read(tmp_path):
    def from_text(text):
        (tmp_path / "v.toml").write_text(text)
        return read_vocabulary(tmp_path / "v.toml")

    return from_text


def test_categories_are_a_tree(read):
    words = read(SMALL)
    assert words.is_a("cup", "thing")
    assert words.is_a("cup", "entity")
    assert not words.is_a("thing", "cup")
    assert not words.is_a("event", "entity")


def test_roles_whose_category_differs_are_anything(read):
    events = '[events.a]\nroles = { what = "cup" }\n[events.b]\nroles = { what = "thing", who = "cup" }'
    words = read(SMALL + events)
    assert words.roles() == {"what": "entity", "who": "cup"}


COLOURS = f'{SMALL}[domains.colour]\nvalues = ["red", "grey", "black"]\nnear = [["grey", "black"]]\n'


def test_attributes_of_one_domain_have_its_values(read):
    words = read(
        f'{COLOURS}[attributes.rim]\nof = ["cup"]\ndomain = "colour"\n'
        '[attributes.inside]\nof = ["cup"]\ndomain = "colour"\n'
        '[attributes.weight]\nof = ["cup"]\nnumber = true'
    )
    assert words.attributes["rim"].values == ("red", "grey", "black")
    assert words.is_near("inside", "black", "grey")
    assert words.share_a_domain("rim", "inside")
    assert not words.share_a_domain("rim", "weight")
    assert not words.share_a_domain("weight", "size")
    assert words.with_domains() == words


def test_pairs_are_near_where_no_half_tells_them_apart(read):
    words = read(
        f'{COLOURS}[attributes.rim]\nof = ["cup"]\ndomain = "colour"\n'
        '[attributes.name]\nof = ["cup"]\nfree = true'
    )
    near = [("a; grey", "a; black"), ("grey; a", "black; a"), ("a; grey", "b; black"), ("a; red", "a; red"),
            ("a; grey", "grey")]  # fmt: skip
    assert [words.is_near("name; rim", *pair) for pair in near] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            f'{SMALL}[attributes.x]\nof = ["cup"]\nfree = true\nasks = "Tell me."',
            "'Tell me.'; expected one question with",
        ),
        ("[domains.colour]", "domains.colour: expected either `values`, or `free = true`"),
        ('[domains.colour]\nvalues = ["red"]\nnear = [["red", "rde"]]', "there is no value 'rde'"),
        (f'{COLOURS}[attributes.x]\nof = ["cup"]\ndomain = "clour"', "Did you mean 'colour'?"),
        (
            f'{COLOURS}[attributes.x]\nof = ["cup"]\ndomain = "colour"\nvalues = ["red"]',
            "its values are those of the domain 'colour'",
        ),
        ('[categories.a]\nparent = "b"\n[categories.b]\nparent = "a"', "stands below itself"),
        ('[categories.cup]\nparent = "thng"\n[categories.thing]', "Did you mean 'thing'?"),
        (f'{SMALL}[attributes.x]\nof = ["cup"]', "expected either `values`, or `number = true`, or `free"),
        (
            f'{SMALL}[attributes.x]\nof = ["cup"]\nvalues = ["a"]\nnear = [["a", "b"]]',
            "there is no value 'b'",
        ),
        (f'{SMALL}[attributes.kind]\nof = ["cup"]\nfree = true', "everything has 'kind' already"),
        (f'{SMALL}[relations.over]\ninverse = "under"', "there is no relation 'under'"),
        (
            f'{SMALL}[relations.over]\ninverse = "under"\n[relations.under]',
            "has the inverse ''; expected 'over'",
        ),
        (f'{SMALL}[relations.near]\nsymmetric = true\ninverse = "far"', "its inverse is itself"),
        (
            f'{SMALL}[events.a]\nroles = {{ x = "cup" }}\n[attributes.x]\nof = ["cup"]\nfree = true',
            "name of an attribute",
        ),
    ],
)
def test_what_is_refused(read, text, says):
    with pytest.raises(DataError) as error:
        read(text)
    assert says in str(error.value)
