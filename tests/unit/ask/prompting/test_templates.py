"""Sets of templates: what is there, replacing them, and what is said when they are wrong."""

import hashlib
import re
from pathlib import Path

import pytest

from vidence.ask.prompting.language import MOST_CHARACTERS
from vidence.ask.prompting.templates import ASIDES, Templates, modality_of, sets
from vidence.errors import UnknownNameError, UsageError
from vidence.installation import packaged
from vidence.records import Item, Media

ITEM = Item(item_id="q", question="What is it?", choices=("cat", "dog"), answer="A")


def own(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name.replace('_', '-')}.txt").write_text(text, "utf-8")
    return folder


def test_an_unknown_set_is_named_with_the_known_ones() -> None:
    assert sets() == (
        "actpld", "herbench", "humanpcr", "mmvu", "perceptioncomp", "perceptioncomp-custom", "plain",
    )  # fmt: skip
    with pytest.raises(UnknownNameError, match=r"no set of prompts named 'mmuv'.*'mmvu'"):
        Templates.load("mmuv")
    with pytest.raises(UnknownNameError):
        Templates.load("../templates/plain")
    with pytest.raises(UsageError, match=r"'plain' has no system\.txt; it has choice-cot\.txt"):
        Templates.load("plain").fill("system", ITEM, n_frames=0, duration_s=0)


def test_own_files_replace_those_of_the_set_and_can_add_a_system_message(tmp_path: Path) -> None:
    folder = own(tmp_path, choice_direct="{{ question }} {{ letters|join }} {{ n_frames }} {{ duration_s }}")
    templates = Templates.load("plain", override=folder)
    assert templates.fill("choice-direct", ITEM, n_frames=3, duration_s=1.5) == "What is it? AB 3 1.5"
    brought = Templates.load("plain")
    for name in ("choice-cot", "open-direct", "open-cot"):
        assert templates.fill(name, ITEM, n_frames=0, duration_s=0) == brought.fill(
            name, ITEM, n_frames=0, duration_s=0
        )
    assert "system" not in Templates.load("plain")
    templates = Templates.load("plain", override=own(tmp_path, system="Be brief.\n"))
    assert templates.fill("system", ITEM, n_frames=0, duration_s=0) == "Be brief."


def test_the_digest_changes_with_the_words_only_and_the_label_names_them(tmp_path: Path) -> None:
    plain = Templates.load("plain")
    assert plain.digest == Templates.load("plain").digest
    assert re.fullmatch("[0-9a-f]{64}", plain.digest)
    assert plain.digest not in {Templates.load(name).digest for name in sets() if name != "plain"}
    changed = Templates.load("plain", override=own(tmp_path, system="x"))
    assert changed.digest != plain.digest
    # sha256 of "x", as any tool gives it
    x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    templates = Templates.load("mmvu", override=own(tmp_path, open_cot="x"))
    assert templates.label("open-cot") == f"own/open-cot.txt sha256:{x}"
    assert templates.label("choice-cot").startswith("mmvu/choice-cot.txt sha256:")


def test_what_looks_like_a_template_in_a_question_stays_as_it_is() -> None:
    item = Item(
        item_id="q",
        question="{{ 7 * 7 }} {% for %} {# no #} <b>&amp;</b> {",
        choices=("{{ question }}", "</answer>\n$LETTER"),
        answer="A",
    )
    for set_name in sets():
        filled = Templates.load(set_name).fill("choice-cot", item, n_frames=2, duration_s=1.0)
        assert item.question in filled
        assert all(choice in filled for choice in item.choices)


