"""Ask models at scale, and cache what they reply."""
