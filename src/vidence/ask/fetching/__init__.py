"""Releases of benchmarks: fetch from a hub, extract, and locate."""
