"""Formats of annotated pictures and clips, one file each."""
