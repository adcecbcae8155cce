"""Formats of a release, one file each."""
