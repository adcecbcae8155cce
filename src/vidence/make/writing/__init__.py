"""Questions written by models and experts."""
