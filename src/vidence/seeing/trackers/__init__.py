"""Trackers: from boxes to tracks, one module each."""
