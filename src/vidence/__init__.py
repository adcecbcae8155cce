"""Ask video models questions, explain their scores, make new questions."""

__version__ = "0.1.0"
