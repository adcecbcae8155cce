"""The words put to a judge: what a user can replace, and what is refused."""

import pytest

from vidence.ask.judging.templates import JudgeTemplates, item_values
from vidence.errors import UsageError

SET = "rule-first"


def load(folder):
    return JudgeTemplates.load(SET, override=folder)


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_one_file_replaces_one_file(tmp_path, bench):
    made = load(write(tmp_path, question="Q {{ question }}\n{{ reply }}\nA {{ answer }} {{ block_id }}"))
    values = item_values(bench.open, block_id="7")
    assert made.fill("question", {**values, "reply": "<R>"}) == f"Q {bench.open.question}\n<R>\nA a pan 7"
    assert made.label("question").startswith("own/question.txt sha256:")
    assert made.label("repair").startswith("rule-first/repair.txt sha256:")
    assert made.fill("system-open", values) == load(None).fill("system-open", values)
    assert made.digest != load(None).digest
    brought = JudgeTemplates.load(SET, override=None)
    assert load(None).digest == brought.digest
    assert brought.digest != JudgeTemplates.load("humanpcr", override=None).digest
    more = {"label": "the label", "synonyms": "m", "features": "m", "rivals": "m"}
    made = JudgeTemplates.load("description-match", override=None, more=more)
    assert made.label("question").startswith("description-match/")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("question", "{{ question }}", "shows {{ reply }} 0 times"),
        ("question", "{{ reply }} {{ reply }}", "shows {{ reply }} 2 times"),
        ("question", "{{ reply | upper }}", "shows {{ reply }} 0 times"),
        ("repair", "{{ problem }}", "shows {{ earlier }} 0 times"),
        ("repair", "{{ earlier }} {{ reply }}", "there is no variable 'reply'"),
        ("question", "{{ reply }} {{ earlier }}", "there is no variable 'earlier'"),
        ("question", "{{ reply }} {{ problem }}", "there is no variable 'problem'"),
        ("system-open", "{{ reply }}", "there is no variable 'reply'"),
        ("question", "{{ reply }}\n{{ video }}", "line 2: there is no variable 'video'"),
        ("question", "{{ reply }\n", "line 1"),
        ("question", "{{ reply }} {{ question + 1 }}", "cannot be filled"),
        ("system", "x", "system.txt; a folder of prompts for the judge 'rule-first' holds only some of:"),
    ],
)
def test_a_template_that_cannot_work_is_refused_at_once(tmp_path, name, text, why):
    with pytest.raises(UsageError) as caught:
        load(write(tmp_path, **{name: text}))
    assert why in str(caught.value)
    assert f"{name}.txt" in str(caught.value)


def test_a_folder_must_be_there_and_hold_texts(tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        load(tmp_path / "none")
    with pytest.raises(UsageError, match="holds no file"):
        load(tmp_path)
    (tmp_path / "question.txt").write_bytes(b"\xff\xfe{{ reply }}")
    with pytest.raises(UsageError, match="cannot be read as UTF-8"):
        load(tmp_path)
    (tmp_path / "question.txt").unlink()
    (tmp_path / "question.md").write_text("{{ reply }}")
    with pytest.raises(UsageError, match=r"question\.md"):
        load(tmp_path)
    (tmp_path / "question.md").unlink()
    (tmp_path / ".DS_Store").write_bytes(b"\x00")
    assert load(write(tmp_path, **{"system-open": "Judge."})).fill("system-open", {}) == "Judge."


def test_what_is_filled_in_is_no_template_and_checked_again(bench, tmp_path):
    made = load(None)
    values = item_values(bench.open, block_id="7") | {"reply": '"{{ answer }}{% raw %}"'}
    assert '"{{ answer }}{% raw %}"' in made.fill("question", values)
    text = "{{ reply }}{% if question != 'Which?' %}{{ reply }}{% endif %}"
    made = load(write(tmp_path, question=text))
    with pytest.raises(UsageError, match="2 times"):
        made.fill("question", {**item_values(bench.open, block_id="7"), "reply": "<R>"})


def test_a_judge_of_another_package_brings_its_own_folder(tmp_path, bench):
    folder = tmp_path / "my_package" / "templates"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    write(folder, question="{{ reply }}\n{{ question }}", system="Judge.")
    with pytest.raises(UsageError, match=r"'mine' in .*templates lack repair\.txt; expected question\.txt"):
        JudgeTemplates.load("mine", override=None, folder=folder)
    write(folder, repair="{{ earlier }}: {{ problem }}")
    made = JudgeTemplates.load("mine", override=None, folder=folder)
    values = item_values(bench.open, block_id="7")
    assert made.fill("question", {**values, "reply": "<R>"}) == f"<R>\n{bench.open.question}"
    assert made.label("system").startswith("mine/system.txt sha256:")
    own = tmp_path / "own"
    own.mkdir()
    replaced = JudgeTemplates.load("mine", override=write(own, system="Be strict."), folder=folder)
    assert replaced.fill("system", values) == "Be strict."
    assert replaced.digest != made.digest
    with pytest.raises(UsageError, match="none is not a folder; expected the templates of the judge 'mine'"):
        JudgeTemplates.load("mine", override=None, folder=tmp_path / "none")


def test_a_line_that_asks_for_the_id_without_the_id_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"sign\.txt does not use {{ block_id }}"):
        load(write(tmp_path, sign="Sign it."))
    made = load(write(tmp_path, sign="Sign with {{ block_id }}."))
    assert made.fill("sign", {"block_id": "7"}) == "Sign with 7."
