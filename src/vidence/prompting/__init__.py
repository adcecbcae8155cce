"""What to say: templates in files, filled for one question."""
