"""Sheets for a human study: every form, and the key to it."""

import base64
import csv
import io
import re

import pytest

from vidence.errors import UsageError
from vidence.make.lights.clips import ClipMade
from vidence.make.lights.study import StudyRules, write_study
from vidence.make.lights.tables import Choice, LabelRow

NAMES = ("hand_shake", "high five", "hug & kiss")


def studied(folder, n_clips=4, **rules):
    """The files of a study, and the rows of its key."""
    clips, choices = {}, {}
    for i in range(n_clips):
        name = f"clip{i}"
        (folder / f"{name}.mp4").write_bytes(name.encode())
        clips[name] = ClipMade(
            clip_id=name, path=f"{name}.mp4", sha256="", n_frames=8, fps=8.0, sources=()
        )
        rows = tuple(LabelRow(target="label", words=Words_(text), group="g") for text in NAMES)
        choices[name] = [Choice(clip_id=name, target="label", choices=rows, right=1)]
    files = write_study(choices, clips, folder, rules=StudyRules(**rules))
    if not files:
        return files, []
    return files, list(csv.DictReader(io.StringIO(files[-1].read_text())))
