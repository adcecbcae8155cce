"""Runs, sets and questions on pages, for whoever looks at them; `studio.urls` has their addresses."""
