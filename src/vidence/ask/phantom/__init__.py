"""Planted truth: videos whose evidence is known."""
