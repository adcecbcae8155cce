"""A study with people, drawn and opened: clips, questions with planted words that no participant may see."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from subjects.light_study import lights
from vidence.engine.environment import Environment
from vidence.media.lights import lights_path
from vidence.study.drawing import draw, write_drawn
from vidence.study.study import read_study
from videos.stamped import write

N_CLIPS = 2
SENTINEL = "zzsecret"
"""Stands in everything that a participant may not see: ids, titles, tags, rationales, file names."""
PLAIN = """title = "Cards"
instructions = "Watch each video, and choose."
items = "items.jsonl"
media = "."
order = "given"
n_people = {n_people}

[draw]
n = {n}

{phases}

[[form]]
name = "answer"
kind = "answer"
title = "Your answer"
{more}
"""
WHOLE = '[[phases]]\nname = "free"\ntitle = "Watch and answer"\n'
ONCE = '[[phases]]\nname = "once"\ntitle = "Seen once"\ncondition = "once"\n'


def write_questions(folder: Path, *, n: int = 6, clips: int = N_CLIPS) -> None:
    """Clips and a file of questions about them."""
    for clip in range(clips):
        path = folder / f"{SENTINEL}-clip-{clip}.mp4"
        write(path, numbers=range(30 * clip, 30 * clip + 30))
        lights_path(path).write_bytes(msgspec.json.encode(lights(clip, n_frames=9 + clip)))
    lines = [
        {
            "item_id": f"{SENTINEL}-item-{i}",
            "media": [{"path": f"{SENTINEL}-clip-{i % clips}.mp4"}],
            "source_id": f"{SENTINEL}-source-{i % clips}",
            "question": f"Which card is number {i}?" + " Look well." * (i % 3),
            "choices": ["the red card", "the blue card", "the green card"],
            "answer": "ABC"[i % 3],
            "rationale": f"{SENTINEL} because",
            "hints": [f"{SENTINEL} hint"],
            "tags": {"kind": f"{SENTINEL}-kind"},
            "provenance": {"source": f"{SENTINEL} film", "maker": f"{SENTINEL}-maker"},
        }
        for i in range(n)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def draw_study(folder: Path, text: str) -> Path:
    """Draw a study of a folder that has what it names."""
    (folder / "study.toml").write_text(text)
    file = read_study(folder)
    write_drawn(file, draw(file, environment=Environment(cache_root=folder / "cache", n_workers=1)))
    return folder


def plain(*, phases: str = WHOLE, more: str = "", n: int = 3, n_people: int = 3) -> str:
    """The text of a study.toml."""
    return PLAIN.format(phases=phases, more=more, n=n, n_people=n_people)


def link_of(study: Any, key: str) -> str:
    """The address of a link to a study that was opened."""
    return f"/s/{study.public}/join/{key}"


@dataclass
class Person:
    """A browser of a participant, without scripts."""

    client: Any
    link: str
    home: str = field(init=False)

    def __post_init__(self) -> None:
        self.home = self.link[: self.link.index("/join") + 1]

    def joined(self) -> "Person":
        """Consent, and begin what comes."""
        assert self.client.post(self.link, {"act": "agree"}).status_code == 302
        return self

    def get(self, address: str = "") -> Any:
        """The page at an address; what comes next without one, redirects followed."""
        return self.client.get(address or self.home, follow=True)

    def act(self, name: str, **more: str) -> Any:
        """Press a button of a page that is no trial."""
        return self.client.post(self.home, {"act": name, **more}, follow=True)

    def at(self) -> str:
        """The address of the trial that comes next."""
        answer = self.get()
        return str(answer.redirect_chain[-1][0]) if answer.redirect_chain else self.home

    def send(self, address: str, **values: str) -> Any:
        """Send the form of a trial as a browser without scripts does."""
        page = self.client.get(address).content.decode()
        hidden = dict(re.findall(r'type="hidden" name="(version|request|freezes)" value="([^"]*)"', page))
        return self.client.post(address, {**hidden, "action": "submit", **values}, follow=True)

    def save(self, address: str, *, version: int, request: str, **values: str) -> Any:
        """Save a draft as the script of the page does."""
        sent = {"version": version, "request": request, **values}
        return self.client.post(address, sent, headers={"Accept": "application/json"})
