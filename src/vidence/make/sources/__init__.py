"""Event logs: what is done when, indexed and put into words."""
