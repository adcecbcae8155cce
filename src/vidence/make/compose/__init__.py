"""Search for compositions with bit sets, with options and wording; independent of the verifier."""
