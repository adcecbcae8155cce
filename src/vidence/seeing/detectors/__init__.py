"""Detectors of people and things in frames, one module each."""
