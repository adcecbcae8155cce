"""What a maker makes of a configuration, session by session, in this process."""

import json
import os
import shutil
import signal
from datetime import datetime
from pathlib import Path

from subjects.samples import GOLDEN
from vidence import catalog
from vidence.engine.environment import now
from vidence.make.pipeline.ledger import MakeEvent, UnitDone
from vidence.make.pipeline.session import BuildContext, Built, MakeOverrides


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def contents(folder: Path, *, without: str = "") -> dict[str, bytes]:
    """All files, hidden ones too, but for those of folders called `without`."""
    files = [one for one in sorted(folder.rglob("*")) if one.is_file() and without not in one.parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


class Making:
    """A configuration in ``set`` and what is made of it in ``out``; `events` are of the last session."""

    def __init__(self, folder: Path, maker: str, text: str | None = None) -> None:
        self.folder, self.maker = folder, catalog.find("maker", maker).create()
        self.root, self.out = folder / "set", folder / "out"
        self.config = self.root / "config.toml"
        if text is None:
            shutil.copytree(GOLDEN / "makers" / maker, self.root, dirs_exist_ok=True)
        else:
            self.root.mkdir(parents=True, exist_ok=True)
            self.config.write_text(text)
        self.events: list[MakeEvent] = []
        self.stop_after = -1

    def make(self, *, out: Path | None = None, at: datetime | None = None, **overrides: object) -> Built:
        self.events = []
        context = BuildContext(
            cache_root=self.folder / "cache",
            memory=self.folder / "replies.sqlite",
            is_trusted=True,
            on_event=self._hear,
            clock=now if at is None else lambda: at,
        )
        wanted = MakeOverrides(out=out or self.out, **overrides)
        return self.maker.make(self.config, overrides=wanted, context=context)

    def _hear(self, event: MakeEvent) -> None:
        self.events.append(event)
        if isinstance(event, UnitDone) and len(self.units()) == self.stop_after:
            self.stop_after = -1
            os.kill(os.getpid(), signal.SIGINT)

    def units(self, *, made: bool = False) -> list[str]:
        """The units that are done; with `made` those that no earlier session had done."""
        done = [one for one in self.events if isinstance(one, UnitDone)]
        return [f"{one.stage} {one.unit}" for one in done if not (made and one.was_cached)]

    def edit(self, old: str, new: str) -> None:
        text = self.config.read_text()
        assert old in text
        self.config.write_text(text.replace(old, new))

    def add(self, more: str) -> None:
        self.config.write_text(self.config.read_text() + more)

    def lines(self, name: str) -> list[dict[str, object]]:
        return lines(self.out / name)

    def dropped(self) -> dict[str, tuple[str, str]]:
        return {one["what"]: (one["stage"], one["reason"]) for one in self.lines("dropped.jsonl")}

    def account(self) -> dict[str, dict]:
        """The stages by name, each of which holds."""
        found = json.loads((self.out / "account.json").read_text())
        for stage in found["stages"]:
            assert stage["n_in"] == stage["n_out"] + sum(stage.get("dropped", {}).values())
        return {stage["stage"]: stage for stage in found["stages"]}
