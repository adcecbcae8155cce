"""The configuration: what is wrong is named."""

import pytest

from vidence.errors import UsageError
from vidence.make.compose.compose_config import read_compose


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('name = "x"\n', "scenes"),
        ('name = "x"\nscenes = "s"\n[quota]\nconditions = [4, 2]\n', r"\[4, 2\]"),
        ('name = "x"\nscenes = "s"\n[options]\nn = 1\n', "n"),
    ],
)
def test_faults_are_named(tmp_path, text, match):
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=match):
        read_compose(path)


def test_one_file_of_scenes_or_several(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('name = "x"\nscenes = ["a", "b"]\n')
    assert read_compose(path).scene_files == ("a", "b")
    path.write_text('name = "x"\nscenes = "a"\n')
    assert read_compose(path).scene_files == ("a",)
