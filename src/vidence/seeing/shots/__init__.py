"""Where the cuts are: one file for each shot detector, found by its name."""
