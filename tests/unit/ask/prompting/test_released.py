"""The authors' prompts from a copy of their release; the release here is made up, the mechanism is not."""

import ast

import msgspec
import pytest

from vidence.ask.judging import templates as templates_of_judges
from vidence.ask.judging.templates import JudgeTemplates, known_of
from vidence.ask.prompting import released
from vidence.ask.prompting.origin import ORIGIN_FILE, ImportedSet, ImportedText, read_origin
from vidence.ask.prompting.released import (
    Choices,
    KnownText,
    ReleasedPrompt,
    ReleasedSet,
    as_template,
    sha256,
    take,
    wording_of,
    write,
)
from vidence.ask.prompting.templates import KNOWN, Templates, sets
from vidence.errors import UnknownNameError, UsageError
from vidence.records import Item

CODE = '''
from string import Template

COT = Template("""
Question: $question
$options

Costs $$5 {% raw %} {{ nothing }}. Think: $$LETTER.""")


def ask(question, candidates):
    prompt = f"{question}\\n\\n"
    if candidates:
        prompt += "\\n".join(candidates)
    else:
        for candidate in candidates:
            prompt += candidate
    prompt += "\\n\\nOne letter."
    return prompt
'''
COT_TEXT = "Question: $question\n$options\n\nCosts $$5 {% raw %} {{ nothing }}. Think: $$LETTER."
DIRECT_TEXT = "{question}\n\n{...}\n\nOne letter."
ITEM = Item(item_id="q", question="What {{ is }} this?", choices=("a cat", "{% a dog %}"), answer="A")


def prompt(template, variable, form, fill, text):
    known = KnownText(sha256=sha256(text), template_sha256="0" * 64, revision="abc of 2026-01-01")
    return ReleasedPrompt(
        template=template, file="code/words.py", variable=variable, form=form, fill=fill, known=(known,)
    )


COT = prompt(
    *("choice-cot", "COT", "template"),
    {"$question": "question", "$options": Choices(each="{letter}: {text}", between="\n")},
    COT_TEXT,
)
DIRECT = prompt(
    *("choice-direct", "prompt", "f-string"),
    {"{question}": "question", "{...}": Choices(each="{letter}. {text}", between="\n")},
    DIRECT_TEXT,
)
MADE = ReleasedSet(name="made", paper="Made up", repository="example.org/made", prompts=(COT, DIRECT))


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.setattr(released, "released", lambda: {"made": MADE})
    folder = tmp_path / "clone"
    (folder / "code").mkdir(parents=True)
    (folder / "code" / "words.py").write_text(CODE)
    released._known_templates.cache_clear()
    yield folder
    released._known_templates.cache_clear()


def test_prompts_of_a_clone_become_templates(clone, tmp_path):
    imported = take("made", clone)
    assert all(text.revision for text in imported.about.texts)
    assert list(imported.templates) == ["choice-cot", "choice-direct"]
    paths = write(imported, tmp_path / "out")
    assert [path.name for path in paths] == ["choice-cot.txt", "choice-direct.txt", ORIGIN_FILE]
    templates = Templates.load("plain", override=tmp_path / "out")
    # What the authors' code would say, word for word; braces in questions and words mean nothing.
    assert templates.fill("choice-cot", ITEM, n_frames=1, duration_s=1) == (
        "Question: What {{ is }} this?\nA: a cat\nB: {% a dog %}\n\n"
        "Costs $5 {% raw %} {{ nothing }}. Think: $LETTER."
    )
    assert templates.fill("choice-direct", ITEM, n_frames=1, duration_s=1) == (
        "What {{ is }} this?\n\nA. a cat\nB. {% a dog %}\n\nOne letter."
    )
    assert templates.label("choice-cot").startswith("authors-made/choice-cot.txt sha256:")
    assert templates.label("open-cot").startswith("plain/")


