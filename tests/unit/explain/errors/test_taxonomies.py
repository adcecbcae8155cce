"""Kinds of errors as data: those of the papers, and what a file of one's own must hold."""

import math

import pytest

from vidence.errors import DataError, UnknownNameError, UsageError
from vidence.explain.errors.taxonomies import load_taxonomy, read_taxonomy, taxonomy_names, taxonomy_of
from vidence.explain.published import published

TWO = '[[kinds]]\nname="a"\ntitle="A"\nsays="a"\n[[kinds]]\nname="b"\ntitle="B"\nsays="b"\n'


def test_the_papers_kinds_are_there():
    assert taxonomy_names() == ("herbench", "humanpcr", "mmvu", "perceptioncomp")
    humanpcr = load_taxonomy("humanpcr")
    assert len(humanpcr.labels) == 7
    assert humanpcr.parts("visual-extraction") == ("missing-proactive", "missing-referred", "irrelevant")
    assert len(load_taxonomy("mmvu").labels) == 6
    assert load_taxonomy("perceptioncomp").has_verdicts


@pytest.mark.parametrize("name", ["humanpcr", "mmvu"])
def test_the_printed_shares_have_a_row_for_every_kind_and_sum_to_one(name):
    taxonomy = load_taxonomy(name)
    table = published.load(taxonomy.printed)
    shares = {row.name: float(row.cells[1].text) for row in table.rows}
    assert list(shares) == [kind.title for kind in taxonomy.kinds]
    assert math.isclose(sum(shares[kind.title] for kind in taxonomy.labels), 100, abs_tol=0.02)


def test_a_benchmark_has_its_taxonomy():
    assert taxonomy_of(["mmvu", "mmvu"]) == "mmvu"
    with pytest.raises(UsageError, match="no taxonomy belongs to actpld; say --taxonomy"):
        taxonomy_of(["actpld"])
    with pytest.raises(UsageError, match="no taxonomy belongs to humanpcr and mmvu"):
        taxonomy_of(["mmvu", "humanpcr"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = ", "own is no taxonomy"),
        ('title="T"\nkinds=[]', "own: 0 kinds to label with; expected two or more"),
        (f'title="T"\ncolour="red"\n{TWO}', "unknown field `colour`"),
        (f'title="T"\n{TWO}{TWO}', "own: two kinds are called 'a'"),
        (f'title="T"\n{TWO}within="c"', "'b' is within 'c'; expected a kind of the file"),
        (f'title="T"\n{TWO}needs_wrong=true', "'b' needs a wrong condition; has_verdicts is not set"),
        (f'title="T"\nprinted="x"\n{TWO}', "printed and printed_as go together"),
    ],
)
def test_what_is_no_taxonomy_is_refused(text, says):
    with pytest.raises(DataError) as refused:
        read_taxonomy(text, where="own")
    assert says in str(refused.value)


def test_a_file_of_ones_own_is_read_and_an_unknown_name_refused(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(f'title = "Own"\n{TWO}')
    assert [kind.name for kind in load_taxonomy(str(path)).labels] == ["a", "b"]
    with pytest.raises(UnknownNameError, match=r"there is no taxonomy named 'humanpc'\. Did you mean"):
        load_taxonomy("humanpc")
    with pytest.raises(DataError, match="cannot be read"):
        load_taxonomy(str(tmp_path / "none.toml"))
