"""The released set: splits, datasheet, checksums."""
