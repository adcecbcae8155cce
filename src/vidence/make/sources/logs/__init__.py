"""Who wrote down what happens: one file for each format of event logs, found by its name."""
