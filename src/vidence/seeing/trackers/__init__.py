"""Boxes -> tracks: one file for each way."""
