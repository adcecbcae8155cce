"""The templates for cards, and those that a user brings."""

import pytest

from vidence.errors import UsageError
from vidence.make.pipeline.wording import FALSE, REPAIR, SCENE, SYSTEM, CardWording


@pytest.fixture(scope="module")
def wording() -> CardWording:
    return CardWording.load()


def test_a_file_of_the_user_replaces_ours_and_others_are_left_alone(tmp_path, wording):
    (tmp_path / "card_scene.txt").write_text("One line on {{ n_pictures }} pictures.")
    (tmp_path / "task_agar.txt").write_text("{{ anything")
    own = CardWording.load(tmp_path)
    assert own.fill(SCENE, {"n_pictures": 2}) == "One line on 2 pictures."
    assert own.fill(SYSTEM, {}) == wording.fill(SYSTEM, {})
    assert own.label(SCENE).startswith("own/card_scene.txt")
    assert own.digest != wording.digest


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (SCENE, "{{ colour }}", "no variable 'colour'"),
        (SCENE, "{% if %}", "line 1"),
        (FALSE, "Change something.", r"\{\{ text \}\} 0 times"),
        (REPAIR, "{{ earlier }} {{ earlier }} {{ problem }}", "2 times"),
    ],
)
def test_a_bad_template_is_refused_by_its_file(tmp_path, name, text, told):
    (tmp_path / f"{name}.txt").write_text(text)
    with pytest.raises(UsageError, match=told):
        CardWording.load(tmp_path)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not a folder"):
        CardWording.load(tmp_path / "absent")
    (tmp_path / "card_scene.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        CardWording.load(tmp_path)


def test_what_a_text_says_is_not_read_as_a_template(wording):
    text = '"{{ fewest }} {% bad"'
    assert text in wording.fill(FALSE, {"text": text, "fewest": 2, "most": 5})
