"""Answering strategies, one per file."""
