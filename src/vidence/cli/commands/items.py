"""Audit, check, split, review and release questions; score hidden splits."""

SECTION = "Make"
