"""People's files: what people say of shots, tracks, counts and cards of a set, row by row."""
