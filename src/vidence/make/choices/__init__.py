"""Questions with choices out of annotations: templates or a model, options apart, every rule a check."""
