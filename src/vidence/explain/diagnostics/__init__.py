"""Diagnostics, which explain scores. Each file is a diagnostic named after the file."""
