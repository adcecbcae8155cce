"""Files that show a stimulus in experiments, drawn from dots by the screen's own clock."""
