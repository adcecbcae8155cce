"""Power, contrasts, correlations, calibration of questions."""

SECTION = "Explain"
