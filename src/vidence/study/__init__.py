"""Studies: the items of a benchmark or the replies of runs, put to people under the conditions of a plan."""
