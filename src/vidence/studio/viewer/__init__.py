"""Runs, sets and questions on pages; `studio.urls` has their addresses."""
