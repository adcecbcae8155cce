"""Raw video, motion capture and event logs -> questions with evidence, and an account of every draft."""
