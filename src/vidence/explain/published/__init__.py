"""Tables as papers print them, and whether their percentages can be true."""
