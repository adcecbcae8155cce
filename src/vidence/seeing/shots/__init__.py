"""Shot detectors, one module each."""
