"""Planted truth: videos with known evidence."""
