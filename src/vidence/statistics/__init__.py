"""What a set of scores says."""
