"""Synthetic cases with known answers that test the makers."""
