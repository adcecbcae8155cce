"""People's files: rows on the shots, tracks, counts and cards of a dataset."""
