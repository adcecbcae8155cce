"""Decode media to exact frames with their times."""
