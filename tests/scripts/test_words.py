"""The words that are out are counted where users and developers read them, and nowhere else."""

import ast

import pytest

MODULE = '''"""Whoever reads this."""
class Run:
    name: str
    """Where there is none."""
@command()
def view(found: int) -> None:
    """Show runs.

    Nobody is asked."""
    for one in found:
        raise UsageError(f"{one} goes by scores; " "what it makes of them")
def quiet() -> None:
    """Count.

    Nobody reads this."""
'''


@pytest.fixture(scope="module")
def words(script):
    return script("words")


@pytest.fixture(scope="module")
def tree():
    return ast.parse(MODULE)


def test_first_lines_are_those_of_docstrings_and_of_texts_under_fields(words, tree) -> None:
    places = words.words_out("a.py", words.first_lines(tree))
    assert places == [("a.py", 1, "Whoever"), ("a.py", 4, "there is none")]


def test_the_whole_help_of_a_command_and_all_messages_are_read(words, tree) -> None:
    places = {word for _, _, word in words.words_out("a.py", words.texts(tree))}
    assert places == {"Nobody", "goes by", "what it makes of"}


def test_names_are_counted_where_they_are_bound(words, tree) -> None:
    assert sorted(words.names(tree)) == [(6, "found"), (10, "one")]


def test_tags_and_comments_of_templates_are_no_words(words, tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("{# whom #}{% if nobody %}<p>anew</p>{{ whom }}", encoding="utf-8")
    assert words.words_out("page", words.visible(page)) == [("page", 1, "anew")]


@pytest.mark.parametrize(
    ("limit", "code"), [("MOST_FIRST_LINES", 1), ("MOST_TEXTS", 1), ("MOST_NAMES", 1), ("", 0)]
)
def test_more_than_a_limit_fails(words, tmp_path, monkeypatch, limit, code) -> None:
    package = tmp_path / "src" / "vidence"
    package.mkdir(parents=True)
    (package / "a.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "README.md").write_text("Plain words.", encoding="utf-8")
    monkeypatch.setattr(words, "ROOT", tmp_path)
    for each in ("MOST_FIRST_LINES", "MOST_TEXTS", "MOST_NAMES"):
        monkeypatch.setattr(words, each, 0 if each == limit else 5)
    assert words.main() == code
