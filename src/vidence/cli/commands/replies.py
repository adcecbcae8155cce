"""Judge stored replies, label errors, correct scores by people."""

SECTION = "Explain"
