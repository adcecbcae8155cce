"""Who finds people and things in frames: one file each, found by its name."""
