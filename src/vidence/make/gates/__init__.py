"""Filters that remove questions which can be answered without the video."""
