"""Check motion capture, and render it as points of light."""

SECTION = "Make"
