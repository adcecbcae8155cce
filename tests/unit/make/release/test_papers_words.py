"""The papers of a release: foreign words break nothing, and the hub reads a task for each split."""

import pytest
import yaml

from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.papers import citation, eval_yaml, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a|b <script>\nx", r"a\|b \<script\> x"), ("[x](y)", r"\[x\](y)"), ("`*_#", r"\`\*\_\#")],
)
def test_no_markdown_hides_in_a_foreign_text(text, shown):
    assert plain(text) == shown


def test_foreign_words_do_not_break_a_citation():
    rules = ReleaseRules(
        version="1.0.0", title='T "q"\n: #', authors=("A: B",), date="2026-11-21", licence="CC0-1.0"
    )
    read = yaml.safe_load(citation(rules, name="set", message="Cite: us"))
    assert (read["title"], read["message"]) == ('T "q"\n: #', "Cite: us")
    assert (read["authors"], read["date-released"]) == ([{"name": "A: B"}], "2026-11-21")


def test_the_hub_reads_a_task_for_each_split():
    read = yaml.safe_load(
        eval_yaml(
            ReleaseRules(version="1", title='A: "set" #1'), ["dev", "test"], name="set", said="8 questions"
        )
    )
    assert (read["name"], read["evaluation_framework"]) == ('A: "set" #1', "vidence")
    assert [task["split"] for task in read["tasks"]] == ["dev", "test"]
    assert len({task["id"] for task in read["tasks"]}) == 2
