"""From and to what the rest of the project keeps: runs, sets, files that people write."""
