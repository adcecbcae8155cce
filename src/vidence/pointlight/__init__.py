"""Point-light stimuli from motion capture."""
