"""Which videos questions are made about: measured, gated, kept or dropped with a reason."""
