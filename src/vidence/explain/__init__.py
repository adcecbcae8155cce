"""Explain scores: diagnostics, audits of question sets, published tables."""
