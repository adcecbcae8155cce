"""Tables as printed in papers, and whether their percentages are possible."""
