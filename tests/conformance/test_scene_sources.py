"""What every source of scenes must do; the spec of each sample is in ``golden/scenes/specs.toml``."""

from pathlib import Path

import pytest

from subjects.scene_sources import source, told
from vidence import catalog
from vidence.errors import UsageError, VidenceError
from vidence.make.sources.scene_files import read_scenes
from vidence.make.sources.scene_writing import write_scenes

NAMES = catalog.names("scene-source")


@pytest.mark.parametrize("name", NAMES)
class TestSceneSource:
    def test_it_says_what_it_is_and_knows_its_options(self, name: str, tmp_path: Path) -> None:
        made = source(name, tmp_path)
        assert all(made.models().values())
        with pytest.raises(UsageError, match="no option 'nonsense'"):
            source(name, tmp_path, "nonsense=x")

    def test_what_it_says_is_read_again_the_same(self, name: str, tmp_path: Path) -> None:
        found = told(source(name, tmp_path))
        assert found.problems == ()
        written = write_scenes(found, tmp_path / "scenes.jsonl")
        assert written
        assert read_scenes(tmp_path / "scenes.jsonl") == written
        assert all(scene.header.truth and scene.entities for scene in written.values())
        first = (tmp_path / "scenes.jsonl").read_bytes()
        write_scenes(told(source(name, tmp_path)), tmp_path / "scenes.jsonl")
        assert (tmp_path / "scenes.jsonl").read_bytes() == first

    def test_nothing_is_complete_unless_its_user_says_so(self, name: str, tmp_path: Path) -> None:
        written = write_scenes(told(source(name, tmp_path)), tmp_path / "scenes.jsonl")
        assert all(not scene.complete and not scene.contradictions for scene in written.values())
        with pytest.raises(UsageError, match=r"covers nothing here|no option 'complete'"):
            told(source(name, tmp_path, "complete=nonsense"))

    def test_a_file_that_is_not_there_is_named(self, name: str, tmp_path: Path) -> None:
        settings = catalog.settings_type("scene-source", name)
        assert settings is not None
        made = source(name, tmp_path)
        absent = str(tmp_path / "absent.txt")
        values = (
            {known: getattr(made.settings, known) for known in settings.__struct_fields__}
            if hasattr(made, "settings")
            else {}
        )
        module = catalog.find("scene-source", name)
        with pytest.raises(VidenceError, match=r"absent\.txt"):
            told(module.create(settings(**{**values, settings.positional: absent})))
