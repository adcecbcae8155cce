"""Point-light benchmarks like ActPLD, and ablations of their stimuli."""
