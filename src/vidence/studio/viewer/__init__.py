"""Runs, sets and questions on pages, for whoever looks at them; `pages.viewer` has the addresses."""
