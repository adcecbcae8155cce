"""Frame selectors. Each file is a selector named after the file."""
