"""Formats of event logs, one file each, found by name."""
