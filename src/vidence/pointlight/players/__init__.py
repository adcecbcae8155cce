"""Files that show a stimulus in experiments, drawn from its dots by the screen's own clock."""
