"""Shared by all commands: screen, progress, output files, options."""
