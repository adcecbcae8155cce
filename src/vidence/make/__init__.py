"""Make questions from videos, motion capture, event logs and cards."""
