"""Motion capture -> point-light stimuli."""
