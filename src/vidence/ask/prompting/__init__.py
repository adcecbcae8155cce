"""Prompts: sets of template files, and their composition with frames."""
