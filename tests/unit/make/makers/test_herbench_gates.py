"""The maker with gates, review and release, one session after the other."""

import re

import pytest

from subjects.making import contents, lines
from subjects.reviewed import Reviewed
from subjects.samples import GOLDEN
from vidence.ask.benchmarks.table import create as table
from vidence.errors import UsageError
from vidence.make.herbench.config import read_herbench


@pytest.fixture
def one(tmp_path) -> Reviewed:
    return Reviewed(tmp_path)


def test_a_set_is_gated_reviewed_and_released(one):
    first = one.make()
    assert any("wait for people" in said for said in first.sentences)
    assert any("Nothing is released while questions wait" in said for said in first.sentences)
    assert not (one.folder / "out" / "release").exists()
    drafted = one.lines("items.jsonl")
    said = one.decide(reject=2)
    second = one.make()
    (spent,) = (sentence for sentence in second.sentences if "replies asked for" in sentence)
    n_asked, n_remembered = map(int, re.findall(r"\d+", spent))
    assert n_asked == n_remembered > 0  # two rules, which are followed again; two models, which are not asked
    before = contents(one.release())
    assert one.make().sentences == second.sentences
    assert contents(one.release()) == before

    stages = one.account()
    assert stages["text-only"]["dropped"].keys() == {"solved-blind"}
    assert stages["review"]["dropped"]["rejected-by-a-person"] == 2
    verdicts = one.lines("verdicts.jsonl")
    assert len(verdicts) == stages["text-only"]["n_in"]
    drafted = {item["tags"]["draft"] for item in drafted}
    for verdict in verdicts:
        right = sum(all(m["value"] == 1.0 for m in vote["marks"]) for vote in verdict["votes"])
        assert (right >= 2) == (verdict["item_id"] not in drafted)
        assert len(verdict["votes"]) == 4
    released = {item["item_id"] for item in lines(one.release() / "items.jsonl")}
    assert len(released) == stages["release"]["n_out"] == sum(second.account.questions.values())
    assert released & said.keys() == {name for name, verdict in said.items() if verdict == "accept"}
    sheet = (one.release() / "DATASHEET.md").read_text()
    assert "one-frame: the configuration has no" in sheet
    assert "spans are stored, not proved necessary" in sheet
    assert str(one.folder) not in sheet
    loaded = table().load(one.release() / "items.jsonl", split="all", strict=True)
    assert len(loaded.items) == len(released)


def test_without_panel_and_review_the_release_says_so(one):
    bare = one.bare + '\n[release]\nversion = "0.1"\n'
    one.config.write_text(bare)
    with pytest.raises(UsageError, match="these questions are not reviewed"):
        one.make()
    one.config.write_text(bare + "unreviewed = true\n\n[gates]\n")
    built = one.make()
    sheet = (one.release("0.1") / "DATASHEET.md").read_text()
    assert "no person is said to have looked at these questions" in sheet
    assert "text-only: the configuration has no" in sheet
    assert any(note.startswith("text-only: the configuration has no") for note in built.account.notes)
    narrowed = one.make(only=("fam",))
    assert any("Nothing is released by a session that was narrowed" in said for said in narrowed.sentences)


@pytest.mark.parametrize("has_review", [False, True], ids=["no-review", "review-pending"])
def test_an_open_verdict_is_not_released_where_no_person_looks(one, has_review):
    text = one.config.read_text()
    begin, end = text.index("[review]"), text.index("[release]")
    text = text if has_review else text[:begin] + text[end:]
    one.config.write_text(text.replace('version = "1.0.0"', 'version = "1.0.0"\nunreviewed = true'))
    one.make()
    opened = {v["item_id"] for v in lines(one.folder / "out" / "verdicts.jsonl") if v["decision"] == "open"}
    assert opened
    assert one.account()["review"]["dropped"] == {"not-confirmed-by-a-person": len(opened)}
    assert not opened & {item["tags"]["draft"] for item in lines(one.release() / "items.jsonl")}


def test_the_page_is_made_again_only_when_it_would_differ(one):
    one.make()
    page = one.page
    text = page.read_text()
    page.write_text("x" + text)  # what says from what it was made stands at its end
    one.make()
    assert page.read_text() == "x" + text
    one.config.write_text(one.config.read_text().replace('name = "kitchens"', 'name = "kitchens-2"'))
    one.make()
    assert "<bdi>kitchens-2</bdi>" in page.read_text()


def test_the_configuration_of_the_documentation_makes_sense(one):
    text = (GOLDEN.parents[1] / "docs" / "making" / "gates.md").read_text()
    example = text.split("```toml\n")[1].split("```")[0]
    one.config.write_text(one.bare + example)
    read = read_herbench(one.config)
    assert read.gates.models == ("qwen2", "qwen25", "llama3", "vicuna", "eye")
    assert read.release.splits == {"train": 0.8, "test": 0.2}
