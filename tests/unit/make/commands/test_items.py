"""Questions are written with the paths of their media as seen from the file."""

import json

from vidence.make.commands.items import items_in
from vidence.records import Item, Media


def test_paths_are_seen_from_the_file(tmp_path, capsys) -> None:
    (tmp_path / "sets").mkdir()
    item = Item(
        item_id="q",
        question="Who?",
        choices=("A", "b"),
        answer="B",
        media=(Media(path="v.mp4", kind="video"),),
    )
    items_in([item], tmp_path / "sets" / "q.jsonl", media_root=tmp_path / "videos")
    (line,) = (tmp_path / "sets" / "q.jsonl").read_text().splitlines()
    written = json.loads(line)
    assert written["media"][0]["path"] == "../videos/v.mp4"
    assert written["answer"] == "B"
    assert capsys.readouterr().err == f"wrote {tmp_path / 'sets' / 'q.jsonl'}\n"
