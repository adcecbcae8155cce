"""What to say: sets of template files, and how frames and words become one prompt."""
