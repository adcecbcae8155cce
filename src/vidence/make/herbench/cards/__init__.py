"""Cards: what a model or a person says of a person or a scene."""
