"""What every format of annotations in the catalog must do; a sample of its own is in ``annotations/NAME``."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from subjects.samples import sample_folder
from vidence import catalog
from vidence.errors import DataError
from vidence.make.sources.annotations.annotation_records import AnnotationReader

NAMES = catalog.names("annotation-format")


def sample(name: str) -> tuple[Callable[[], AnnotationReader], Path]:
    """What makes the reader with the options of its sample (``sample.toml``), and the file that it reads."""
    folder = sample_folder("annotations", name)
    told = folder / "sample.toml"
    options = tomllib.loads(told.read_text("utf-8")) if told.is_file() else {}
    spec = catalog.Spec(name=name, options=options)
    (file,) = (path for path in folder.iterdir() if path != told)
    return (lambda: catalog.create("annotation-format", spec)), file


@pytest.mark.parametrize("name", NAMES)
class TestAnnotationFormat:
    def test_nothing_at_a_path_is_an_error(self, name, tmp_path):
        with pytest.raises(DataError):
            sample(name)[0]().read(tmp_path / "absent.txt")

    def test_its_sample_gives_records_whose_labels_are_in_their_spaces(self, name):
        make, path = sample(name)
        found = make().read(path)
        assert found.records
        assert found == make().read(path)
        names = [one.record_id for one in found.records]
        assert len(set(names)) == len(names)
        for one in found.records:
            assert one.media
            if one.space and one.label:
                label = found.spaces[one.space].find(one.label)
                assert label is not None
                assert label.name not in one.also_true
        for one in found.dropped:
            assert one.reason
            assert one.stage == "records"

    def test_a_file_that_is_not_there_or_holds_nothing_is_an_error(self, name, tmp_path):
        make, _ = sample(name)
        with pytest.raises(DataError):
            make().read(tmp_path / "absent")
        (tmp_path / "empty").write_text("")
        with pytest.raises(DataError):
            make().read(tmp_path / "empty")
