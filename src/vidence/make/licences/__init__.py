"""Under which licence a video may be used: asked at its platform, or looked up by two people."""
