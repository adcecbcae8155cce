"""Models. Each file is a provider named after the file."""
