"""The tutorial is followed word for word, and ends with the numbers and the pages that it shows."""

import re
from pathlib import Path

import pytest

from vidence import compare, open_run

IMAGES = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture(scope="module")
def followed(script, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorial")
    script("pictures").follow(folder)
    return folder


def test_the_pages_that_are_shown_are_there(script, followed) -> None:
    pictures = script("pictures")
    for name, (page, _) in pictures.PICTURES.items():
        assert (followed / page).is_file()
        assert (IMAGES / f"{name}.png").is_file()
        assert (IMAGES / f"{name}.png").stat().st_size < 150_000


def test_the_numbers_in_the_text_are_those_of_the_runs(script, followed) -> None:
    text = script("pictures").TUTORIAL.read_text(encoding="utf-8")
    eight, sixteen = (followed / "runs" / name for name in ("eight", "sixteen"))
    assert f"{100 * open_run(eight).accuracy.value:.1f} %" == re.search(r"[\d.]+ %", text)[0]
    difference = 100 * compare(eight, sixteen).headline.difference.value
    assert f"{difference:.1f} points better" in text
    page = (sixteen / "diagnostics" / "mrfs.html").read_text(encoding="utf-8")
    [mean] = re.findall(r"([\d.]+) frames on average", text)
    assert mean in page


def test_commands_for_a_server_or_an_index_are_left_out(script) -> None:
    python, commands = script("pictures").steps(
        "```python\na = 1\n```\n\n```\npip install .\nvidence run x \\\n    --model m:y\n"
        "vidence run --model openai:z\n```\n"
    )
    assert python == "a = 1\n"
    assert commands == [["vidence", "run", "x", "--model", "m:y"]]
