"""Questions that experts write: subjects, concepts, videos, drafts, and what a machine can check of them."""
