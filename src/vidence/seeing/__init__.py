"""Video -> detections -> tracks -> cleaned, merged, ranked tracks; edges, regions, intervals."""
