"""How motion is stored: one file for each format of motion capture, found by its name."""
