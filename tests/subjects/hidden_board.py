"""A hidden split with a key of its own, its board in a studio of a test, and its scorers in this process."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from servers.studio import Tried
from subjects.released import MATERIAL, question, rules_of
from vidence.engine.environment import Environment
from vidence.make.release.sets import release_set

LETTERS = "ABCD"
SENTINEL = "SENTINEL-9c41"
"""Stands in each answer in words, rationale and piece of evidence of a hidden question."""

JUDGE = """
import json, re
from pathlib import Path

BLOCK = re.compile(r'<reply id="(\\w{16})">\\n(.*?)\\n</reply id="\\1">', re.DOTALL)

def judge(prompt, system):
    words = system + prompt
    with Path(__file__).with_suffix(".asked").open("a") as asked:
        asked.write("x")
    block = BLOCK.search(words)
    is_right = "correct is true" in BLOCK.sub("", words) or "a hand, " in block[2]
    return json.dumps({"id": block[1], "extracted_answer": "it", "reason": "so", "correct": is_right})
"""
"""A judge that obeys each word outside of the block that shows it a reply, and finds "a hand, …" right."""


def write_judge(folder: Path) -> dict[str, object]:
    """The settings of a plan with that judge; the file ``judge.asked`` grows by a sign for each question."""
    (folder / "judge.py").write_text(JUDGE)
    return {"judge": "rule-first", "judge_models": (f"python:{folder / 'judge.py'}:judge",)}


@dataclass(frozen=True)
class HiddenSplit:
    """A release, the folder of its answers, and the right answers."""

    release: Path
    vault: Path
    key: Mapping[str, str]

    def submission(self, answers: Sequence[str] | Mapping[str, str]) -> bytes:
        """A file of answers, in the order of the questions where they are not by id."""
        given = answers if isinstance(answers, Mapping) else dict(zip(self.key, answers, strict=True))
        return "".join(
            json.dumps({"item_id": name, "answer": said}) + "\n" for name, said in given.items()
        ).encode()

    def right(self, n: int, *, first: int = 0) -> bytes:
        """A file with `n` right answers from the `first` question on, and wrong ones for the others."""
        return self.submission(
            [
                letter if first <= i < first + n else LETTERS[LETTERS.index(letter) - 1]
                for i, letter in enumerate(self.key.values())
            ]
        )


def hidden_split(folder: Path, n: int, *, seed: int = 0, n_open: int = 0, **changes: object) -> HiddenSplit:
    """Release `n` hidden questions with four options, the last `n_open` of them answered in words."""
    rng = np.random.default_rng(seed)
    items = [question(0, {}, split="validation")]
    for i in range(1, n + 1):
        marked = f"{SENTINEL}-{i:04d}"
        is_open = i > n - n_open
        items.append(
            question(
                i,
                {"task": ("count", "order")[i % 2]},
                choices=() if is_open else ("a red cup", "a blue bowl", "a green plate", "a tall vase"),
                answer=f"the hand of {marked}" if is_open else LETTERS[rng.integers(4)],
                answer_kind="text" if is_open else "choice",
                rationale=f"Because of {marked}.",
                evidence=(),
                knowledge=(f"https://en.wikipedia.org/wiki/{marked}",),
                **changes,
            )
        )
    rules = rules_of("items", hidden=frozenset({"test"}))
    made = release_set(items, rules, MATERIAL, into=folder)
    key = {item.item_id: item.answer for item in items[1:]}
    return HiddenSplit(made.folder, made.hidden_files[0].parent, key)


@dataclass(frozen=True)
class Board:
    """A board in a studio of a test, with scorers."""

    team: Tried
    split: HiddenSplit
    cache: Path

    def member(self, name: str, team: str):
        """The browser of a new submitter."""
        from servers.studio import PASSWORD
        from vidence.studio.accounts import Profile, add_user

        add_user(name, PASSWORD, roles=["submitter"], profile=Profile(team=team))
        return self.team.signed_in(name)

    def vault(self):
        """The answers, as a scorer opens them."""
        from vidence.studio.leaderboard import board_here
        from vidence.studio.scoring import open_vault

        return open_vault(self.split.vault, board_here(), data=self.team.settings.data, is_judged=True)

    def score(self, **overrides: object) -> list[str]:
        """Score what waits; why each was not scored, empty where it was."""
        from vidence.studio.scoring import Marker, work

        place = Environment(cache_root=self.cache)
        marker = Marker(overrides=overrides, environment=place, clock=self.team.clock)
        vault, done = self.vault(), []
        while (one := work(vault, marker)) is not None:
            done.append(one.reason)
        return done


def open_board(team: Tried, split: HiddenSplit, cache: Path, **limits: object) -> Board:
    """The board of a split in a studio of a test."""
    from vidence.studio import leaderboard

    given = {"most_a_day": 2, "most_in_all": 20, **limits}
    leaderboard.open_board(split.release, "", leaderboard.Limits(**given))
    return Board(team, split, cache)


def send(client, content: bytes):
    """Submit a file as the page does."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    return client.post("/board/submit", {"answers": SimpleUploadedFile("submission.jsonl", content)})
