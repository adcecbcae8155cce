"""Compositions searched for with bit sets, their options and their words; knows nothing of the verifier."""