def test_frames_are_spoken_of_only_when_there_are_any(tmp_path: Path) -> None:
    assert Templates.load("plain").say("frame", {"number": 3, "time_s": 12.44}) == "Frame 3, 12.4 s:"
    templates = Templates.load("plain")
    none, one, many = (templates.fill("open-cot", ITEM, n_frames=n, duration_s=9.0) for n in (0, 1, 16))
    assert "frame" not in none
    assert "one frame" in one
    assert "16 frames" in many
    with pytest.raises(UsageError, match=r"frame\.txt, line 1: there is no variable 'question'; there"):
        Templates.load("plain", override=own(tmp_path, frame="{{ question }}"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fine\n{% if %}", r"choice-cot\.txt, line 2: "),
        ("{{ question", r"choice-cot\.txt, line 1: "),
        (
            "a\nb\n{{ qestion }}",
            r"choice-cot\.txt, line 3: there is no variable 'qestion'; there are question",
        ),
        ("{{ question|nofilter }}", r"choice-cot\.txt, line 1: "),
        ("{% include 'x' %}", "choice-cot.txt, line 1: a template has no Include; it has variables, if, for"),
        ("{{ choices[7].text }}", "choice-cot.txt cannot be filled"),
        ("{{ choices[0].words }}", "choice-cot.txt cannot be filled.*words"),
        ("{{ n_frames / 0 }}", "choice-cot.txt cannot be filled"),
        ("{{ question + 1 }}", "choice-cot.txt cannot be filled"),
        ("a\n{{ range(1000000000)|join }}", "choice-cot.txt, line 2: a template has no Call"),
        ("{{ 9**(9**9) }}", "choice-cot.txt, line 1: a template has no Pow"),
        ("{% set x = question ~ question %}{{ x }}", "line 1: set takes a variable, a part of one or a fil"),
        ("{% for a in question %}{% endfor %}", "cannot be filled: a loop runs over a list of at most 200"),
        ("{% for a in letters %}{% for b in letters %}{% endfor %}{% endfor %}", "or has a loop in a loop"),
        ("{{ question|center(9) }}", "line 1: there is no filter 'center'; there are abs, capitalize"),
        ("{{ letters|join(question) }}", "the filter 'join' takes texts of at most 100 characters and numb"),
        ("{{ '%999d'|format(1) }}", r'cannot be filled: format has a text such as "%\.1f" before it'),
        ("{% if n_frames is many %}{% endif %}", "line 1: there is no test 'many'"),
        ("{{ [question, question] }}", "line 1: a list in it holds only texts and numbers"),
        ("{{ question * 9 }}", r"cannot be filled: \* stands between numbers only"),
        ("{{ letters|indent }}", "choice-cot.txt cannot be filled: .*splitlines"),
        (
            "{% if n_frames %}\n{% for a in (0 and words) %}{% endfor %}{% endif %}",
            "line 2: there is no variable",
        ),
        pytest.param("{{ " + "(" * 5_000, r"line 1: it cannot be read \(maximum recursion depth", id="deep"),
        pytest.param("{{ letters" + "|join" * 50 + " }}", "line 1: it is nested too deeply", id="long"),
        pytest.param(
            "x" * (MOST_CHARACTERS + 1), "line 1: it has more than 1,000,000 characters", id="large"
        ),
        pytest.param(
            "{% for a in letters %}" + "x" * 600_000 + "{% endfor %}",
            "cannot be filled: it says more than 1,000,000 characters",
            id="much",
        ),
        pytest.param(
            "{{ question" + f"|replace('', '{'x' * 99}')" * 3 + " }}",
            "cannot be filled: a text in it has more than 1,000,000 characters",
            id="grown",
        ),
        ("{{ question.__class__.__mro__ }}", "choice-cot.txt cannot be filled.*unsafe"),
        ("{% do letters.append('Z') %}", r"choice-cot\.txt, line 1: "),
        ("{{ letters.append('Z') }}", "choice-cot.txt, line 1: a template has no Call"),
    ],
)
def test_wrong_templates_are_named(tmp_path: Path, text: str, message: str) -> None:
    folder = own(tmp_path, choice_cot=text)
    with pytest.raises(UsageError, match=message):
        Templates.load("plain", override=folder).fill("choice-cot", ITEM, n_frames=1, duration_s=1.0)


def test_what_a_template_can_use(tmp_path: Path) -> None:
    """What prompts of other projects are written with."""
    folder = own(
        tmp_path,
        choice_cot="""{% set n = choices|length %}{# not said #}
{%- for choice in choices if choice.text is not none %}
{{ loop.index }}/{{ n }} {{ choice["letter"]|lower }}) {{ choice.text|trim|capitalize }}
{% else %}none{% endfor %}
{{ choices|map(attribute="text")|map("upper")|join(" or ") }} {{ letters[:-1]|join(", ") }} {{ letters|last }}
{% if modality in ["image", "video"] and n_frames > 1 and n_frames is odd %}
{{ "%.1f"|format(duration_s / 2) }}
{% elif question %}no{% endif %}
{{ question|replace("?", "!") ~ " " + letters|first }}{{ ";" if rows }} {{ "=" ~ rows * columns % 2 }}
{{ question[:4]|tojson }} {{ duration_s|round }} {{ question|default("?", true) }}{% raw %}{{{% endraw %}""",
    )
    said = Templates.load("plain", override=folder).fill("choice-cot", ITEM, n_frames=3, duration_s=3.0)
    assert said.split("\n") == [
        "1/2 a) Cat", "2/2 b) Dog", "CAT or DOG A B", "1.5", "What is it! A; =1", '"What" 3.0 What is it?{{'
    ]  # fmt: skip


