"""Asking at scale, and remembering."""
