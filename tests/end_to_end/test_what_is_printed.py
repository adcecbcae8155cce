"""What is printed and written of runs of five papers' benchmarks: so many lines, and no sentence twice."""

import io
import re
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser

import pytest

from subjects.five_papers import SPLITS, write_data, write_replies
from vidence.cli.main import main

N = 48
JUDGES = {
    "mmvu": '{"extracted_answer":"linocut","correct":true}',
    "humanpcr": '{"extracted answer":"linocut","correctness":true,"score":4}',
}
HOW = ("--selector", "none", "--no-page", "--no-shuffle-choices")


def said(*words):
    """What a command prints in a terminal of 80 columns."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, words)))
    assert ended.value.code in (None, 0), err.getvalue()
    return out.getvalue()


@pytest.fixture(scope="module", params=SPLITS)
def runs(request, tmp_path_factory):
    """Two recorded runs, judged where questions are open; one asked thrice; one that a model read, too."""
    tmp_path = tmp_path_factory.mktemp("runs")
    name = request.param
    data = write_data(name, tmp_path / "data", N)
    shared = ("run", name, "--data", data, "--split", SPLITS[name], *HOW)
    made = {}
    for run, right in (("one", 0.62), ("two", 0.5)):
        replies = write_replies(name, data, tmp_path / f"{run}.jsonl", right=right)
        made[run] = tmp_path / run
        said(*shared, "--model", f"replay:{replies}", "--name", run, "--out", made[run])
    for run, more in (
        ("thrice", ("--model", "scripted:A", "--repeats", 3)),
        ("read", ("--model", f"replay:{replies}", "--extract-with", 'scripted:{"choice":"A"}')),
    ):
        made[run] = tmp_path / run
        said(*shared, *more, "--name", run, "--out", made[run])
    if name in JUDGES:
        for run in ("one", "two"):
            said("replies", "judge", made[run], "--judge-model", f"scripted:{JUDGES[name]}")
    return made


def sentences(text, *, words):
    found = re.split(r"(?<=[.!?])\s+", " ".join(text.split()))
    return [one for one in found if len(one.split()) > words and one[-1] in ".!?"]


def twice(texts, *, words):
    counted = Counter(one for text in texts for one in sentences(text, words=words))
    return [one for one, n in counted.items() if n > 1]


class Sentences(HTMLParser):
    """The texts of paragraphs, lists and meanings of columns; not what a question says of its trials."""

    def __init__(self, text):
        super().__init__()
        self.texts, self._within = [""], []
        self.feed(text.partition('<h2 id="questions">')[0].partition('<h2 id="how">')[0])

    def handle_starttag(self, tag, attrs):
        if tag in {"p", "li", "dd", "nav", "details"}:
            self._within.append((tag, dict(attrs).get("class")))
            self.texts.append("")

    def handle_endtag(self, tag):
        if self._within and self._within[-1][0] == tag:
            self._within.pop()

    def handle_data(self, data):
        *outer, (tag, _) = self._within or [("", "")]
        if tag in {"p", "li"} or (tag == "dd" and outer[-1:] == [("details", "more")]):
            self.texts[-1] += data if ("nav", None) not in outer else ""


def test_a_run_has_40_lines_a_comparison_25_and_published_60(runs):
    one, two, thrice, read = runs.values()
    commands = {
        ("report", one): 40,
        ("report", thrice): 40,
        ("report", read): 40,
        ("report", one, two, "--published"): 60,
        ("compare", one, two): 25,
        ("compare", read, two, "--margin", 2, "--anytime"): 25,
        ("compare", read, thrice, two): 25,
    }
    for command, most in commands.items():
        shared = ("--shared",) if command[0] == "compare" else ()
        lines = said(*command, *shared).splitlines()
        assert 8 < len(lines) <= most, command
        assert max(map(len, lines)) <= 80
        assert twice(["\n".join(lines)], words=3) == [], command


def test_no_page_says_a_sentence_twice(runs, tmp_path):
    one, two, thrice, read = runs.values()
    told = "".join(f'[[runs]]\nfolder = "{r}"\nmodel = "{n}"\ncondition = "c"\n' for n, r in runs.items())
    (tmp_path / "panel.toml").write_text(f'title = "Four"\n{told}')
    said("report", one, "--published", "--html", tmp_path / "run.html")
    said("report", thrice, "--html", tmp_path / "thrice.html")
    said("compare", one, two, read, "--shared", "--html", tmp_path / "compared.html")
    said("panel", tmp_path / "panel.toml", "--as", "pivot", "--out", tmp_path / "panel")
    pages = [*tmp_path.glob("*.html"), *(tmp_path / "panel").glob("*.html")]
    assert len(pages) == 5
    for page in pages:
        found = Sentences(page.read_text()).texts
        assert len(found) > 3
        assert twice(found, words=6) == [], page.name
