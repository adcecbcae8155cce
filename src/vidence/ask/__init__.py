"""Run a model on questions: benchmarks, frame selection, prompts, models, answer parsers, judges."""
