"""The authors' released prompts are those whose SHA-256 is known: on clones of their repositories."""

import pytest

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.prompting.released import released, take, wording_of, write
from vidence.ask.prompting.templates import Templates

pytestmark = pytest.mark.parity


@pytest.mark.parametrize("name", sorted(released()))
def test_every_text_of_a_clone_is_known(name, checks_dir, tmp_path):
    clone = checks_dir / "clones" / released()[name].repository.rpartition("/")[2]
    if not clone.is_dir():
        pytest.skip(f"{clone} is not there; set VIDENCE_CHECKS to a folder that has it")
    imported = take(name, clone)
    assert all(text.revision for text in imported.about.texts)
    write(imported, tmp_path / "prompts")
    if judge := released()[name].judge:
        assert JudgeTemplates.load(judge, override=tmp_path / "prompts").wording == "authors"
        return
    templates = Templates.load("plain", override=tmp_path / "prompts")
    assert {wording_of(templates.label(name)) for name in imported.templates} == {"authors"}