def test_a_text_that_is_not_known_is_refused_and_can_be_taken_on_purpose(clone, tmp_path):
    path = clone / "code" / "words.py"
    path.write_text(CODE.replace("One letter.", "Just one letter."))
    found = sha256(DIRECT_TEXT.replace("One letter.", "Just one letter."))
    with pytest.raises(UsageError) as caught:
        take("made", clone)
    said = str(caught.value)
    assert f"the text for choice-direct.txt has the SHA-256 {found}" in said
    assert f"known of example.org/made: {sha256(DIRECT_TEXT)} (abc of 2026-01-01)" in said
    assert "--unchecked" in said
    imported = take("made", clone, is_unchecked=True)
    assert not all(text.revision for text in imported.about.texts)
    write(imported, tmp_path / "out")
    label = Templates.load("plain", override=tmp_path / "out").label("choice-direct")
    assert label.startswith("unchecked-made/choice-direct.txt")
    assert wording_of(label) == "unchecked"
    # Edited afterwards it is neither.
    (tmp_path / "out" / "choice-direct.txt").write_text("{{ question }} {{ choices }}")
    assert Templates.load("plain", override=tmp_path / "out").label("choice-direct").startswith("own/")


def test_a_text_file_holds_one_prompt(clone, tmp_path):
    file = tmp_path / "words.txt"
    file.write_bytes(("\n" + COT_TEXT + "\n").replace("\n", "\r\n").encode())
    imported = take("made", file, template="choice-cot")
    assert all(text.revision for text in imported.about.texts)
    assert imported.templates == {"choice-cot": take("made", clone).templates["choice-cot"]}
    with pytest.raises(UsageError, match="choose it with --as: choice-cot, choice-direct"):
        take("made", file)
    with pytest.raises(UnknownNameError, match="open-cot"):
        take("made", file, template="open-cot")
    file.write_text("Question: $question")
    with pytest.raises(UsageError, match=r"lacks \$options; expected \$question, \$options where"):
        take("made", file, template="choice-cot", is_unchecked=True)
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="cannot be read as UTF-8"):
        take("made", file, template="choice-cot")


def test_what_is_no_clone_or_set_is_said(clone, tmp_path):
    with pytest.raises(UsageError, match=r"words\.py is not there; expected the folder"):
        take("made", tmp_path)
    path = clone / "code" / "words.py"
    path.write_text("x = (")
    with pytest.raises(UsageError, match="line 1: not Python"):
        take("made", clone)
    path.write_text("COT = len(prompt)")
    with pytest.raises(UsageError, match="gives no text to 'COT'"):
        take("made", clone)


def test_nothing_is_written_over(clone, tmp_path):
    out = tmp_path / "out"
    write(take("made", clone), out)
    with pytest.raises(UsageError, match=r"is not empty: it holds choice-cot\.txt"):
        write(take("made", clone), out)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        write(take("made", clone), tmp_path / "file" / "out")
    (out / ORIGIN_FILE).write_text("name = 3")
    with pytest.raises(UsageError, match=r"origin\.toml: .*vidence prompts import"):
        read_origin(out)


@pytest.mark.parametrize("one", released.released().values(), ids=lambda one: one.name)
def test_the_shipped_table_has_facts_and_no_sentences(one):
    assert one.name in sets() or one.name in {"perceptioncomp-gemini", "mmvu-judge", "lmms-eval-mmvu"}
    known_templates = known_of(one.judge) if one.judge else KNOWN
    assert one.flag == ("--judge-prompts-dir" if one.judge else "--prompts-dir")
    assert one.paper
    assert one.repository.startswith("github.com/")
    for prompt in one.prompts:
        assert prompt.template in known_templates
        assert prompt.known
        for text in prompt.known:
            assert all(len(bytes.fromhex(d)) == 32 for d in (text.sha256, text.template_sha256))
            assert text.revision
        # Of the texts only the marks are here.
        assert max(map(len, prompt.fill), default=0) < 40
        known = f"authors-{one.name}/{prompt.template}.txt sha256:{prompt.known[0].template_sha256}"
        assert wording_of(known) == "authors"


def test_values_that_are_no_text_are_none_and_sets_of_vidence_are_own_wording():
    tree = ast.parse("p = 1\np = f(2)\nq = ''\np += 'x'\n")
    assert list(released._texts(tree, "p")) == []
    fields = msgspec.structs.replace(COT, fill={"$question": "question"})
    assert as_template("a $question", fields, place="here") == "a {{ question }}"
    for name in sets():
        templates = Templates.load(name)
        assert wording_of(templates.label("choice-direct")) == "own"
    with pytest.raises(UnknownNameError, match="Did you mean 'mmvu'"):
        take("mmvv", None)
    assert wording_of("") == "own"


