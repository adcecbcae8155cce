"""Vocabularies that are read, and those that are refused."""

import pytest

from vidence.errors import DataError, UsageError
from vidence.make.scene_graph.vocabulary import read_vocabulary

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


@pytest.mark.parametrize(
    ("text", "says"),
    [
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


def test_a_key_that_is_not_known_is_refused_with_its_line(read):
    with pytest.raises(UsageError, match=r"v\.toml:5: .*Did you mean 'values'"):
        read(f'{SMALL}[attributes.x]\nvalus = ["a"]\n')
