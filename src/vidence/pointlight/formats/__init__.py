"""Formats of motion capture, one module each."""
