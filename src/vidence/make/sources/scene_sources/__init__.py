"""Where scenes come from: importers by name, one file each."""
