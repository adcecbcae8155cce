"""Releases of benchmarks: fetched from a hub, unpacked, and found again."""
