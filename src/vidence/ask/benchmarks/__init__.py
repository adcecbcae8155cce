"""Benchmarks. Each file is a benchmark named after the file."""
