"""Weights of networks: which version they are, where they lie, how they are loaded by transformers."""
