"""Judges, which score replies by asking a model. Each file is a judge named after the file."""
