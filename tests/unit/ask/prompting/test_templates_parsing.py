"""Templates made ready to be filled: what they may use, and errors with file and line."""

import pytest

from vidence.ask.prompting.templates import Template
from vidence.errors import UsageError

VARIABLES = {"question": "the question", "choices": "its choices"}


def parse(text: str):
    return Template.parse(text, place="mine.txt", variables=VARIABLES)


def test_a_template_is_filled_and_says_what_it_uses():
    template = parse("\n{{ question }}\n{% for c in choices %}\n- {{ c }}\n{% endfor %}\n")
    assert template.fill({"question": "What?", "choices": ["a", "b"]}) == "What?\n- a\n- b"
    assert (template.uses, template.place) == ({"question", "choices"}, "mine.txt")


def test_what_is_filled_in_is_no_template_and_no_html():
    assert parse("{{ question }}").fill({"question": "{{ choices }} <b>"}) == "{{ choices }} <b>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("one\n{{ question", "mine.txt, line 2: "),
        ("{% for %}", "mine.txt, line 1: "),
        (
            "one\ntwo {{ answer }}",
            "mine.txt, line 2: there is no variable 'answer'; there are question, choices",
        ),
    ],
)
def test_a_wrong_template_is_refused_with_its_line(text, said):
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        "{{ question }}", "{{ 1 + choices }}", "{{ 1 / 0 }}", "{{ choices.__class__.__mro__ }}",
        "{{ choices.append(1) }}", "{{ range(10 ** 9) }}",
    ],
)  # fmt: skip
def test_what_cannot_be_filled_names_the_file_and_the_values(text):
    with pytest.raises(
        UsageError, match=r"mine\.txt cannot be filled: .*; values given: \{'choices': \['a'\]\}"
    ):
        parse(text).fill({"choices": ["a"]})
