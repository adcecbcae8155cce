"""Embedders, which score frames against text for selectors. Each file is an embedder named after it."""