JUDGING = '''
RULES = """Compare. {{ not ours }}
"""
CHOICE = RULES + "Say:\\n" + """{
    "correct": // a truth
}
"""
OPEN = RULES + nothing
'''
CHOICE_TEXT = 'Compare. {{ not ours }}\nSay:\n{\n    "correct": // a truth\n}'


@pytest.fixture
def judge_clone(tmp_path, monkeypatch):
    known = KnownText(
        sha256=sha256(CHOICE_TEXT),
        template_sha256=sha256(CHOICE_TEXT.replace("{{", '{{ "{" }}{')),
        revision="abc of 2026-01-01",
    )
    words = ReleasedPrompt(
        template="system-choice", file="judge.py", variable="CHOICE", form="plain", fill={}, known=(known,)
    )
    one = ReleasedSet(
        name="made", paper="Made up", repository="example.org/made", judge="mmvu-official", prompts=(words,)
    )
    monkeypatch.setattr(released, "released", lambda: {"made": one})
    monkeypatch.setattr(templates_of_judges, "released", lambda: {"made": one})
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "judge.py").write_text(JUDGING)
    released._known_templates.cache_clear()
    yield folder
    released._known_templates.cache_clear()


def test_the_prompts_of_a_judge_are_taken_the_same_way(judge_clone, tmp_path):
    out = tmp_path / "out"
    write(take("made", judge_clone), out)
    own = JudgeTemplates.load("mmvu-official", override=None)
    made = JudgeTemplates.load("mmvu-official", override=out)
    assert made.fill("system-choice", {}) == CHOICE_TEXT
    assert made.label("system-choice").startswith("authors-made/system-choice.txt sha256:")
    assert (own.wording, made.digest != own.digest) == ("own", True)
    (out / "system-open.txt").write_bytes((out / "system-choice.txt").read_bytes())
    assert made.wording == "own"  # the other message is
    assert JudgeTemplates.load("mmvu-official", override=out).wording == "authors"
    # The words do not ask for the id, so that a line of ours does.
    assert own.asks_for_id("system-choice", "question")
    assert not made.asks_for_id("system-choice", "question")
    with pytest.raises(UsageError, match="made, which is for the judge 'mmvu-official', not for the"):
        JudgeTemplates.load("rule-first", override=out)
    (judge_clone / "judge.py").write_text(JUDGING.replace("Say", "Do say"))
    with pytest.raises(UsageError, match="or accept this one with --unchecked"):
        take("made", judge_clone)
    (judge_clone / "judge.py").write_text("CHOICE = RULES + 'x'")
    with pytest.raises(UsageError, match="gives no text to 'CHOICE'"):
        take("made", judge_clone)


def test_words_for_asking_are_not_for_a_judge(clone, tmp_path, monkeypatch):
    monkeypatch.setattr(templates_of_judges, "released", lambda: {"made": MADE})
    write(take("made", clone), tmp_path / "out")
    with pytest.raises(UsageError, match=r"made, which is for asking \(--prompts-dir\)"):
        JudgeTemplates.load("mmvu-official", override=tmp_path / "out")


TEXTS = tuple(
    ImportedText(template=name, file="f.py", sha256="1" * 64, template_sha256="2" * 64, revision=revision)
    for name, revision in (("choice-cot", "abc"), ("choice-direct", ""))
)
SET = ImportedSet(name="made", paper="Made up", repository="example.org/made", texts=TEXTS)


def test_a_template_counts_to_the_set_that_it_was_imported_with():
    assert SET.label("choice-cot", "2" * 64) == "authors-made"
    assert SET.label("choice-direct", "2" * 64) == "unchecked-made"
    assert SET.label("choice-cot", "3" * 64) == ""


def test_a_folder_without_the_file_says_nothing(tmp_path):
    assert read_origin(tmp_path) is None


@pytest.mark.parametrize("text", ["name = 3", "[", "\xff"])
def test_a_file_that_is_not_ours_is_refused(tmp_path, text):
    (tmp_path / "origin.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match="expected what `vidence prompts import` wrote"):
        read_origin(tmp_path)
