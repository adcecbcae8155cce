"""Event logs: actions with times, indexed and worded."""
