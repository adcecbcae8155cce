"""What is asked: one file for each task, found by its name."""
