"""Checks of a set of questions that need no model."""
