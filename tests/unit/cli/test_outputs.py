"""What a command about finished runs is handed as its outputs."""

from vidence.cli.outputs import Outputs


def test_only_what_was_asked_for_is_written(tmp_path) -> None:
    files = Outputs(json_path=tmp_path / "a.json")
    files.write(
        [], csv=lambda file: file.touch(), json=lambda file: file.touch(), html=lambda file: file.touch()
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
