"""Detect and track people in videos: detections, tracks, shots, and measurements."""