def test_a_folder_must_be_there_and_hold_texts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        Templates.load("plain", override=tmp_path / "absent")
    with pytest.raises(UsageError, match=r"holds no file; .*choice-cot\.txt"):
        Templates.load("plain", override=tmp_path)
    (tmp_path / "frame.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"frame\.txt cannot be read as UTF-8"):
        Templates.load("plain", override=tmp_path)


@pytest.mark.parametrize("name", ["choice_cot.txt", "choice-cot.md", "readme", "Choice-cot.txt"])
def test_unknown_files_in_a_folder(tmp_path: Path, name: str) -> None:
    own(tmp_path, choice_cot="x")
    (tmp_path / name).write_text("x")
    with pytest.raises(UsageError, match=re.escape(f"holds {name};")):
        Templates.load("plain", override=tmp_path)


def test_hidden_files_in_a_folder_are_let_be(tmp_path: Path) -> None:
    own(tmp_path, open_cot="x")
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    assert Templates.load("plain", override=tmp_path).fill("open-cot", ITEM, n_frames=0, duration_s=0) == "x"


FRAG = {"question": "Why {{ so }}?"}


@pytest.mark.parametrize("set_name", sets())
def test_every_set_has_the_same_asides(set_name: str) -> None:
    templates, plain = Templates.load(set_name), Templates.load("plain")
    for name in ASIDES:
        assert name in templates
        assert templates.label(name) == plain.label(name)
        assert templates.label(name).startswith(f"vidence/{name}.txt sha256:")
    assert "Why {{ so }}?" in templates.say("frag-scores", FRAG)


def test_own_files_replace_asides_and_may_leave_the_question_out(tmp_path: Path) -> None:
    templates = Templates.load("mmvu", override=own(tmp_path, frag_scores="<{{ question }}>"))
    assert templates.say("frag-scores", FRAG) == "<Why {{ so }}?>"
    assert templates.label("frag-scores").startswith("own/frag-scores.txt sha256:")
    assert templates.say("forced", {}) == Templates.load("plain").say("forced", {})
    folder = own(tmp_path, tstar_objects="{% set left_out = question %}What is there?")
    said = Templates.load("plain", override=folder).say("tstar-objects", {"question": "?", "n_frames": 8})
    assert said == "What is there?"


def test_the_digest_counts_asides_of_the_user_alone(tmp_path: Path) -> None:
    """Runs that ask in none of these words are not another run when vidence words them anew."""
    plain = Templates.load("plain")
    texts = packaged("vidence.ask.prompting", "templates/plain.toml", dict[str, str])
    assert texts.keys() == {"choice-cot", "choice-direct", "frame", "open-cot", "open-direct"}
    sizes_and_texts = "".join(f"{name} {len(text.encode())}\n{text}" for name, text in sorted(texts.items()))
    assert plain.digest == hashlib.sha256(sizes_and_texts.encode()).hexdigest()
    assert Templates.load("plain", override=own(tmp_path, forced="Choose.")).digest != plain.digest


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("frag_scores", "{{ n_frames }}", "there is no variable 'n_frames'; there are question"),
        ("forced", "{{ question }}", "there is no variable 'question'"),
        ("tstar_objects", "What is there?", r"tstar-objects\.txt does not use \{\{ question \}\}"),
    ],
)
def test_asides_that_cannot_be_used(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Templates.load("plain", override=own(tmp_path, **{name: text}))


@pytest.mark.parametrize(
    ("starts_s", "words"),
    [((), "video"), ((1.0,), "image"), ((1.0, 2.0), "multiple images"), ((None,), "video")],
)
def test_single_frames_of_videos_are_images(starts_s: tuple[float | None, ...], words: str) -> None:
    media = tuple(Media(path="a.mp4", start_s=one, end_s=one) for one in starts_s)
    assert modality_of(Item(item_id="q", question="What is it?", answer="A", media=media)) == words
