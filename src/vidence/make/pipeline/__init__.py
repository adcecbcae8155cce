"""Stages of a maker: configuration, sources, artifacts, accounts, output."""
