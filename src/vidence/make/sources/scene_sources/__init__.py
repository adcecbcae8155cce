"""Scene importers, found by name, one file each."""
