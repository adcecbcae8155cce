"""How one question is answered: one file for each strategy."""
