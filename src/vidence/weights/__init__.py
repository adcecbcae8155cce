"""Weights of networks: version, location, and loading with transformers."""
