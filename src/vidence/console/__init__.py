"""What every command stands on: a screen, progress, files to write, options."""
