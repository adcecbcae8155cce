"""Bytes to exact frames with their times."""
