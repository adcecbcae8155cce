"""Questions whose frames are nothing but their times: those of the package, by a short name for tests."""

from vidence.explain.planted.simulated import (
    Answers,
    Driven,
    Simulated,
    drive,
    taken_elsewhere,
    times_shown,
)

__all__ = ["Answers", "Driven", "Simulated", "drive", "taken_elsewhere", "times_shown"]
