"""Find and follow people in videos: detections, tracks, shots, and what is measured of them."""
