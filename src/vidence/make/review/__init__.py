"""Review of a sample by people."""
