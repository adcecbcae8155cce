"""Probe, select and track videos; check licences; write scenes."""

SECTION = "Make"
