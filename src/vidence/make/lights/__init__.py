"""Point-light benchmarks like ActPLD."""
