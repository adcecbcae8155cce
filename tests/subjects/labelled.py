"""A packet of `vidence replies errors` with labels, written as its commands write it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from vidence.explain.errors.labels import FOLDERS, Label, keep_labels
from vidence.explain.errors.packet import (
    KEY_FILE,
    PACKET_FILE,
    Draw,
    DrawnReply,
    Key,
    PacketLine,
    rows_as_jsonl,
)


def write_packet(
    folder: Path, *, runs: Mapping[str, Path], labels: Sequence[tuple[str, str, str, str, str]]
) -> Path:
    """A packet with one row for each label."""
    rows = [f"row{i}" for i in range(len(labels))]
    key = Key(
        draw=Draw(taxonomy="perceptioncomp", rule="wrong", n=len(labels), seed=0),
        benchmark="table",
        noun="source",
        runs={name: str(path.resolve()) for name, path in runs.items()},
        drawn=tuple(
            DrawnReply(run=run, item_id=item_id, source="film", is_wrong=True, row=row)
            for row, (run, item_id, *_) in zip(rows, labels, strict=True)
        ),
        left_out=dict.fromkeys(runs, 0),
    )
    folder.mkdir(parents=True)
    (folder / KEY_FILE).write_bytes(msgspec.json.encode(key))
    (folder / PACKET_FILE).write_bytes(rows_as_jsonl([PacketLine(row=row, question="What?") for row in rows]))
    for by in FOLDERS:
        for labeller in dict.fromkeys(one[2] for one in labels if one[3] == by):
            own = [
                Label(row=row, item_id=item_id, run=run, labeller=who, by=by, kind=kind, quote="Answer")
                for row, (run, item_id, who, its, kind) in zip(rows, labels, strict=True)
                if (who, its) == (labeller, by)
            ]
            path, content = keep_labels(folder, own, labeller=labeller, by=by)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder
